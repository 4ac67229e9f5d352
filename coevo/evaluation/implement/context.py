"""A task that asks for code, and the cells in which its tests run.

Three codes matter: that of the start state, gold's, and a submitted one. Each is a commit of its
own, so that the project's own build makes it. Cells always have an edit, even if it changes
nothing: coevo then runs them apart from each other, so that submitted code cannot learn from
earlier runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.start_states import StartStates, list_code_files_changed_by_gold
from coevo.evaluation.suites.texts import index_methods_by_name
from coevo.git.repository import load_content
from coevo.languages.cells import Build, CellEdits, CompiledTests
from coevo.languages.engine import Builder, BuiltPair
from coevo.languages.reading import Side
from coevo.languages.table import get_reading
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.model.families import TestRole
from coevo.model.method_rows import MethodRow
from coevo.model.records import TestMethod, compute_short_hash
from coevo.starts.isolated_cells import Files, IsolatedCellRunner, is_pass

# The most tests of other files that have to pass still; of more, always the same are drawn.
MOST_KEPT = 200

Methods = Mapping[str, TestMethod]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEnd:
    """One of the three codes, built; `rev` is its commit."""

    built: BuiltPair
    rev: str

    @property
    def build(self) -> Build:
        """The build of the code."""
        return next(end for end in (self.built.new, self.built.old) if end.rev == self.rev)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeContext:
    """A task with its start state.

    start      the test file that is shown, as in the start state
    start_rev  the commit of the start state
    gold_rev   that of the start state with gold's code
    """

    assignment: Assignment
    states: StartStates
    builder: Builder
    start: bytes
    start_rev: str
    gold_rev: str
    conditions: RunConditions
    _methods: dict[str, Methods] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of the test file that is shown."""
        return self.assignment.task.module

    def build_code(self, rev: str) -> CodeEnd:
        """Build a commit beside the start state."""
        pair = self.states.make_pair(self.assignment.task, self.start_rev, rev)
        return CodeEnd(built=self.builder.build(pair), rev=rev)

    def build_gold(self) -> CodeEnd:
        """Build the start state with gold's code."""
        return self.build_code(self.gold_rev)

    def make_runner(self, end: CodeEnd) -> IsolatedCellRunner:
        """Return a runner for cells of a code."""
        return IsolatedCellRunner(
            built=end.built, repository=self.states.repository, conditions=self.conditions
        )

    def compile(self, end: CodeEnd, module: str, files: Files = ()) -> CompiledTests:
        """Compile the tests of a module on a code.

        files  test files that differ from the start state
        """
        edits = dict(files) or {self.assignment.task.test_file: self.start}
        return end.built.compile(
            end.rev,
            end.rev,
            module,
            edits=CellEdits(tests=tuple(sorted(edits.items()))),
            methods=(),
        )

    def collect_verdicts_with_cpu_seconds(
        self, end: CodeEnd, methods: Methods, files: Files = (), *, reruns_not_passing: bool
    ) -> tuple[dict[str, Verdict], float]:
        """Return the verdicts on tests with a code, and the CPU seconds.

        The tests of a module share a process.
        files  test files that differ from the start state
        again  whether a test that does not pass there, or whose process another one ended, runs in
               a process of its own; otherwise the latter is left out
        """
        verdicts: dict[str, Verdict] = {}
        spent = 0.0
        for module in sorted({method.module for method in methods.values()}):
            own = {name: method for name, method in methods.items() if method.module == module}
            runner = self.make_runner(end)
            compiled = self.compile(end, module, files)
            run = (
                partial(runner.collect_verdicts_rerunning_undemanded, demand=is_pass)
                if reruns_not_passing
                else runner.run_in_one_process
            )
            verdicts |= run(compiled, own)
            spent += runner.cpu_seconds + compiled.cpu_seconds
        return verdicts, spent

    # -- tests -------------------------------------------------------------------------------------

    def list_tests_of_shown_file(self) -> Methods:
        """Return the tests of the test file that is shown, by name."""
        return self._list_tests_of_file(self.assignment.task.test_file)

    def draw_tests_of_other_files(self) -> Methods:
        """Return tests of other files of the touched modules, by file and name; at most MOST_KEPT.

        The choice is random, but always the same for a task.
        """
        task = self.assignment.task
        read = get_reading(task.language)
        tree = read.open_tree(self.states.repository, self.start_rev)
        modules = {
            self.module,
            *map(tree.find_module_folder, list_code_files_changed_by_gold(task)),
        }
        paths = [
            path
            for path in tree.list_paths(Side.TEST)
            if path != task.test_file and tree.find_module_folder(path) in modules
        ]
        paths.sort(key=lambda path: compute_short_hash(task.task_id, path))
        drawn: dict[str, TestMethod] = {}
        for path in paths:
            for name, method in self._list_tests_of_file(path).items():
                drawn[f'{path} {name}'] = method
            if len(drawn) >= MOST_KEPT:
                break
        return dict(list(drawn.items())[:MOST_KEPT])

    def _list_tests_of_file(self, path: str) -> Methods:
        if path not in self._methods:
            read = get_reading(self.assignment.task.language)
            tree = read.open_tree(self.states.repository, self.start_rev)
            tests = read.find_tests(
                tree.parse_file(path),
                lambda simple: [located.type for located in tree.resolve_test_type(path, simple)],
            )
            self._methods[path] = index_methods_by_name(tree.find_module_folder(path), path, tests)
        return self._methods[path]

    def list_named_sibling_tests(self) -> Iterator[tuple[str, TestMethod]]:
        """Yield the tests of other files of the change that are not shown, with their names."""
        roles = {each.method_id: each.role for each in self.assignment.task.demanded or ()}
        for row in self.assignment.demanded:
            if roles[row.method_id] is TestRole.SIBLING:
                yield f'{row.test_file} {_name_row(row)}', row.method

    def load_gold_sibling_files(self) -> Files:
        """Return the files of the siblings as their developers left them."""
        task = self.assignment.task
        paths = {method.test_file for _, method in self.list_named_sibling_tests()}
        return tuple(
            (path, load_content(self.states.source, task.new_rev, path)) for path in sorted(paths)
        )


def _name_row(row: MethodRow) -> str:
    return f'{row.test_class.rpartition(".")[2]}#{row.test_method}'
