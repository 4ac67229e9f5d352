"""Split a changed dependency into parts that can be undone alone, and edit its file accordingly.

A method or constructor is one part. A dependency on a type as a whole means its code outside of
methods. It has several parts: the header (with the constants of an enum), and each field and
initializer. A new type is one part, undone by removing it, and each of its fields is another one; a
removed type is one part, undone by putting it back. A resource is one part, undone by restoring its
old content.

What is undone is behaviour. Others compile against names, so a part has stages, of which the first
that compiles counts: the old text as a whole, the old body or value behind the new signature, and
plain values in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.languages.measures import ChangeUndoing, LocatedDeclaration, PlainVersion
from coevo.languages.table import get_measures
from coevo.measures.declaration_pairs import (
    find_declared_type,
    find_method_at_other_end,
    find_method_before_signature_change,
    find_method_or_constructor,
    find_type_at_other_end,
)
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair

Key = tuple[str, int, str, str]
"""The key of a row of `reversals`: file, first line, what happened, declaration."""

Edit = tuple[str, bytes | None]
"""A path and its content; None means that the file is absent."""


AS_BEFORE = ' as before'
"""What follows a declaration in its row if the old body or value stands behind its new signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneVersion:
    """The code with a part undone.

    written  what follows the declaration in its row: '' for the old text as a whole, `AS_BEFORE`,
             or the plain body or value
    edit     the one file that differs
    """

    written: str = ''
    edit: Edit


