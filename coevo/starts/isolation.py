"""Run isolated cells and start states of the methods with a track.

An isolated cell is a whole-tree cell in which only the targets of one test file and track, and what
only they use, come from the other revision (docs/internals/tasks.md). Data that the pair adds to
its tests goes along, and helpers that it adds if a target does not pass without them
(`coevo.starts.added_files`). An update takes its whole file along if the new code breaks all tests
of its old class (`find_methods_of_broken_classes`). A moved target is taken out of its old file if
it would be there twice (`_remove_moved_tests`). If an isolated cell has another outcome than the
whole-tree cell, the label depends on other changes of the tests (TestEvo-Bench, 3.2).

The start state of a task is the new tree with its targets reverted or removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from coevo.git.repository import Repository, find_old_path, load_content
from coevo.languages.cells import CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.surgery import FileSurgery, Graft, StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.languages.verdicts import PLAIN, RunConditions, Verdict
from coevo.model.quality import IsolatedCells
from coevo.model.records import TestMethod
from coevo.model.task_rows import StartRow
from coevo.model.words import Outcome, Track
from coevo.starts.added_files import (
    TestSources,
    find_added_helpers,
    list_added_test_data,
    merge_data,
)
from coevo.starts.executed_start import StartState, run_start_state
from coevo.starts.isolated_cells import (
    Demand,
    Files,
    IsolatedCellRunner,
    IsolatedSubject,
    IsolatedTask,
    Verdicts,
    describe_verdict,
    do_passes_need_main_sources,
    is_broken,
    is_pass,
)
from coevo.starts.siblings import SiblingEditor, SiblingEdits, make_sibling_removal_patch

HELPED = 'with helpers that the pair adds'
WITH_FILE = 'with its whole file, since the code breaks all tests of its old class'


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """The isolated cells and start states of a pair.

    methods      the isolated cells by method id
    starts       for each task, how its start state differs from the new revision beside its file
    tests        by method id, the other test files that differ at the start, as in `CellEdits`
    cpu_seconds  CPU time of the compiler and the test processes
    """

    methods: Mapping[str, IsolatedCells]
    starts: tuple[StartRow, ...]
    tests: Mapping[str, Files]
    cpu_seconds: float


def run_isolated_cells(
    built: BuiltPair,
    subjects: Sequence[IsolatedSubject],
    repository: Repository,
    conditions: RunConditions = PLAIN,
) -> Isolation:
    """Run the isolated cells of methods with a track, task by task.

    An outcome counts only as broken or passing, as the track demands it. All subjects of a task
    share a process; a method with another outcome than demanded runs again in one of its own.

    subjects  the methods, in a fixed order
    """
    runner = IsolatedCellRunner(built=built, repository=repository, conditions=conditions)
    tasks = _group_into_tasks(subjects)
    siblings = SiblingEditor(runner, tasks)
    isolated: dict[str, IsolatedCells] = {}
    tests: dict[str, Files] = {}
    starts = []
    for task in tasks:
        around = siblings.remove_siblings_that_can_go(task)
        isolated |= _isolate_task(runner, task, around)
        tests |= dict.fromkeys(task.methods, around.files)
        starts.append(_make_start_row(runner, task, around))
    return Isolation(
        methods=dict(sorted(isolated.items())),
        starts=tuple(starts),
        tests=tests,
        cpu_seconds=runner.cpu_seconds,
    )


def _make_start_row(
    runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits
) -> StartRow:
    return StartRow(
        pair_id=runner.pair.pair_id,
        walk=runner.pair.walk,
        track=task.track,
        test_file=task.test_file,
        siblings=around.siblings,
        sibling_patch=make_sibling_removal_patch(runner, around.files),
        here=around.here,
        reads_sources=_does_gold_need_main_sources(runner, task, around),
    )


def _does_gold_need_main_sources(
    runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits
) -> bool:
    """Return whether the new tests need the text of main sources to pass in the start tree."""
    new = runner.pair.new.rev
    compiled = runner.compile(new, new, task.module, around.files)
    return do_passes_need_main_sources(runner, compiled, task.methods)


def _group_into_tasks(subjects: Sequence[IsolatedSubject]) -> list[IsolatedTask]:
    groups: dict[tuple[str, Track], list[IsolatedSubject]] = {}
    for subject in subjects:
        groups.setdefault((subject.new.test_file, subject.track), []).append(subject)
    return [
        IsolatedTask(test_file=path, track=track, subjects=tuple(group))
        for (path, track), group in sorted(groups.items())
    ]


@dataclass(slots=True, kw_only=True)
class _IsolatedCell:
    """A cell with new tests in the old tree, on the code of one revision.

    name              for messages
    demand            whether an outcome is what the track demands
    verdicts          by method id
    passes_with_file  ids of methods that meet the demand only with the whole new test file
    """

    name: str
    code_rev: str
    demand: Demand
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    passes_with_file: frozenset[str] = frozenset()

    def list_methods_not_as_demanded(self) -> list[str]:
        """Return the ids of methods whose outcome is not as demanded."""
        return [name for name, verdict in self.verdicts.items() if not self.demand(verdict.outcome)]

    def describe_undemanded_outcome(self, name: str) -> str:
        """Return a phrase that names the cell and a method's outcome, which is not as demanded.

        It adds `, but not with the whole file` if the outcome is as demanded there.
        """
        rest = ', but not with the whole file' if name in self.passes_with_file else ''
        return f'{self.name} is {describe_verdict(self.verdicts[name])}{rest}'


def _isolate_task(
    runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits
) -> dict[str, IsolatedCells]:
    """Run a task's start state and isolated cells; return the row of each method by id."""
    start = run_start_state(runner, task, around)
    files, note = graft_targets_or_take_whole_file(runner, task)
    notes = dict.fromkeys(task.methods, note)
    new = _IsolatedCell(name='t_new_c_new_isolated', code_rev=runner.pair.new.rev, demand=is_pass)
    cold = _IsolatedCell(
        name='t_new_c_old_isolated', code_rev=runner.pair.old.rev, demand=is_broken
    )
    new.verdicts |= _run_cell(runner, task, new, files, task.methods)
    if refused := _find_moved_methods_that_do_not_compile(task, new):
        files = merge_data(files, _remove_moved_tests(runner, task, files))
        new.verdicts |= _run_cell(runner, task, new, files, refused)
    helpers = _find_helpers(runner, task, around) if new.list_methods_not_as_demanded() else ()
    more = merge_data(files, helpers)
    helped = (
        _retry_with_files_and_keep_cured(
            runner, task, new, more, new.list_methods_not_as_demanded()
        )
        if helpers
        else {}
    )
    notes |= dict.fromkeys(helped, HELPED)
    if task.track.must_fail_on_old_code:
        alone = {name: method for name, method in task.methods.items() if name not in helped}
        cold.verdicts |= _run_cell(runner, task, cold, files, alone)
        cold.verdicts |= _run_cell(runner, task, cold, more, helped)
    if task.track is Track.UPDATE:
        whole = merge_data(make_whole_file_and_removals(runner, task), helpers)
        broken = find_methods_of_broken_classes(runner, task, new.list_methods_not_as_demanded())
        notes |= dict.fromkeys(
            _retry_with_files_and_keep_cured(runner, task, new, whole, broken), WITH_FILE
        )
    cells = (new, cold)
    for cell in cells:
        _note_passes_with_whole_file(runner, task, cell, files)
    return {name: _make_row(task, name, start, cells, notes[name]) for name in task.methods}


