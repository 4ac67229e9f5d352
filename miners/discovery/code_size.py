"""Measure how much code of a language a revision contains."""

from __future__ import annotations

from coevo.git.objects import LINK
from coevo.git.repository import CorruptObject, Repository
from coevo.languages.table import get_reading


def measure_code_size(repository: Repository, rev: str, language: str) -> tuple[int, int] | None:
    """Return the number of source files and of their lines; None if an object cannot be read.

    Lines include blank ones and comments. TestEvo-Bench, Table 5, has the means of both.
    """
    suffixes = get_reading(language).SUFFIXES
    files = lines = 0
    try:
        for path, entry in repository.tree(rev).items():
            if path.endswith(suffixes) and entry.mode != LINK:
                content = repository.blob(entry.oid)
                files += 1
                lines += content.count(b'\n') + (content[-1:] not in (b'', b'\n'))
    except CorruptObject:
        return None
    return files, lines
