"""The targets of a pair's other tasks, undone in the start state of one (docs/tasks.md).

They are removed, whatever their track, with what they alone use. A file that is new goes as a whole
unless something that stays names it. What does not compile without a sibling keeps it.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from coevo.git.contents import content
from coevo.git.contents import path_at_old
from coevo.git.patches import file_patch
from coevo.languages.cells import Compiled
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.surgery import StartTarget
from coevo.languages.table import reading
from coevo.languages.table import surgery
from coevo.model.quality import Sibling
from coevo.model.quality import Undone
from coevo.model.records import TestMethod
from coevo.starts.isolated_cells import Files
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import Task
from coevo.starts.start_files import file_at_start

NEEDED = 'something else does not compile without it'

Texts = dict[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiblingEdits:
    """What is other around the targets of a task than at new.

    files     other test files, as in `Edits`
    here      targets of other tasks in the task's own file, which the start file lacks
    siblings  all of them by file, those that stay, too
    """

    files: Files = ()
    here: tuple[TestMethod, ...] = ()
    siblings: tuple[Sibling, ...] = ()


class Siblings:
    """The start states of all tasks of one pair."""

    def __init__(self, runner: IsolatedCellRunner, tasks: Sequence[Task]) -> None:
        self.runner, self._tasks = runner, tasks
        self._reach = cache(self._names_used_elsewhere)
        self.reading = reading(runner.pair.language)
        self._surgery = surgery(runner.pair.language)
        self.namers = self._surgery.namers(runner.repository, runner.pair.new.rev)
        self._emptied: dict[Hashable, bytes | None] = {}

    def around(self, task: Task) -> SiblingEdits:
        """What the start state of a task lacks of the others; each try that fails costs a compile."""
        others = _targets(one for one in self._tasks if one is not task)
        if not others:
            return SiblingEdits()
        try:
            start = file_at_start(self.runner, task)
        except StartStateInvalid:
            return SiblingEdits()  # there is no task that they could stand around
        clearing = _Clearing(self, task, start, others)
        gone = clearing.most(others, ())
        texts = clearing.texts(gone)
        return SiblingEdits(
            files=tuple((path, text) for path, text in texts.items() if path != task.test_file),
            here=tuple(method for method in gone if method.test_file == task.test_file),
            siblings=tuple(_rows(others, gone, texts)),
        )

    def emptied(
        self, path: str, gone: Sequence[TestMethod], named: AbstractSet[str]
    ) -> bytes | None:
        """A file without some of its tests; `named` are names that somebody needs beside."""
        source = self.namers.text(path)
        needed = frozenset(named & self.reading.parse(source).names)
        key = (path, tuple(gone), needed)
        if key not in self._emptied:
            self._emptied[key] = self._surgery.start_file(
                source,
                self._old_content(path) or b'',  # nothing of a new file stood before
                [StartTarget(method=method) for method in gone],
                used_elsewhere=self._reach(path) | needed,
            )
        return self._emptied[key]

    def is_new(self, path: str) -> bool:
        pair, repository = self.runner.pair, self.runner.repository
        return path_at_old(repository, pair.old.rev, pair.new.rev, path) is None and not any(
            subject.old is not None
            for task in self._tasks
            if task.test_file == path
            for subject in task.subjects
        )

    def _old_content(self, path: str) -> bytes | None:
        pair, repository = self.runner.pair, self.runner.repository
        before = path_at_old(repository, pair.old.rev, pair.new.rev, path)
        return None if before is None else content(repository, pair.old.rev, before)

    def _names_used_elsewhere(self, path: str) -> frozenset[str]:
        return self._surgery.names_used_elsewhere(
            self.runner.repository, self.runner.pair.new.rev, path
        )


def sibling_patch(runner: IsolatedCellRunner, files: Files) -> str:
    """From the new revision to the start state, the task's own file aside."""
    repository, new = runner.repository, runner.pair.new.rev
    tree = repository.tree(new)
    return ''.join(
        file_patch(path, content(repository, new, path), text, tree[path].mode)
        for path, text in files
    )