def _find_helpers(runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits) -> Files:
    """Return the helpers that the pair adds to other test files and that the start state has."""
    repository, pair = runner.repository, runner.pair
    old = TestSources(repository=repository, language=pair.language, rev=pair.old.rev)
    start = replace(old, rev=pair.new.rev, edits=dict(around.files))
    return find_added_helpers(old, start, task.test_file)


def _retry_with_files_and_keep_cured(
    runner: IsolatedCellRunner,
    task: IsolatedTask,
    new: _IsolatedCell,
    files: Files,
    names: Sequence[str],
) -> dict[str, TestMethod]:
    """Run some targets with other files; return those that pass and keep their new verdicts."""
    methods = {name: task.methods[name] for name in names}
    again = _run_cell(runner, task, new, files, methods)
    cured = {name: method for name, method in methods.items() if is_pass(again[name].outcome)}
    new.verdicts |= {name: again[name] for name in cured}
    return cured


def _note_passes_with_whole_file(
    runner: IsolatedCellRunner, task: IsolatedTask, cell: _IsolatedCell, files: Files
) -> None:
    """Run the methods whose outcome is not as demanded again, with the whole new test file.

    The ids of those that then meet the demand become `cell.passes_with_file`: other changes of the
    file matter to them. Their verdicts stay.
    """
    whole = make_whole_file_and_removals(runner, task)
    disagreeing = {name: task.methods[name] for name in cell.list_methods_not_as_demanded()}
    if disagreeing and whole != files:
        again = _run_cell(runner, task, cell, whole, disagreeing)
        cell.passes_with_file = frozenset(
            n for n, verdict in again.items() if cell.demand(verdict.outcome)
        )


