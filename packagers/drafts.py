"""Draft tasks, and group drafts and methods that are the same edit in several pairs or forks."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from coevo.evaluation.judging.start_states import restore_sibling_files
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, find_old_path, load_content
from coevo.languages.declarations import MODULE, Member
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.method_rows import MethodRow
from coevo.model.quality import VALID
from coevo.model.records import TestMethod, compute_short_hash
from coevo.model.task_rows import StartRow
from coevo.model.words import Track, Walk

Item = TypeVar('Item')

_PREFERENCE = tuple(Walk)


@dataclass(frozen=True, slots=True)
class Identity:
    """The criteria by which two things are the same.

    content  everything that must be equal, including the family of repositories
    repo     the repository where it was seen
    path     its test file, which a fork may have in a module of another name
    """

    content: Hashable
    repo: str
    path: str


def group_same_items(
    items: Iterable[Item], identity: Callable[[Item], Identity]
) -> Iterator[list[Item]]:
    """Yield groups of items that are the same thing, judged by `identity`.

    These are items with equal content at one path. Items at other paths join them if they are in
    other repositories (forks) alone.

    Modules of one repository may be copies of each other. In that case it is unknown which of them
    a fork has renamed, so the paths stay separate.
    """
    by_content: dict[Hashable, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        key = identity(item)
        by_content[key.content][key.path].append(item)
    for paths in by_content.values():
        repos = [{identity(item).repo for item in same} for same in paths.values()]
        if len(set().union(*repos)) == sum(map(len, repos)):
            yield [item for same in paths.values() for item in same]
        else:
            yield from paths.values()


def get_path_in_module(row: MethodRow) -> str:
    """Return the path of the test file below its module's folder."""
    return row.test_file if row.module == '.' else row.test_file.removeprefix(f'{row.module}/')