def _targets(tasks: Iterable[Task]) -> tuple[TestMethod, ...]:
    methods = [subject.new for task in tasks for subject in task.subjects]
    return tuple(sorted(methods, key=_order))


def _order(method: TestMethod) -> tuple[str, str, str, tuple[str, ...]]:
    return method.test_file, method.test_class, method.test_method, method.parameters


def _rows(
    others: Sequence[TestMethod], gone: Sequence[TestMethod], texts: Texts
) -> Iterator[Sibling]:
    """A row for each file and what became of its targets."""
    for path in sorted({method.test_file for method in others}):
        own = [method for method in others if method.test_file == path]
        removed = [method for method in own if method in gone]
        left = [method for method in own if method not in gone]
        if removed:
            undone = Undone.ABSENT if texts[path] is None else Undone.REMOVED
            yield Sibling(test_file=path, test_methods=_named(removed), undone=undone)
        if left:
            yield Sibling(
                test_file=path, test_methods=_named(left), undone=Undone.STAYS, why=NEEDED
            )


def _named(methods: Sequence[TestMethod]) -> tuple[str, ...]:
    names = (f'{one.test_class.rpartition(".")[2]}#{one.test_method}' for one in methods)
    return tuple(dict.fromkeys(names))


class _Clearing:
    """Which siblings of a task can be removed together.

    start  the task's own file at the start
    all    every sibling
    """

    def __init__(
        self, common: Siblings, task: Task, start: bytes | None, all_: Sequence[TestMethod]
    ) -> None:
        self._common, self._task, self._start, self._all = common, task, start, all_
        # An old test that is put back may use what nobody uses at new.
        self._names = frozenset[str]() if start is None else common.reading.parse(start).names

    def most(
        self, selected: Sequence[TestMethod], gone: tuple[TestMethod, ...]
    ) -> tuple[TestMethod, ...]:
        """Those of some that can go beside those that are gone, found by halving."""
        together = (*gone, *selected)
        if not selected or self._compiles(together):
            return together
        if len(selected) == 1:
            return gone
        half = len(selected) // 2
        return self.most(selected[half:], self.most(selected[:half], gone))

    def texts(self, gone: Collection[TestMethod]) -> Texts:
        """The files of some targets without them, by path in order; None is absent."""
        paths = sorted({method.test_file for method in gone})
        absent = {path for path in paths if self._may_go_as_a_whole(path, gone)}
        while True:
            texts = {path: None if path in absent else self._without(path, gone) for path in paths}
            named = {path for path in absent if self._is_named(path, texts)}
            if not named:
                return texts
            absent -= named

    def _without(self, path: str, gone: Collection[TestMethod]) -> bytes | None:
        own = [method for method in gone if method.test_file == path]
        return self._common.emptied(path, own, self._names)

    def _compiles(self, gone: Collection[TestMethod]) -> bool:
        """Whether all else compiles as it did; gold stands in the task's own file."""
        try:
            files = tuple(self.texts(gone).items())
        except StartStateInvalid:
            return False
        runner = self._common.runner
        new, built = runner.pair.new.rev, runner.built
        modules = sorted({self._task.module, *(method.module for method in gone)})
        return all(
            _is_as_good(
                runner.compile(new, new, module, files, whole=True),
                built.compile(new, new, module),
            )
            for module in modules
        )

    def _may_go_as_a_whole(self, path: str, gone: Collection[TestMethod]) -> bool:
        """Whether a file is new and all of its siblings go."""
        return (
            path != self._task.test_file
            and self._common.is_new(path)
            and all(method in gone for method in self._all if method.test_file == path)
        )

    def _is_named(self, path: str, texts: Texts) -> bool:
        """Whether anything names a file that stays, gold included."""
        namers, own = self._common.namers, self._task.test_file
        for other in namers.of(path):
            text = texts[other] if other in texts else namers.text(other)
            if other == own or namers.names(other, text, path):
                return True
        return namers.names(own, self._start, path)


def _is_as_good(now: Compiled, before: Compiled) -> bool:
    if before.unit_ok:
        return now.unit_ok
    return set(now.broken) <= set(before.broken)