def _run_cell(
    runner: IsolatedCellRunner,
    task: IsolatedTask,
    cell: _IsolatedCell,
    files: Files,
    methods: Mapping[str, TestMethod],
) -> Verdicts:
    """Run methods in an isolated cell with edited files and the data that the pair adds."""
    if not methods:
        return {}
    pair = runner.pair
    data = list_added_test_data(runner.repository, pair.language, pair.old.rev, pair.new.rev)
    whole = merge_data(files, data)
    compiled = runner.compile(pair.old.rev, cell.code_rev, task.module, whole)
    return runner.collect_verdicts_rerunning_undemanded(compiled, methods, cell.demand)


def _make_row(
    task: IsolatedTask,
    name: str,
    start: StartState,
    cells: tuple[_IsolatedCell, _IsolatedCell],
    note: str,
) -> IsolatedCells:
    start_verdict = start.t_old_c_new.get(name)
    complaints = [
        cell.describe_undemanded_outcome(name)
        for cell in cells
        if name in cell.list_methods_not_as_demanded()
    ]
    if start_verdict is not None and not task.demand_at_start(start_verdict.outcome):
        complaints.insert(0, f't_old_c_new_isolated is {describe_verdict(start_verdict)}')
    new, cold = (cell.verdicts.get(name) for cell in cells)
    return IsolatedCells(
        t_old_c_new=start_verdict.outcome if start_verdict else None,
        t_new_c_old=cold.outcome if cold else None,
        t_new_c_new=new.outcome if new else None,
        start=start.why[name],
        agrees=not complaints,
        detail='; '.join(filter(None, (*complaints, note))),
    )


# -- files of the old tree with the targets of a task ---------------------------------------------


def graft_targets_or_take_whole_file(
    runner: IsolatedCellRunner, task: IsolatedTask
) -> tuple[Files, str]:
    """Return the old test file with the task's targets put in, and a note.

    The whole new file is returned instead if there is no old file or the targets cannot be put in.
    In the latter case the note says why; else it is empty.
    """
    repository, old = runner.repository, runner.pair.old.rev
    before = load_content(repository, old, task.test_file)
    if before is None:
        return make_whole_file_and_removals(runner, task), ''
    cut = get_surgery(runner.pair.language)
    try:
        text = cut.transplant_tests_into_old(
            before,
            task.load_new_test_file(runner),
            [_make_graft(subject) for subject in task.subjects],
            used_elsewhere=cut.list_names_in_related_files(repository, old, task.test_file),
        )
    except StartStateInvalid as error:
        return make_whole_file_and_removals(runner, task), f'whole file: {error}'
    return ((task.test_file, text),), ''


def _make_graft(subject: IsolatedSubject) -> Graft:
    """Return what the old file gets: a test in place of the old one, or added beside it.

    It is added if it comes from another file or class, as it runs under the name of its own class.
    """
    old, new = subject.old, subject.new
    here = (
        old is not None
        and old.test_file == new.test_file
        and old.test_class.partition('$')[2] == new.test_class.partition('$')[2]
    )
    return Graft(new=new, old=old if here else None)


def _find_moved_methods_that_do_not_compile(
    task: IsolatedTask, new: _IsolatedCell
) -> dict[str, TestMethod]:
    moved = {s.method_id for s in task.subjects if s.old and s.old.test_file != s.new.test_file}
    return {
        name: task.methods[name]
        for name, verdict in new.verdicts.items()
        if name in moved and verdict.outcome is Outcome.COMPILE_ERROR
    }