def make_edit_key(rows: Sequence[MethodRow]) -> tuple[Hashable, ...]:
    """Return the names and both texts of some test methods, as a key of their edit."""
    return tuple(
        (row.test_class, row.test_method, row.parameters, row.old_source, row.new_source)
        for row in rows
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftGroup:
    """The method rows of one task in the preferred walk, and its rows in other walks."""

    task_id: str
    rows: tuple[MethodRow, ...]
    others: tuple[MethodRow, ...]

    @property
    def key(self) -> tuple[str, Walk, Track, str]:
        """The pair, walk, track and test file of the task."""
        row = self.rows[0]
        assert row.track is not None, 'groups() yields rows with a track'
        return row.pair_id, row.walk, row.track, row.test_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A group with its start file (None if absent) and the patch from there to the file at new.

    around  other changes of the start state; None if mining recorded none
    others  the other test files that differ from the new revision
    """

    group: DraftGroup
    start: bytes | None
    test_patch: str
    around: StartRow | None = None
    others: Mapping[str, bytes | None] = field(default_factory=dict)

    @property
    def start_sha256(self) -> str | None:
        """The SHA-256 of the start file; None if it is absent."""
        return None if self.start is None else hashlib.sha256(self.start).hexdigest()

    @property
    def differing_start_files(self) -> dict[str, bytes | None]:
        """The test files that differ from the new revision, including the task's own."""
        return {**self.others, self.group.rows[0].test_file: self.start}

    def compute_sameness_key(self, family: str) -> Identity:
        """Return what two drafts share if they are the same task seen twice.

        The position of an edit in its file, and the text around it, do not count: a cherry-pick is
        the same edit in another version of the file.
        """
        row = self.group.rows[0]
        return Identity(
            content=(
                *(family, row.language, str(row.track), get_path_in_module(row)),
                list_edited_lines(self.test_patch),
                make_edit_key(self.group.rows),
            ),
            repo=row.repo,
            path=row.test_file,
        )


def list_edited_lines(patch: str) -> tuple[str, ...]:
    """Return the added and removed lines of a file's patch; all lines of a binary patch."""
    lines = patch.split('\n')
    hunks = next((at for at, line in enumerate(lines) if line.startswith('@@ ')), None)
    if hunks is None:
        return tuple(lines)
    return tuple(line for line in lines[hunks:] if line.startswith(('+', '-')))


def group_by_task(methods: Iterable[MethodRow]) -> Iterator[DraftGroup]:
    """Yield the rows that have a track, grouped by task, in the order of task ids.

    If several walks have the task, `rows` are those of the first walk in the order of `Walk`.
    """
    rows_by_task: dict[str, dict[Walk, list[MethodRow]]] = defaultdict(lambda: defaultdict(list))
    for row in methods:
        if row.track is not None:
            rows_by_task[compute_method_task_id(row)][row.walk].append(row)
    for id_, walks in sorted(rows_by_task.items()):
        preferred = min(walks, key=_PREFERENCE.index)
        rows = sorted(walks.pop(preferred), key=_get_method_key)
        others = (row for walk in sorted(walks) for row in walks[walk])
        yield DraftGroup(task_id=id_, rows=tuple(rows), others=tuple(others))


def compute_method_task_id(row: MethodRow) -> str:
    """Return the id of the task to which a method with a track belongs."""
    return compute_short_hash(
        row.repo, row.language, row.old_rev, row.new_rev, str(row.track), row.test_file
    )


def _get_method_key(row: MethodRow) -> tuple[str, str, tuple[str, ...]]:
    return row.test_class, row.test_method, row.parameters


def make_draft(group: DraftGroup, repository: Repository, around: StartRow | None = None) -> Draft:
    """Return the draft of a group: its start file, and the patch from there to the new file.

    around  what mining recorded about the rest of the start state

    Raises: StartStateInvalid if it has no valid start file. That includes groups whose start state
    mining ran and found to be wrong.
    """
    first = group.rows[0]
    for row in group.rows:
        if row.isolated is not None and row.isolated.start != VALID:
            raise StartStateInvalid(row.isolated.start)
    entry = repository.tree(first.new_rev).get(first.test_file)
    if entry is None:
        raise StartStateInvalid(f'{first.test_file} is not there at new')
    new = repository.blob(entry.oid)
    here = around.here if around else ()
    cut = get_surgery(first.language)
    used = cut.list_names_in_related_files(repository, first.new_rev, first.test_file)
    start = cut.make_start_file(
        new,
        _load_old_content(repository, first),
        [*(_make_target(row, repository) for row in group.rows), *map(_make_removal_target, here)],
        used_elsewhere=used,
    )
    if start is None and (missed := used & frozenset(_list_names_for_other_files(first, new))):
        raise StartStateInvalid(
            f'other test files need {min(missed)}, which only this one declares'
        )
    patch = make_file_patch(first.test_file, start, new, entry.mode)
    others = {} if around is None else _restore_sibling_files(around, repository, first)
    return Draft(group=group, start=start, test_patch=patch, around=around, others=others)


def _list_names_for_other_files(row: MethodRow, source: bytes) -> Iterator[str]:
    """Yield what a test file declares for other files: helpers, and types without tests.

    An agent that writes an absent file cannot know these names, but other files do not compile
    without them.
    """
    reader = get_reading(row.language)
    file = reader.parse(source, row.test_file)
    tests = {member.start_byte for _, member in reader.find_tests(file, lambda _: ())}
    for type_ in file.types:
        others = [member for member in type_.members if member.start_byte not in tests]
        if type_.around and len(others) == len(type_.members):
            yield type_.simple
        for member in others:
            is_open = 'static' in member.modifiers and 'private' not in member.modifiers
            if type_.kind == MODULE or is_open:
                yield member.name


def _restore_sibling_files(
    around: StartRow, repository: Repository, row: MethodRow
) -> dict[str, bytes | None]:
    siblings, patch = around.siblings, around.sibling_patch
    return dict(restore_sibling_files(repository, row.new_rev, row.test_file, siblings, patch))


def _make_removal_target(method: TestMethod) -> StartTarget:
    return StartTarget(method=method)


def _load_old_content(repository: Repository, row: MethodRow) -> bytes | None:
    """Return the content of the test file at old; None if it did not exist.

    A move is followed: a moved file is not a new one.
    """
    path = find_old_path(repository, row.old_rev, row.new_rev, row.test_file)
    return None if path is None else load_content(repository, row.old_rev, path)


def _make_target(row: MethodRow, repository: Repository) -> StartTarget:
    method = row.method
    if row.track is Track.GENERATION:
        return StartTarget(method=method)
    return StartTarget(method=method, original=find_original_test(row, repository))


def find_original_test(row: MethodRow, repository: Repository) -> OriginalTest:
    """Return the test of a row as the old revision has it.

    Raises: StartStateInvalid if the old revision has no such file or test.
    """
    path = row.old_test_file or row.test_file
    source = load_content(repository, row.old_rev, path)
    if source is None:
        raise StartStateInvalid(f'{path} is not there at old')
    return OriginalTest(method=_find_old_method(row, source), source=source)


def _find_old_method(row: MethodRow, source: bytes) -> TestMethod:
    """Return the identity of a test at old; among overloads, of the one with the row's source.

    Raises: StartStateInvalid if the file at old has no such test.
    """
    owner, name = row.old_test_class or row.test_class, row.old_test_method or row.test_method
    candidates = [m for m in _list_methods(row, source, owner) if m.name == name]
    exact = [member for member in candidates if member.source == row.old_source] or candidates
    if not exact:
        raise StartStateInvalid(f'{owner}#{name} is not in the file at old')
    return TestMethod(
        module=row.old_module or row.module,
        test_file=row.old_test_file or row.test_file,
        test_class=owner,
        test_method=name,
        parameters=exact[0].parameters,
    )


def _list_methods(row: MethodRow, source: bytes, owner: str) -> Iterator[Member]:
    for type_ in get_reading(row.language).parse(source, row.old_test_file or row.test_file).types:
        if type_.name == owner:
            yield from (member for member in type_.members if member.kind == 'method')
