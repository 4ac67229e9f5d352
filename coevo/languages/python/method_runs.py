"""Run test methods in the cells of one pair, and a project's tests as its developers do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.python.cell import PythonCell
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.collection import is_below
from coevo.languages.python.commands import get_path_within_module, make_target
from coevo.languages.python.events import PythonProcessReport, is_below_conftest
from coevo.languages.python.pytest_options import PytestSettings, make_developer_options
from coevo.languages.python.reading.words import decode_source
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import LOADING_SECONDS, PythonRunResult
from coevo.languages.verdicts import ProjectRun, RunConditions, Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# Run test methods in the cells of one pair, and complete what their processes report.

# The conditions of the engine's first run of a cell.
_FIRST = RunConditions(together=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRuns:
    """Runs of test methods in the cells of one pair.

    cells    the cells of this pair
    passing  how long passing tests took
    """

    context: PythonRunContext
    cells: PythonCells
    passing: PassingTimes = field(default_factory=PassingTimes)

    def run_methods(
        self,
        cell: PythonCell,
        methods: Sequence[TestMethod],
        conditions: RunConditions,
        mode: str,
        *,
        traced: Sequence[str] = (),
        watched: Mapping[str, int] | None = None,
        loads: bool = False,
        files: Sequence[str] | None = None,
        whole: bool = False,
    ) -> PythonRunResult:
        """Run methods in one test process on the tree of a cell; return what it reported.

        mode     as in `inside/worker.py`
        traced   files of the code whose lines and branches are requested
        watched  as in `PythonTestRun`
        loads    whether lines that run while files are loaded are requested, too
        files    the test files that pytest gets; None for those that the methods need
        whole    whether all tests of the files are collected before the methods are selected
        """
        clock = self.get_clock_variables(cell, conditions)
        files = self._list_files_to_collect(cell, methods) if files is None else files
        self.cells.ensure_rewritten_test_files(cell, files)
        request: dict[str, object] = {
            'mode': mode,
            'targets': [make_target(method) for method in methods],
            'files': self.cells.make_paths_relative_to_module(cell, files),
            'absent': self.cells.list_files_needing_stand_ins(cell, files),
            'whole': whole,
            'traced': {path: decode_source(cell.load_file(path)) for path in traced},
        }
        if traced:
            request['coverage'] = self.context.provide_coverage_folder(
                cell.module.installed.interpreter
            )
            request['loads'] = loads
        is_edited_to_fail = conditions.cpu_limit is not None
        choose = self.passing.choose_loading_limit
        done = self.cells.run_request(
            cell,
            request,
            [conditions.cpu_limit or self.passing.choose_cpu_limit(method) for method in methods],
            alone=len(methods) == 1 and not conditions.together,
            cpu_seconds=conditions.process_cpu_limit,
            loading=choose(LOADING_SECONDS) if is_edited_to_fail else LOADING_SECONDS,
            watched=watched,
            sources=conditions.sources,
            clock=clock,
        )
        if _has_passing_target(done):
            self.passing.note_process(done.cpu_seconds)
        return done

    def try_first_run_returning_cpu_seconds(
        self, cell: PythonCell, methods: Sequence[TestMethod], files: Sequence[str]
    ) -> float:
        """Run methods as the engine's first run will, while pytest collects their files as a whole.

        If no file fails to load and a test begins, all files load, and no separate process has to
        find that out: the run is kept for the engine (`take_first_run`), and 0 is returned.
        Otherwise the run is dropped, and its CPU seconds are returned, with those of further tries
        to load its files.
        """
        done = self.run_methods(cell, methods, _FIRST, 'run', files=files, whole=True)
        file_verdicts = done.heard.files
        errors = {
            p: why for p, why in file_verdicts.items() if why.outcome is Outcome.COMPILE_ERROR
        }
        if not errors and any(target.begun for target in done.heard.targets):
            cell.loaded |= dict.fromkeys(files)
            cell.begun = tuple(methods), done
            return 0.0
        spent = done.cpu_seconds
        # the errors are those of single files
        if done.heard.loaded and errors.keys() <= set(files):
            spent += self.cells.record_loading_returning_cpu_seconds(
                cell, {path: errors.get(path) for path in files}
            )
        return spent

    def take_first_run(
        self, cell: PythonCell, methods: Sequence[TestMethod], conditions: RunConditions
    ) -> PythonRunResult | None:
        """Return the run that `try_first_run_returning_cpu_seconds` kept, if exactly this one is requested.

        None otherwise. It is given out only once: each repetition has to be a run of its own.
        """
        if cell.begun is None or conditions != _FIRST or cell.begun[0] != tuple(methods):
            return None
        done, cell.begun = cell.begun[1], None
        return done

    def retry_stand_ins_with_cpu_seconds(
        self, cell: PythonCell, done: PythonRunResult
    ) -> tuple[bool, float]:
        """Load with stand-ins the files that failed to load in a run and were not tried before.

        In cells with edited code the loading of files has not been tried before. Return whether a
        file now loads with stand-ins, and the CPU seconds.
        """
        spent, before = 0.0, len(cell.stood_in)
        for path, why in done.heard.files.items():
            is_known = path in cell.loaded or not cell.has_file(path)
            if why.outcome is Outcome.COMPILE_ERROR and not is_known:
                spent += self.cells.load_test_files_returning_cpu_seconds(cell, [path])
        return len(cell.stood_in) > before, spent

    def complete_verdict(
        self, cell: PythonCell, method: TestMethod, verdict: Verdict | None
    ) -> Verdict | None:
        """Return a verdict completed by facts that the test process cannot know; None stays None.

        A missing test has a compile error instead if its file has the declaration but loads only
        with stand-ins: the declaration vanished together with a missing name. The time of a pass is
        noted.
        """
        if verdict is None:
            return None
        if verdict.outcome is Outcome.PASS:
            self.passing.note(method, verdict)
            return verdict
        hidden = method.test_file in cell.stood_in and cell.declares_method(method)
        if verdict.outcome is Outcome.MISSING and hidden:
            return replace(verdict, outcome=Outcome.COMPILE_ERROR, signature='missing:declaration')
        return verdict

    def get_clock_variables(
        self, cell: PythonCell, conditions: RunConditions
    ) -> Mapping[str, str] | None:
        """Return the variables of a faked clock; None if none is requested or it cannot be set."""
        if conditions.clock is None:
            return None
        return self.context.get_clock_variables(cell.module.installed, conditions.clock)

    def _list_files_to_collect(self, cell: PythonCell, methods: Sequence[TestMethod]) -> list[str]:
        """Return the test files that pytest gets for a run of these methods.

        These are the files of the methods, and those that may define subclasses of their classes,
        if they load; this may start a process that tries.
        """
        files, own = cell.list_candidate_files(methods), {method.test_file for method in methods}
        others = [path for path in files if path not in own]
        if others:
            self.cells.load_test_files_returning_cpu_seconds(cell, others)
        return [path for path in files if path in own or cell.loaded[path] is None]


# Run the tests of a project as its developers do: `python -m pytest` in its folder.

_REFUSED = 'settings_refused'
_UNFINISHED = 'unfinished'


def run_project_tests(
    cells: PythonCells,
    cell: PythonCell,
    reported_methods: Sequence[TestMethod],
    settings: PytestSettings,
    awaited: Sequence[TestMethod] = (),
) -> ProjectRun:
    """Run all tests of a project on its own code as its developers do; return the outcomes.

    If pytest refuses the options of the settings, which may be those of a plugin that is left out,
    it runs once more without them. Settings in a folder of tests apply only if pytest gets this
    folder. The limits are `LOADING_SECONDS` of CPU time and as many of wall time; what was reported
    until then counts.

    reported_methods  the test methods by which the outcomes are named
    awaited           the run ends behind the last of them; without them it runs all tests
    """
    spent = 0.0
    own_folder = cell.module.folder
    searched = (
        [get_path_within_module(own_folder, settings.folder)]
        if is_below(settings.folder, own_folder)
        else []
    )
    for options in dict.fromkeys(
        (make_developer_options(settings.options), make_developer_options())
    ):
        done = cells.run_request(
            cell,
            {
                'mode': 'umpire',
                'files': searched,
                'options': list(options),
                'awaited': [list(make_target(method)) for method in awaited],
            },
            (),
            cpu_seconds=LOADING_SECONDS,
            wall_seconds=LOADING_SECONDS,
            shared=False,
        )
        spent += done.cpu_seconds
        if not _has_refused_options(done):
            break
    return ProjectRun(
        outcomes=dict(_assign_outcomes(done.heard, reported_methods)),
        failure=_explain_failure(done),
        cpu_seconds=spent,
    )


def _has_passing_target(done: PythonRunResult) -> bool:
    return any(
        target.ended and target.tests and target.find_worst_verdict().outcome is Outcome.PASS
        for target in done.heard.targets
    )


def _has_refused_options(done: PythonRunResult) -> bool:
    return not done.heard.rulings and ('*' in done.heard.files or not done.heard.loaded)


def _explain_failure(done: PythonRunResult) -> str | None:
    if _has_refused_options(done):
        return _REFUSED
    return None if done.heard.loaded else _UNFINISHED


def _assign_outcomes(
    heard: PythonProcessReport, methods: Sequence[TestMethod]
) -> Iterator[tuple[TestMethod, Outcome]]:
    """Yield each method with its outcome, or with that of its file if the file did not load."""
    for method in methods:
        target = make_target(method)
        if target in heard.rulings:
            yield method, heard.rulings[target]
            continue
        for path, verdict in sorted(heard.files.items()):
            if path == method.test_file or is_below_conftest(method.test_file, path):
                yield method, verdict.outcome
                break