def _remove_moved_tests(runner: IsolatedCellRunner, task: IsolatedTask, files: Files) -> Files:
    """Return the old files from which targets moved, without the tests that the cell's file has, too.

    A package of Go may declare a name only once. A file that cannot be cut is left out.

    files  those of the cell, with the task's test file
    """
    repository, old = runner.repository, runner.pair.old.rev
    cut, text = get_surgery(runner.pair.language), dict(files)[task.test_file] or b''
    here = {test.name for test in cut.list_other_tests(text, [], task.test_file)}
    names = get_reading(runner.pair.language).parse(text).names
    cut_files: list[tuple[str, bytes | None]] = []
    paths = {subject.old.test_file for subject in task.subjects if subject.old is not None}
    for path in sorted(paths - dict(files).keys()):
        source = load_content(repository, old, path)
        assert source is not None, 'what was changed stands in a file of the old revision'
        twice = [t for t in _list_tests(source, path, task.module, cut) if t.test_method in here]
        used = cut.list_names_in_related_files(repository, old, path) | names
        targets = [StartTarget(method=method) for method in twice]
        with suppress(StartStateInvalid):
            cut_files.append((path, cut.make_start_file(source, b'', targets, used_elsewhere=used)))
    return tuple(cut_files)


def _list_tests(source: bytes, path: str, module: str, cut: FileSurgery) -> list[TestMethod]:
    return [
        TestMethod(
            module=module,
            test_file=path,
            test_class=test.owner,
            test_method=test.name,
            parameters=test.parameters,
        )
        for test in cut.list_other_tests(source, [], path)
    ]


def make_whole_file_and_removals(runner: IsolatedCellRunner, task: IsolatedTask) -> Files:
    """Return the whole new test file, and None for each old file that it or a target moved from.

    None removes the file. Files that the new revision still has are not removed.
    """
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    left = {find_old_path(repository, old, new, task.test_file)}
    left |= {subject.old.test_file for subject in task.subjects if subject.old is not None}
    there = repository.tree(new)
    removed = [(path, None) for path in left if path is not None and path not in there]
    return tuple(
        sorted([*removed, (task.test_file, task.load_new_test_file(runner))], key=lambda f: f[0])
    )


# -- test classes that the new code breaks as a whole ----------------------------------------------
#
# Such a class has, for example, a fixture or an import that no longer compiles. An update of one of
# its tests cannot pass beside the rest of the old class, no matter who writes it. That the fixture
# changed, too, is therefore a consequence of the code, not a change of the tests' own.


def find_methods_of_broken_classes(
    runner: IsolatedCellRunner, task: IsolatedTask, names: Sequence[str]
) -> list[str]:
    """Return those of the methods in whose old class no test compiles on the new code.

    All other test files are at the old revision, too. A method without an old version is never
    returned, since its old class counts.

    names  ids of the methods to look at
    """
    if not names:
        return []
    pair = runner.pair
    compiled = runner.compile(pair.old.rev, pair.new.rev, task.module, None, whole=True)
    olds = {subject.method_id: subject.old for subject in task.subjects}
    classes = {name: _identify_class(old) for name in names if (old := olds[name]) is not None}
    broken = {
        class_key
        for class_key in set(classes.values())
        if _is_class_broken(runner, compiled, *class_key)
    }
    return [name for name, class_key in classes.items() if class_key in broken]


def _identify_class(method: TestMethod) -> tuple[str, str, str]:
    return method.test_file, method.test_class, method.module


def _is_class_broken(
    runner: IsolatedCellRunner, compiled: CompiledTests, path: str, class_: str, module: str
) -> bool:
    """Return whether a class of the old revision has tests, and none of them compiles in a cell.

    compiled  the cell: the tests of the class on some code
    """
    source = load_content(runner.repository, runner.pair.old.rev, path)
    assert source is not None, 'what was changed stands in a file of the old revision'
    tests = _list_tests(source, path, module, get_surgery(runner.pair.language))
    methods = {str(number): test for number, test in enumerate(tests) if test.test_class == class_}
    # In languages that look names up at run time, only a run shows that a name is missing.
    verdicts = runner.run_in_one_process(compiled, methods)
    return bool(methods) and all(
        name in verdicts and verdicts[name].outcome is Outcome.COMPILE_ERROR for name in methods
    )
