"""Make placebos: edits that change the text and the byte code of the code, but not its behaviour.

A test that notices mutants or undone changes by behaviour passes with a placebo. A test that reads
sources, class files, dates or anything else that merely differs does not. A statement without
effect exposes a test that compares the whole. Rewrites (`coevo.languages.rewriting`) expose one that
looks for a constant, an operator or a line: they stand at each node at which a mutant may stand.
Their form is drawn for each test file. An idle copy of the old body, which never runs, exposes a test
that looks for what is gone.

A disguise is the other way round: an edit that changes the behaviour, with the rewrites of a placebo
and an idle copy of the new body. A test that notices the edit by behaviour fails with the disguise,
too. One that knows code by its text, its size or the forms of placebos does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random

from coevo.git.repository import Repository
from coevo.languages.measures import (
    LocatedDeclaration,
    PlaceboInsertion,
    PlaceboKind,
    find_same_member,
)
from coevo.languages.reading import LanguageReading
from coevo.languages.rewriters import IDLE_COPYING, REWRITERS
from coevo.languages.rewriting import Piece, PieceRole, Rewrites, VersionSpan, apply_rewrites
from coevo.languages.spans import Span, subtract_holes
from coevo.languages.table import get_measures, get_reading
from coevo.languages.text_edits import TextEdits
from coevo.measures.declaration_pairs import (
    CALLABLES,
    find_declared_type,
    find_method_at_other_end,
    find_method_or_constructor,
)
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair


class RewriteAmount(Enum):
    """The amount of code that a placebo rewrites."""

    NONE = 'none'
    ONE = 'one'  # a single node, as a mutant does
    ALL = 'all'


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboEdit:
    """The form of a placebo: its effect on line numbers, and the amount that it rewrites.

    share        of the rewrites, if it is all of them
    copies_idly  whether changed functions hold their old body, or an added one its own, which never
                 runs; it moves lines
    """

    kind: PlaceboKind
    amount: RewriteAmount = RewriteAmount.NONE
    share: float = 1.0
    copies_idly: bool = False


PLAIN_EDITS = tuple(PlaceboEdit(kind=kind) for kind in PlaceboKind)
"""Edits that rewrite nothing, the most noticeable first."""

REWRITING_EDITS = tuple(PlaceboEdit(kind=kind, amount=RewriteAmount.ALL) for kind in PlaceboKind)
"""Edits that rewrite all that they can, the most noticeable first."""

SINGLE_REWRITE = PlaceboEdit(kind=PlaceboKind.IN_PLACE, amount=RewriteAmount.ONE)


@dataclass(slots=True, kw_only=True)
class _EditedFile:
    """A file to edit: the spans to rewrite, and the statements to insert."""

    source: bytes
    spans: list[Span] = field(default_factory=list)
    inserted: list[Piece] = field(default_factory=list)


def make_placebo(
    repository: Repository,
    pair: Pair,
    declarations: Sequence[Dependency],
    edit: PlaceboEdit,
    draw: Random,
) -> tuple[tuple[str, bytes], ...]:
    """Return files at new, sorted by path, with a harmless edit of each declaration.

    A method or constructor gets a statement without effect somewhere in its body. A dependency on a
    type as a whole, a type that lost a method, and a declaration without a body get a comment.
    Declarations that are in no source file at new are skipped. A single rewrite stands alone. The
    result is empty if no declaration is left, if there is nothing to rewrite although the edit asks
    for it, or if the language offers no placebos.
    draw  the source of random choices
    """
    placebos = get_measures(pair.language).placebos
    if placebos is None:
        return ()
    edited: dict[str, _EditedFile] = {}
    for dependency in declarations:
        located = _find_place_at_new(repository, pair, dependency)
        if located is None:
            continue
        file = edited.setdefault(located.path, _EditedFile(source=located.source))
        if dependency.revised is not Revised.REMOVED:
            file.spans += _list_own_spans(located)
        statement = _choose_statement(placebos, located, edit.kind, draw)
        if edit.copies_idly and dependency.revised is not Revised.REMOVED:
            old = find_method_at_other_end(repository, pair, dependency)
            file.inserted += _list_idle_copy(pair.language, located, old or located, draw)
        file.inserted.append(statement)
    if edit.amount is RewriteAmount.NONE:
        rewrites: dict[str, Rewrites] = {}
    else:
        rewrites = _choose_rewrites(pair.language, edited, edit, draw)
        if not rewrites:
            return ()
    is_alone = edit.amount is RewriteAmount.ONE
    return tuple(
        (path, _apply_placebo(file, rewrites.get(path, Rewrites()), draw, is_alone=is_alone))
        for path, file in sorted(edited.items())
        if path in rewrites or not is_alone
    )


def _choose_statement(
    placebos: PlaceboInsertion, located: LocatedDeclaration, kind: PlaceboKind, draw: Random
) -> Piece:
    """Return a statement without effect, or a comment, with the file's line ends."""
    at, text = placebos.choose_insertion(located, kind, draw)
    text = text.replace(b'\n', TextEdits(located.source).line_end)
    return Piece(start=at, end=at, text=text, role=PieceRole.STATEMENT)


