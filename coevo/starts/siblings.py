"""Remove siblings, the targets of a pair's other tasks, from the start state of a task.

They are removed whatever their track, with what only they use (docs/internals/tasks.md). A new file is
removed as a whole, unless something that stays mentions it. A sibling stays if other code would not
compile without it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from coevo.git.patches import make_file_patch
from coevo.git.repository import find_old_path, load_content
from coevo.languages.cells import CompiledTests
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.quality import SiblingState, SiblingTargets
from coevo.model.records import TestMethod
from coevo.model.words import Track
from coevo.starts.isolated_cells import Files, IsolatedCellRunner, IsolatedSubject, IsolatedTask


def make_file_at_start(
    runner: IsolatedCellRunner, task: IsolatedTask, also: Collection[TestMethod] = ()
) -> bytes | None:
    """Return the test file with its targets reverted or removed; None if it is absent at the start.

    also  further tests of the file to remove

    Raises: StartStateInvalid if no start file can be made.
    """
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    before = find_old_path(repository, old, new, task.test_file)
    own = [_make_target(runner, subject) for subject in task.subjects]
    cut = get_surgery(runner.pair.language)
    return cut.make_start_file(
        task.load_new_test_file(runner),
        None if before is None else load_content(repository, old, before),
        [*own, *(StartTarget(method=method) for method in also)],
        used_elsewhere=cut.list_names_in_related_files(repository, new, task.test_file),
    )


def _make_target(runner: IsolatedCellRunner, subject: IsolatedSubject) -> StartTarget:
    if subject.track is Track.GENERATION or subject.old is None:
        return StartTarget(method=subject.new)
    source = load_content(runner.repository, runner.pair.old.rev, subject.old.test_file)
    assert source is not None, 'what was changed stands in a file of the old revision'
    return StartTarget(method=subject.new, original=OriginalTest(method=subject.old, source=source))


NEEDED = 'something else does not compile without it'

Texts = dict[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiblingEdits:
    """The tests that are removed around a task's targets: its siblings, the targets of the pair's other tasks.

    files     changed test files but the task's own, as in `CellEdits`; None means absent
    here      siblings in the task's own file, which the start file lacks
    siblings  all siblings by file and what became of them, also those that stay
    """

    files: Files = ()
    here: tuple[TestMethod, ...] = ()
    siblings: tuple[SiblingTargets, ...] = ()


class SiblingEditor:
    """Removes siblings, the targets of a pair's other tasks, from the start states of its tasks."""

    def __init__(self, runner: IsolatedCellRunner, tasks: Sequence[IsolatedTask]) -> None:
        self.runner, self._tasks = runner, tasks
        self._reach = cache(self._list_names_used_elsewhere)
        self.reading = get_reading(runner.pair.language)
        self._surgery = get_surgery(runner.pair.language)
        self.namers = self._surgery.make_mention_finder(runner.repository, runner.pair.new.rev)
        self._emptied: dict[Hashable, bytes | None] = {}

    def remove_siblings_that_can_go(self, task: IsolatedTask) -> SiblingEdits:
        """Return the edits of test files that remove as many siblings of a task as possible.

        What would break the compilation of anything else stays; each failing try costs a compile.
        There are no edits if the task has no siblings or no start file.
        """
        others = _list_targets(other for other in self._tasks if other is not task)
        if not others:
            return SiblingEdits()
        try:
            start = make_file_at_start(self.runner, task)
        except StartStateInvalid:
            return SiblingEdits()  # the task has no start state anyway
        clearing = _SiblingClearing(self, task, start, others)
        removed = clearing.find_most_removable(others, ())
        texts = clearing.make_files_without_targets(removed)
        return SiblingEdits(
            files=tuple((path, text) for path, text in texts.items() if path != task.test_file),
            here=tuple(method for method in removed if method.test_file == task.test_file),
            siblings=tuple(_make_sibling_rows(others, removed, texts)),
        )

    def make_file_without_tests(
        self, path: str, gone: Sequence[TestMethod], named: AbstractSet[str]
    ) -> bytes | None:
        """Return a file of the new revision without some of its tests and what they alone need.

        A file without tests is returned, too; the caller decides whether it stays. The result is
        None in the type alone, that of the surgery of a language.

        named  names that must stay besides those that other files use

        Raises: StartStateInvalid if the file cannot be made.
        """
        source = self.namers.read_text(path)
        needed = frozenset(named & self.reading.parse(source).names)
        key = (path, tuple(gone), needed)
        if key not in self._emptied:
            self._emptied[key] = self._surgery.make_start_file(
                source,
                self._load_old_content(path) or b'',  # a new file has no old content
                [StartTarget(method=method) for method in gone],
                used_elsewhere=self._reach(path) | needed,
            )
        return self._emptied[key]

    def is_new(self, path: str) -> bool:
        """Return whether neither a test file nor any of its targets is at the old revision."""
        pair, repository = self.runner.pair, self.runner.repository
        return find_old_path(repository, pair.old.rev, pair.new.rev, path) is None and not any(
            subject.old is not None
            for task in self._tasks
            if task.test_file == path
            for subject in task.subjects
        )

    def _load_old_content(self, path: str) -> bytes | None:
        pair, repository = self.runner.pair, self.runner.repository
        before = find_old_path(repository, pair.old.rev, pair.new.rev, path)
        return None if before is None else load_content(repository, pair.old.rev, before)

    def _list_names_used_elsewhere(self, path: str) -> frozenset[str]:
        return self._surgery.list_names_in_related_files(
            self.runner.repository, self.runner.pair.new.rev, path
        )


