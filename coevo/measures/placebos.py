"""Make placebos: edits that change the text and the byte code of the code, but not its behaviour.

A test that notices mutants or undone changes by behaviour passes with a placebo. A test that reads
sources, class files, dates or anything else that merely differs does not. The inserted text and its
place are random each time, so that no test can know them beforehand.
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
    """Return files at new, sorted by path, with a harmless insertion in each declaration.

    A method or constructor gets a statement without effect somewhere in its body. A dependency on a
    type as a whole, a type that lost a method, and a declaration without a body get a comment.
    Declarations that are in no source file at new are skipped. The result is empty if no
    declaration is left or the language offers no placebos.
    kind  whether lines behind an insertion may move
    draw  the source of random choices
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
    """Return the place of a declaration at new, or of the type that lost it if it was removed.

    None if there is no such place, or if the file is not a source file.
    """
    if not one.file.endswith(get_reading(pair.language).SUFFIXES):
        return None
    if one.revised is Revised.REMOVED:
        return find_counterpart(repository, pair, one)
    return find_declaration(repository, pair, one) or find_declared_type(repository, pair, one)