Stage = tuple[UndoneVersion, ...]
"""Versions of which each is run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoablePart:
    """A change that can be undone alone.

    start_line  the first line at new, or at old if the declaration was removed
    stages      in the order in which they are tried; empty if it cannot be undone
    is_offered  whether the language can undo changes
    """

    declaration: str
    file: str
    start_line: int
    revised: Revised
    stages: tuple[Stage, ...]
    is_offered: bool = True

    @property
    def key(self) -> Key:
        """The key of its row in the table `reversals` if the old text stands there as a whole."""
        return self.file, self.start_line, self.revised, self.declaration

    @property
    def versions(self) -> tuple[UndoneVersion, ...]:
        """The versions of all stages."""
        return tuple(version for stage in self.stages for version in stage)

    def make_key(self, version: UndoneVersion) -> Key:
        """Return the key of the row of one of its versions."""
        return self.file, self.start_line, self.revised, self.declaration + version.written

    def select_versions(self, keys: Collection[Key]) -> UndoablePart:
        """Return the part with the versions of some rows alone, in one stage."""
        stage = tuple(version for version in self.versions if self.make_key(version) in keys)
        return replace(self, stages=(stage,) if stage else ())


def list_undoable_parts(
    repository: Repository, pair: Pair, dependency: Dependency
) -> tuple[UndoablePart, ...]:
    """Return the parts of a dependency, in the order of the text.

    Empty if nothing can be undone, such as for a type that was renamed. If the language cannot undo
    changes, the dependency is one part that is not `is_offered`.
    """
    if dependency.is_resource:  # first, since a template may have the suffix of a source
        return tuple(_list_resource_parts(repository, pair, dependency))
    undoing = get_measures(pair.language).undoing
    if undoing is None:
        return (replace(_make_whole_part(dependency, None), is_offered=False),)
    change = _DependencyChange(
        repository=repository, pair=pair, dependency=dependency, undoing=undoing
    )
    known = find_method_or_constructor(repository, pair, dependency)
    if known is not None:
        return (_make_method_part(change, known),)
    return tuple(_list_type_parts(change))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DependencyChange:
    repository: Repository
    pair: Pair
    dependency: Dependency
    undoing: ChangeUndoing


def _make_method_part(change: _DependencyChange, known: LocatedDeclaration) -> UndoablePart:
    dependency, undoing = change.dependency, change.undoing
    part = _make_whole_part(dependency, None)
    if dependency.revised is Revised.INSERTED:
        resigned = find_method_before_signature_change(change.repository, change.pair, known)
        return replace(
            part, stages=_list_undoing_stages(undoing, Revised.INSERTED, resigned, known)
        )
    other = find_method_at_other_end(change.repository, change.pair, dependency)
    if other is None:
        return part
    old, new = (known, other) if dependency.revised is Revised.REMOVED else (other, known)
    return replace(part, stages=_list_undoing_stages(undoing, dependency.revised, old, new))


def _list_undoing_stages(
    undoing: ChangeUndoing,
    revised: Revised,
    old: LocatedDeclaration | None,
    new: LocatedDeclaration,
) -> tuple[Stage, ...]:
    """Return the stages of undoing one member.

    old  the member at old; of an inserted one the member that it replaces, or None
    """
    whole: bytes | None = None
    restored: bytes | None = None
    plain: tuple[PlainVersion, ...] = ()
    has_name = new.member is not None and new.member.kind != 'initializer'
    if revised is not Revised.INSERTED or not has_name or (undoing.IS_COMPILED and old is None):
        whole = undoing.undo_member(revised, old, new)
    if has_name and revised is not Revised.REMOVED:
        restored = None if old is None else undoing.restore_body_under_new_signature(old, new)
        plain = undoing.list_versions_with_plain_values(new)
    stages: tuple[list[tuple[str, bytes | None]], ...] = (
        [('', whole)],
        [(AS_BEFORE, restored)],
        [(version.written, version.source) for version in plain],
    )
    known = {new.source}
    distinct_stages: list[Stage] = []
    for stage in stages:
        fresh = {
            source: written
            for written, source in stage
            if source is not None and source not in known
        }
        known |= fresh.keys()
        if fresh:
            distinct_stages.append(
                tuple(
                    UndoneVersion(written=written, edit=(new.path, source))
                    for source, written in fresh.items()
                )
            )
    return tuple(distinct_stages)


def _make_whole_part(dependency: Dependency, edit: Edit | None) -> UndoablePart:
    """Return the dependency as a single part with at most one version."""
    return UndoablePart(
        declaration=dependency.declaration,
        file=dependency.file,
        start_line=dependency.start_line,
        revised=dependency.revised,
        stages=() if edit is None else ((UndoneVersion(edit=edit),),),
    )


def _list_resource_parts(
    repository: Repository, pair: Pair, dependency: Dependency
) -> Iterator[UndoablePart]:
    if dependency.revised is Revised.INSERTED:
        yield _make_whole_part(dependency, (dependency.file, None))
        return
    entry = repository.tree(pair.old.rev).get(dependency.file)
    if entry is not None:
        yield _make_whole_part(dependency, (dependency.file, repository.blob(entry.oid)))


# -- types, without their methods ------------------------------------------------------------------


def _list_type_parts(change: _DependencyChange) -> Iterator[UndoablePart]:
    dependency, undoing = change.dependency, change.undoing
    known = find_declared_type(change.repository, change.pair, dependency)
    if known is None:
        return
    if dependency.revised is Revised.INSERTED:
        edit = known.path, undoing.remove_type_declaration(known)
        yield _make_whole_part(dependency, edit if undoing.IS_COMPILED else None)
        for member in _list_fields_and_initializers(known):
            part = _make_member_part(undoing, Revised.INSERTED, None, replace(known, member=member))
            plain = tuple(stage for stage in part.stages if stage[0].written)
            if plain:
                yield replace(part, stages=plain)
        return
    if dependency.revised is Revised.REMOVED:
        yield _make_whole_part(dependency, _put_type_back(change, known))
        return
    old = find_type_at_other_end(change.repository, change.pair, known, is_new=True)
    if old is None:
        return
    header = undoing.undo_header(old, known)
    if header is not None:
        yield _make_whole_part(dependency, (known.path, header))
    yield from _list_field_parts(undoing, old, known)


def _put_type_back(change: _DependencyChange, old: LocatedDeclaration) -> Edit | None:
    """Return the edit that puts a type back into the file of its old path.

    If that file is absent at new, it is restored as a whole, if the type is an outermost one. None
    if the type cannot be put back.
    """
    entry = change.repository.tree(change.pair.new.rev).get(old.path)
    if entry is None:
        outermost = all(
            not (each.start_byte < old.type.start_byte < each.end_byte) for each in old.file.types
        )
        return (old.path, old.source) if outermost else None
    text = change.undoing.put_back_type(old, change.repository.blob(entry.oid))
    return None if text is None else (old.path, text)


def _list_field_parts(
    undoing: ChangeUndoing, old: LocatedDeclaration, new: LocatedDeclaration
) -> Iterator[UndoablePart]:
    """Yield the fields and initializers that differ: those at new in order, then removed ones."""
    before, after = _list_fields_and_initializers(old), _list_fields_and_initializers(new)
    matched = _map_start_bytes_to_old_members(before, after)
    for member in after:
        was = matched.get(member.start_byte)
        if was is None:
            yield _make_member_part(undoing, Revised.INSERTED, None, replace(new, member=member))
        elif was.hash != member.hash:
            changed = replace(old, member=was), replace(new, member=member)
            yield _make_member_part(undoing, Revised.MODIFIED, *changed)
    known = {was.start_byte for was in matched.values()}
    for member in before:
        if member.start_byte not in known:
            yield _make_member_part(undoing, Revised.REMOVED, replace(old, member=member), new)


def _list_fields_and_initializers(known: LocatedDeclaration) -> list[Member]:
    """Return fields and initializers; only the first of those in one declaration (`int a, b;`)."""
    members = [m for m in known.type.members if m.kind in ('field', 'initializer')]
    return list({member.start_byte: member for member in reversed(members)}.values())[::-1]


def _map_start_bytes_to_old_members(before: list[Member], after: list[Member]) -> dict[int, Member]:
    """Return the old version of members, by their start byte at new.

    Fields match by name. Initializers of the same name match by text, the remaining ones by order.
    Members without an old version are absent.
    """
    fields = {member.name: member for member in before if member.kind == 'field'}
    matches = {
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
                was = next(
                    (candidate for candidate in olds if not equal or candidate.hash == member.hash),
                    None,
                )
                if was is not None:
                    matches[member.start_byte] = was
                    olds.remove(was)
                    news.remove(member)
    return matches


def _make_member_part(
    undoing: ChangeUndoing,
    revised: Revised,
    old: LocatedDeclaration | None,
    new: LocatedDeclaration,
) -> UndoablePart:
    known = old if revised is Revised.REMOVED else new
    assert known is not None
    assert known.member is not None
    return UndoablePart(
        declaration=known.member.declaration,
        file=known.path,
        start_line=known.member.start_line,
        revised=revised,
        stages=_list_undoing_stages(undoing, revised, old, new),
    )
