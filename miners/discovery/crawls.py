"""Record when a clone was last brought to the state of its refs, and measure its code."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from coevo.git.objects import LINK
from coevo.git.repository import CorruptObject, Repository
from coevo.languages.table import get_reading
from coevo.model.errors import Fatal
from coevo.storage.durable import write_durably

CRAWL = 'coevo-crawl.json'

# coevo's own refs to commits that the clone has anyway: a release is no crawl.
_RELEASED = b'\trefs/coevo/released/'


def record_clone_refs(repository: Repository) -> None:
    """Record the present time and the refs of a clone, unless its last record has the same refs."""
    listing = repository.run_command('for-each-ref').splitlines(keepends=True)
    refs = hashlib.sha256(b''.join(x for x in listing if _RELEASED not in x)).hexdigest()
    file = repository.git_dir / CRAWL
    if file.exists() and _load_record(file)['refs'] == refs:
        return
    now = datetime.now(tz=UTC).replace(microsecond=0)
    write_durably(file, [json.dumps({'crawled_at': now.isoformat(), 'refs': refs}).encode()])


def load_crawl_time(git_dir: Path) -> datetime:
    """Return the time at which the refs of a clone were last recorded.

    Raises: Fatal if they never were.
    """
    file = git_dir / CRAWL
    if not file.exists():
        raise Fatal(f'{git_dir} has no record of its crawl: mine its repository again')
    return datetime.fromisoformat(_load_record(file)['crawled_at'])


def list_clone_refs(repository: Repository) -> tuple[tuple[str, str], ...]:
    """Return the refs of a clone as (name, object id), in the order of names."""
    listing = repository.run_command('for-each-ref', '--format=%(objectname) %(refname)')
    lines = (os.fsdecode(line).partition(' ') for line in listing.splitlines())
    return tuple(sorted((name, oid) for oid, _, name in lines))


def _load_record(file: Path) -> dict[str, str]:
    record: dict[str, str] = json.loads(os.fsdecode(file.read_bytes()))
    return record


def count_source_files_and_lines(
    repository: Repository, rev: str, language: str
) -> tuple[int, int] | None:
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
