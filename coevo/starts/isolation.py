"""Isolated cells and executed start states of the methods with a track.

An isolated cell is a whole-tree one with only the targets of one test file and track, and what
they alone use, of the other revision; data that the pair adds beside its tests goes along, and the
helpers that it adds where a target does not pass without (`added_data`, `added_helpers`, docs/tasks.md). An
update comes with its whole file if the new code breaks all that its class was (`broken_classes`).
Where it says something else, the label rests on other changes of the tests (TestEvo-Bench, 3.2). The start state of a task is
the new tree with its targets reverted or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.conditions import PLAIN
from coevo.languages.conditions import Conditions
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import Verdict
from coevo.model.quality import Isolated
from coevo.model.records import TestMethod
from coevo.model.task_rows import StartRow
from coevo.model.words import Track
from coevo.starts.added_data import added_data
from coevo.starts.added_data import with_data
from coevo.starts.added_helpers import TestSources
from coevo.starts.added_helpers import added_helpers
from coevo.starts.broken_classes import all_broken
from coevo.starts.executed_start import StartState
from coevo.starts.executed_start import start_state
from coevo.starts.grafted_files import grafted
from coevo.starts.grafted_files import whole_file
from coevo.starts.isolated_cells import Demand
from coevo.starts.isolated_cells import Files
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolated_cells import Task
from coevo.starts.isolated_cells import Verdicts
from coevo.starts.isolated_cells import is_broken
from coevo.starts.isolated_cells import is_pass
from coevo.starts.isolated_cells import said
from coevo.starts.siblings import SiblingEdits
from coevo.starts.siblings import Siblings
from coevo.starts.siblings import sibling_patch
from coevo.starts.source_readers import reads_sources

HELPED = 'with helpers that the pair adds'
WITH_FILE = 'with its whole file, since the code breaks all tests of its old class'


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """By method id; `cpu_seconds` of the compiler and of the test processes.

    starts  of each task, what its start state has beside its own file
    tests   the test files that are other at its start, but for its own
    """

    methods: Mapping[str, Isolated]
    starts: tuple[StartRow, ...]
    tests: Mapping[str, Files]
    cpu_seconds: float


def isolate(
    built: BuiltPair,
    subjects: Sequence[IsolatedSubject],
    repository: Repository,
    conditions: Conditions = PLAIN,
) -> Isolation:
    """The isolated cells of methods with a track, task by task; `subjects` in a fixed order.

    Only what a track asks of a cell counts: broken or passing. What disagrees in the process of all
    subjects of a task is asked again in one of its own.
    """
    runner = IsolatedCellRunner(built=built, repository=repository, conditions=conditions)
    tasks = _tasks(subjects)
    siblings = Siblings(runner, tasks)
    found: dict[str, Isolated] = {}
    tests: dict[str, Files] = {}
    starts = []
    for task in tasks:
        around = siblings.around(task)
        found |= _isolated(runner, task, around)
        tests |= dict.fromkeys(task.methods, around.files)
        starts.append(_start_row(runner, task, around))
    return Isolation(
        methods=dict(sorted(found.items())),
        starts=tuple(starts),
        tests=tests,
        cpu_seconds=runner.cpu_seconds,
    )


def _start_row(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> StartRow:
    return StartRow(
        pair_id=runner.pair.pair_id,
        walk=runner.pair.walk,
        track=task.track,
        test_file=task.test_file,
        siblings=around.siblings,
        sibling_patch=sibling_patch(runner, around.files),
        here=around.here,
        reads_sources=_reads_sources(runner, task, around),
    )


def _reads_sources(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> bool:
    """Of gold in the start tree."""
    new = runner.pair.new.rev
    compiled = runner.compile(new, new, task.module, around.files)
    return reads_sources(runner, compiled, task.methods)


def _tasks(subjects: Sequence[IsolatedSubject]) -> list[Task]:
    groups: dict[tuple[str, Track], list[IsolatedSubject]] = {}
    for subject in subjects:
        groups.setdefault((subject.new.test_file, subject.track), []).append(subject)
    return [
        Task(test_file=path, track=track, subjects=tuple(group))
        for (path, track), group in sorted(groups.items())
    ]


@dataclass(slots=True, kw_only=True)
class _Cell:
    """New tests in the old tree on the code of one revision."""

    name: str
    code_rev: str
    demand: Demand
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    passes_with_file: frozenset[str] = frozenset()  # by the rest of their test file

    def disagreeing(self) -> list[str]:
        return [name for name, one in self.verdicts.items() if not self.demand(one.outcome)]

    def complaint(self, name: str) -> str:
        rest = ', but not with the whole file' if name in self.passes_with_file else ''
        return f'{self.name} is {said(self.verdicts[name])}{rest}'


def _isolated(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> dict[str, Isolated]:
    start = start_state(runner, task, around)
    files, note = grafted(runner, task)
    notes = dict.fromkeys(task.methods, note)
    new = _Cell(name='tnew_cnew_isolated', code_rev=runner.pair.new.rev, demand=is_pass)
    cold = _Cell(name='tnew_cold_isolated', code_rev=runner.pair.old.rev, demand=is_broken)
    new.verdicts |= _ask(runner, task, new, files, task.methods)
    helpers = _helpers(runner, task, around) if new.disagreeing() else ()
    more = with_data(files, helpers)
    helped = _cured(runner, task, new, more, new.disagreeing()) if helpers else {}
    notes |= dict.fromkeys(helped, HELPED)
    if task.is_generation:
        alone = {name: one for name, one in task.methods.items() if name not in helped}
        cold.verdicts |= _ask(runner, task, cold, files, alone)
        cold.verdicts |= _ask(runner, task, cold, more, helped)
    if task.track is Track.UPDATE:
        whole = with_data(whole_file(runner, task), helpers)
        broken = all_broken(runner, task, new.disagreeing())
        notes |= dict.fromkeys(_cured(runner, task, new, whole, broken), WITH_FILE)
    cells = (new, cold)
    for cell in cells:
        _ask_with_whole_file(runner, task, cell, files)
    return {name: _row(name, start, cells, notes[name]) for name in task.methods}


def _helpers(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> Files:
    """What the pair adds to other sources of the tests and the start state has."""
    repository, pair = runner.repository, runner.pair
    old = TestSources(repository=repository, language=pair.language, rev=pair.old.rev)
    start = replace(old, rev=pair.new.rev, edits=dict(around.files))
    return added_helpers(old, start, task.test_file)


def _cured(
    runner: IsolatedCellRunner, task: Task, new: _Cell, files: Files, names: Sequence[str]
) -> dict[str, TestMethod]:
    """Who of some passes with other files: its verdict is the one with them."""
    asked = {name: task.methods[name] for name in names}
    again = _ask(runner, task, new, files, asked)
    cured = {name: one for name, one in asked.items() if is_pass(again[name].outcome)}
    new.verdicts |= {name: again[name] for name in cured}
    return cured


def _ask_with_whole_file(runner: IsolatedCellRunner, task: Task, cell: _Cell, files: Files) -> None:
    """Who disagrees, with the whole file, to tell why."""
    whole = whole_file(runner, task)
    disagreeing = {name: task.methods[name] for name in cell.disagreeing()}
    if disagreeing and whole != files:
        again = _ask(runner, task, cell, whole, disagreeing)
        cell.passes_with_file = frozenset(n for n, one in again.items() if cell.demand(one.outcome))


def _ask(
    runner: IsolatedCellRunner,
    task: Task,
    cell: _Cell,
    files: Files,
    methods: Mapping[str, TestMethod],
) -> Verdicts:
    if not methods:
        return {}
    pair = runner.pair
    data = added_data(runner.repository, pair.language, pair.old.rev, pair.new.rev)
    whole = with_data(files, data)
    compiled = runner.compile(pair.old.rev, cell.code_rev, task.module, whole)
    return runner.verdicts(compiled, methods, cell.demand)


def _row(name: str, start: StartState, cells: tuple[_Cell, _Cell], note: str) -> Isolated:
    told = start.told_cnew.get(name)
    complaints = [cell.complaint(name) for cell in cells if name in cell.disagreeing()]
    if told is not None and not told.outcome.broken:
        complaints.insert(0, f'told_cnew_isolated is {said(told)}')
    new, cold = (cell.verdicts.get(name) for cell in cells)
    return Isolated(
        told_cnew=told.outcome if told else None,
        tnew_cold=cold.outcome if cold else None,
        tnew_cnew=new.outcome if new else None,
        start=start.why[name],
        agrees=not complaints,
        detail='; '.join(filter(None, (*complaints, note))),
    )
