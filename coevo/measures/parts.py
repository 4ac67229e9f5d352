"""What of a changed dependency can be undone alone, and its file without that.

A method or constructor is one part. Of the rest of a type its header (with the constants of an enum), each of
its fields and initializers is one; a type that is new goes, one that is gone stands again. A resource
is one part: its old content is laid over the new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.languages.table import measures
from coevo.languages.undoing import LocatedDeclaration
from coevo.languages.undoing import Undoing
from coevo.measures.declaration_pairs import counterpart
from coevo.measures.declaration_pairs import declared
from coevo.measures.declaration_pairs import declared_type
from coevo.measures.declaration_pairs import other_type
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.records import Pair

Key = tuple[str, int, str, str]
"""What a row of `reversals` is about: file, first line, what happened, declaration."""

Edit = tuple[str, bytes | None]
"""A path with its content; None where the file is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoablePart:
    """A change that is undone alone.

    Lines are those at new, or at old where it was removed. `edit` is None where the type does not
    stand at the other end, or `is_offered` says that the language cannot undo anything.
    """

    declaration: str
    file: str
    start_line: int
    revised: Revised
    edit: Edit | None
    is_offered: bool = True

    @property
    def key(self) -> Key:
        return self.file, self.start_line, self.revised, self.declaration


def parts_of(
    repository: Repository, pair: Pair, dependency: Dependency
) -> tuple[UndoablePart, ...]:
    """In the order of the text; none where nothing can be undone, as of a type that was renamed."""
    if dependency.is_resource:  # which may be a template that ends as sources do
        return tuple(_of_resource(repository, pair, dependency))
    undoing = measures(pair.language).undoing
    if undoing is None:
        return (replace(_part(dependency, None), is_offered=False),)
    change = _Change(repository=repository, pair=pair, dependency=dependency, undoing=undoing)
    known = declared(repository, pair, dependency)
    if known is not None:
        return (_of_method(change, known),)
    return tuple(_of_type(change))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    repository: Repository
    pair: Pair
    dependency: Dependency
    undoing: Undoing


def _of_method(change: _Change, known: LocatedDeclaration) -> UndoablePart:
    dependency, undoing = change.dependency, change.undoing
    other = counterpart(change.repository, change.pair, dependency)
    if dependency.revised is Revised.INSERTED:
        return _part(dependency, (known.path, undoing.undone(dependency.revised, None, known)))
    if other is None:
        return _part(dependency, None)
    old, new = (known, other) if dependency.revised is Revised.REMOVED else (other, known)
    return _part(dependency, (new.path, undoing.undone(dependency.revised, old, new)))


def _part(dependency: Dependency, edit: Edit | None) -> UndoablePart:
    """The dependency as a whole."""
    return UndoablePart(
        declaration=dependency.declaration,
        file=dependency.file,
        start_line=dependency.start_line,
        revised=dependency.revised,
        edit=edit,
    )


def _of_resource(
    repository: Repository, pair: Pair, dependency: Dependency
) -> Iterator[UndoablePart]:
    if dependency.revised is Revised.INSERTED:
        yield _part(dependency, (dependency.file, None))
        return
    entry = repository.tree(pair.old.rev).get(dependency.file)
    if entry is not None:
        yield _part(dependency, (dependency.file, repository.blob(entry.oid)))


# -- the rest of a type ----------------------------------------------------------------------------


def _of_type(change: _Change) -> Iterator[UndoablePart]:
    dependency, undoing = change.dependency, change.undoing
    known = declared_type(change.repository, change.pair, dependency)
    if known is None:
        return
    if dependency.revised is Revised.INSERTED:
        yield _part(dependency, (known.path, undoing.type_removed(known)))
        return
    if dependency.revised is Revised.REMOVED:
        yield _part(dependency, _put_back(change, known))
        return
    old = other_type(change.repository, change.pair, known, is_new=True)
    if old is None:
        return
    header = undoing.header_undone(old, known)
    if header is not None:
        yield _part(dependency, (known.path, header))
    yield from _of_fields(undoing, old, known)


def _put_back(change: _Change, old: LocatedDeclaration) -> Edit | None:
    """A type in the file of its name at new; the whole old file where there is none."""
    entry = change.repository.tree(change.pair.new.rev).get(old.path)
    if entry is None:
        outermost = all(
            not (each.start_byte < old.type.start_byte < each.end_byte) for each in old.file.types
        )
        return (old.path, old.source) if outermost else None
    text = change.undoing.type_put_back(old, change.repository.blob(entry.oid))
    return None if text is None else (old.path, text)


def _of_fields(
    undoing: Undoing, old: LocatedDeclaration, new: LocatedDeclaration
) -> Iterator[UndoablePart]:
    """Fields and initializers: those at new in their order, then those that are gone."""
    before, after = _nodes(old), _nodes(new)
    matched = _matched(before, after)
    for member in after:
        was = matched.get(member.start_byte)
        if was is None:
            yield _of_member(undoing, Revised.INSERTED, None, replace(new, member=member))
        elif was.hash != member.hash:
            changed = replace(old, member=was), replace(new, member=member)
            yield _of_member(undoing, Revised.MODIFIED, *changed)
    known = {was.start_byte for was in matched.values()}
    for member in before:
        if member.start_byte not in known:
            yield _of_member(undoing, Revised.REMOVED, replace(old, member=member), new)


def _nodes(known: LocatedDeclaration) -> list[Member]:
    """The first of each that one declaration declares."""
    members = [m for m in known.type.members if m.kind in ('field', 'initializer')]
    return list({member.start_byte: member for member in reversed(members)}.values())[::-1]


def _matched(before: list[Member], after: list[Member]) -> dict[int, Member]:
    """By its place at new, what a member was: fields by name, initializers by text, else by order."""
    fields = {member.name: member for member in before if member.kind == 'field'}
    found = {
        member.start_byte: fields[member.name]
        for member in after
        if member.kind == 'field' and member.name in fields
    }
    for name in {m.name for m in (*before, *after) if m.kind == 'initializer'}:
        olds, news = (
            [m for m in members if (m.kind, m.name) == ('initializer', name)]
            for members in (before, after)
        )
        for equal in (True, False):
            for member in list(news):
                was = next((one for one in olds if not equal or one.hash == member.hash), None)
                if was is not None:
                    found[member.start_byte] = was
                    olds.remove(was)
                    news.remove(member)
    return found


def _of_member(
    undoing: Undoing, revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
) -> UndoablePart:
    known = old if revised is Revised.REMOVED else new
    assert known is not None
    assert known.member is not None
    return UndoablePart(
        declaration=known.member.declaration,
        file=known.path,
        start_line=known.member.start_line,
        revised=revised,
        edit=(new.path, undoing.undone(revised, old, new)),
    )
