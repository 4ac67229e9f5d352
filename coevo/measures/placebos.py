"""Placebos: edits of the code that change its text and its byte code, and nothing that it does.

A test that notices a mutant or an undone change by what it does passes with a placebo. One that reads
sources, class files, dates or anything else that is merely different does not. What exactly is put
in, and where, is drawn anew each time, so that no test can know it beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from coevo.git.repository import Repository
from coevo.languages.placebos import PlaceboKind
from coevo.languages.table import get_measures, get_reading
from coevo.languages.text_edits import TextEdits
from coevo.languages.undoing import LocatedDeclaration
from coevo.measures.declaration_pairs import find_counterpart, find_declaration, find_declared_type
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair


def make_placebo(
    repository: Repository,
    pair: Pair,
    declarations: Sequence[Dependency],
    kind: PlaceboKind,
    draw: Random,
) -> tuple[tuple[str, bytes], ...]:
    """Files at new, by path, in which each of these declarations is written in another way.

    A method or constructor gets a statement of no effect, somewhere in its body; the rest of a type,
    a type of which a method was removed, and what has no body, a comment, whose lines move what
    debuggers read. What does not stand at new in a file of the language is left as it is; no files
    where that is all, or where the language offers none.
    """
    placebos = get_measures(pair.language).placebos
    if placebos is None:
        return ()
    edited: dict[str, TextEdits] = {}
    for dependency in declarations:
        located = _find_single_revision(repository, pair, dependency)
        if located is None:
            continue
        edits = edited.setdefault(located.path, TextEdits(located.source))
        edits.insert(*placebos.choose_insertion(located, kind, draw))
    return tuple((path, edits.apply_edits()) for path, edits in sorted(edited.items()))


def _find_single_revision(
    repository: Repository, pair: Pair, one: Dependency
) -> LocatedDeclaration | None:
    if not one.file.endswith(get_reading(pair.language).SUFFIXES):
        return None
    if one.revised is Revised.REMOVED:
        return find_counterpart(repository, pair, one)
    return find_declaration(repository, pair, one) or find_declared_type(repository, pair, one)