def _list_idle_copy(
    language: str, place: LocatedDeclaration, copied: LocatedDeclaration, draw: Random
) -> tuple[Piece, ...]:
    """Return the pieces that put the body of one version of a method into another version."""
    copying, own, other = (
        IDLE_COPYING.get(language),
        _locate_version(place),
        _locate_version(copied),
    )
    if copying is None or own is None or other is None:
        return ()
    line_end = TextEdits(place.source).line_end
    return tuple(
        replace(piece, text=piece.text.replace(b'\r\n', b'\n').replace(b'\n', line_end))
        for piece in copying.list_idle_copy(own, other, draw)
    )


def _locate_version(located: LocatedDeclaration) -> VersionSpan | None:
    member = located.member
    if member is None or member.kind not in CALLABLES:
        return None
    return VersionSpan(source=located.source, span=(member.start_byte, member.end_byte))


def make_disguise(
    repository: Repository, pair: Pair, edit: tuple[str, bytes | None], draw: Random, *, idle: bool
) -> bytes | None:
    """Return an edited file at new whose differing members are rewritten as in a placebo.

    None if there is no such member, or nothing in it to rewrite.
    idle  whether these members hold their body at new, which never runs
    """
    path, source = edit
    entry, rewriter = repository.tree(pair.new.rev).get(path), REWRITERS.get(pair.language)
    reading, placebos = get_reading(pair.language), get_measures(pair.language).placebos
    if source is None or entry is None or rewriter is None or placebos is None:
        return None
    if not path.endswith(reading.SUFFIXES):
        return None
    inserted: list[Piece] = []
    spans: list[Span] = []
    for edited, new in _pair_differing_members(reading, path, source, repository.blob(entry.oid)):
        spans += _list_own_spans(edited)
        if idle:
            inserted += _list_idle_copy(pair.language, edited, new, draw)
        inserted.append(_choose_statement(placebos, edited, PlaceboKind.MOVED, draw))
    listing = rewriter.list_rewrites(source, _drop_inner_spans(spans), draw)
    if not listing.rewrites:
        return None
    return apply_rewrites(source, listing.rewrites, draw, [*listing.support, *inserted])


def _pair_differing_members(
    reading: LanguageReading, path: str, source: bytes, new: bytes
) -> Iterator[tuple[LocatedDeclaration, LocatedDeclaration]]:
    """Yield the members of an edited file that differ from the file at new, with those there."""
    edited_file, new_file = reading.parse(source, path), reading.parse(new, path)
    types = {type_.name: type_ for type_ in new_file.types}
    for type_ in edited_file.types:
        new_type = types.get(type_.name)
        for member in type_.members if new_type is not None else ():
            same = find_same_member(member, new_type) if new_type is not None else None
            if new_type is not None and same is not None and same.hash != member.hash:
                yield (
                    LocatedDeclaration(
                        path=path, source=source, file=edited_file, type=type_, member=member
                    ),
                    LocatedDeclaration(
                        path=path, source=new, file=new_file, type=new_type, member=same
                    ),
                )


def _list_own_spans(located: LocatedDeclaration) -> list[Span]:
    """Return the span of a member, or those of a type outside of its methods."""
    if located.member is not None:
        return [(located.member.start_byte, located.member.end_byte)]
    whole = located.type.start_byte, located.type.end_byte
    methods = [
        (member.start_byte, member.end_byte)
        for member in located.type.members
        if member.kind in CALLABLES
    ]
    return [(start, end) for start, end in subtract_holes(whole, methods) if start < end]


def _choose_rewrites(
    language: str, edited: dict[str, _EditedFile], edit: PlaceboEdit, draw: Random
) -> dict[str, Rewrites]:
    """Return the rewrites of each file that has some: a share of all, or one of one file."""
    rewriter = REWRITERS.get(language)
    if rewriter is None:
        return {}
    listed = {
        path: rewriter.list_rewrites(file.source, _drop_inner_spans(file.spans), draw)
        for path, file in sorted(edited.items())
    }
    known = {path: listing for path, listing in listed.items() if listing.rewrites}
    if not known:
        return {}
    if edit.amount is RewriteAmount.ONE:
        path = draw.choice(sorted(known))
        single = draw.choice(known[path].rewrites)
        return {path: replace(known[path], rewrites=(single,))}
    return {path: _draw_share(listing, edit.share, draw) for path, listing in known.items()}


def _draw_share(listing: Rewrites, share: float, draw: Random) -> Rewrites:
    """Return a share of the rewrites of a file, and at least one of them."""
    drawn = tuple(rewrite for rewrite in listing.rewrites if draw.random() < share)
    return replace(listing, rewrites=drawn or (draw.choice(listing.rewrites),))


def _drop_inner_spans(spans: Sequence[Span]) -> list[Span]:
    """Return spans without those that lie inside another one, in order."""
    joined: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not joined or end > joined[-1][1]:
            joined.append((start, end))
    return joined


def _apply_placebo(file: _EditedFile, rewrites: Rewrites, draw: Random, *, is_alone: bool) -> bytes:
    others = [*rewrites.support, *([] if is_alone else file.inserted)]
    return apply_rewrites(file.source, rewrites.rewrites, draw, others)


def _find_place_at_new(
    repository: Repository, pair: Pair, one: Dependency
) -> LocatedDeclaration | None:
    """Return the place of a declaration at new, or of the type that lost it if it was removed.

    None if there is no such place, or if the file is not a source file.
    """
    if not one.file.endswith(get_reading(pair.language).SUFFIXES):
        return None
    if one.revised is Revised.REMOVED:
        return find_method_at_other_end(repository, pair, one)
    return find_method_or_constructor(repository, pair, one) or find_declared_type(
        repository, pair, one
    )