def make_sibling_removal_patch(runner: IsolatedCellRunner, files: Files) -> str:
    """Return the patch from the new revision to the start state, without the task's own file."""
    repository, new = runner.repository, runner.pair.new.rev
    tree = repository.tree(new)
    return ''.join(
        make_file_patch(path, load_content(repository, new, path), text, tree[path].mode)
        for path, text in files
    )


def _list_targets(tasks: Iterable[IsolatedTask]) -> tuple[TestMethod, ...]:
    methods = [subject.new for task in tasks for subject in task.subjects]
    return tuple(sorted(methods, key=_make_sort_key))


def _make_sort_key(method: TestMethod) -> tuple[str, str, str, tuple[str, ...]]:
    return method.test_file, method.test_class, method.test_method, method.parameters


def _make_sibling_rows(
    others: Sequence[TestMethod], gone: Sequence[TestMethod], texts: Texts
) -> Iterator[SiblingTargets]:
    """Yield for each file what became of its siblings: one row for removed, one for kept ones."""
    for path in sorted({method.test_file for method in others}):
        own = [method for method in others if method.test_file == path]
        removed = [method for method in own if method in gone]
        left = [method for method in own if method not in gone]
        if removed:
            undone = SiblingState.ABSENT if texts[path] is None else SiblingState.REMOVED
            yield SiblingTargets(test_file=path, test_methods=_name_methods(removed), undone=undone)
        if left:
            yield SiblingTargets(
                test_file=path,
                test_methods=_name_methods(left),
                undone=SiblingState.STAYS,
                why=NEEDED,
            )


def _name_methods(methods: Sequence[TestMethod]) -> tuple[str, ...]:
    names = (f'{method.test_class.rpartition(".")[2]}#{method.test_method}' for method in methods)
    return tuple(dict.fromkeys(names))


class _SiblingClearing:
    """Finds out which siblings of a task can be removed together.

    common  the editor of the pair
    task    the task
    start   the task's own file at the start
    all_    all siblings of the task
    """

    def __init__(
        self,
        common: SiblingEditor,
        task: IsolatedTask,
        start: bytes | None,
        all_: Sequence[TestMethod],
    ) -> None:
        self._common, self._task, self._start, self._all = common, task, start, all_
        # A reverted test may use names that no code of the new revision uses any more.
        self._names = frozenset[str]() if start is None else common.reading.parse(start).names

    def find_most_removable(
        self, selected: Sequence[TestMethod], gone: tuple[TestMethod, ...]
    ) -> tuple[TestMethod, ...]:
        """Return `gone` and as many of `selected` as can be removed with it, found by halving."""
        together = (*gone, *selected)
        if not selected or self._compiles_without(together):
            return together
        if len(selected) == 1:
            return gone
        half = len(selected) // 2
        return self.find_most_removable(
            selected[half:], self.find_most_removable(selected[:half], gone)
        )

    def make_files_without_targets(self, gone: Collection[TestMethod]) -> Texts:
        """Return the files without the given targets, sorted by path; None means an absent file.

        A new file goes as a whole if all siblings in it are given and nothing that stays mentions
        it.
        """
        paths = sorted({method.test_file for method in gone})
        absent = {path for path in paths if self._can_remove_whole_file(path, gone)}
        while True:
            texts = {
                path: None if path in absent else self._remove_from_file(path, gone)
                for path in paths
            }
            named = {path for path in absent if self._is_mentioned(path, texts)}
            if not named:
                return texts
            absent -= named

    def _remove_from_file(self, path: str, gone: Collection[TestMethod]) -> bytes | None:
        own = [method for method in gone if method.test_file == path]
        return self._common.make_file_without_tests(path, own, self._names)

    def _compiles_without(self, gone: Collection[TestMethod]) -> bool:
        """Return whether everything else compiles as before without some siblings.

        The task's own file has its new version meanwhile. False also if the files cannot be made.
        """
        try:
            files = tuple(self.make_files_without_targets(gone).items())
        except StartStateInvalid:
            return False
        runner = self._common.runner
        new, built = runner.pair.new.rev, runner.built
        modules = sorted({self._task.module, *(method.module for method in gone)})
        return all(
            _compiles_as_well(
                runner.compile(new, new, module, files, whole=True),
                built.compile(new, new, module),
            )
            for module in modules
        )

    def _can_remove_whole_file(self, path: str, gone: Collection[TestMethod]) -> bool:
        """Return whether a file can be removed whole: it is new, and loses all of its siblings.

        The task's own file never can.
        """
        return (
            path != self._task.test_file
            and self._common.is_new(path)
            and all(method in gone for method in self._all if method.test_file == path)
        )

    def _is_mentioned(self, path: str, texts: Texts) -> bool:
        """Return whether a file that stays, or gold, mentions this one."""
        namers, own = self._common.namers, self._task.test_file
        for other in namers.find_mentioning_files(path):
            text = texts[other] if other in texts else namers.read_text(other)
            if other == own or namers.mentions(other, text, path):
                return True
        return namers.mentions(own, self._start, path)


def _compiles_as_well(now: CompiledTests, before: CompiledTests) -> bool:
    """Return whether tests compile now; if they did not before, whether no more are broken now."""
    if before.unit_ok:
        return now.unit_ok
    return set(now.broken) <= set(before.broken)
