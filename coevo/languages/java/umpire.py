"""Run the tests of a module as its developers do, by `mvn test`, and read what the runners report.

The outcomes come from listeners of the JUnit Platform, of JUnit 4 and of TestNG that the project's
own surefire loads. The command is that of the build (`maven/attempts.py`): the same JDK, settings,
left-out plugins and replaced versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from coevo.languages.core.test_processes import CpuBounds
from coevo.languages.core.test_runs import RunResult, run_in_fresh_process
from coevo.languages.java.building.project_command import CPU_SECONDS
from coevo.languages.java.building.report import name_failure
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.verdicts import ProjectRun
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_WORST_FIRST = (Outcome.FAIL, Outcome.SKIPPED, Outcome.PASS)
_ENDED = ('exit:0', 'exit:1')
_SUREFIRE = 'maven-surefire-plugin:test'
_TESTS_FAILED = 'org.apache.maven.plugin.MojoFailureException'

_NO_REPORT, _NO_TEST_RUN = 'no_report', 'no_test_run'

# The name of a goal, of an exception or of missing content.
_NAME = re.compile(r'[\w.:$-]{1,100}')

# More outcomes than any module has; what follows is ignored.
_MOST_OUTCOMES = 1_000_000


@dataclass(slots=True, kw_only=True)
class ProjectReport:
    """The report on a run of `mvn test`; a `coevo.languages.core.test_runs.ProcessReport`.

    methods    class and method -> parameter types (None if unknown) -> the worst outcome
    classes    class -> the worst outcome of what concerns the whole class
    count      how many outcomes were recorded
    listening  whether a listener was loaded
    module     how the module ended, as coevo's extension of Maven reports it
    """

    methods: dict[tuple[str, str], dict[str | None, Outcome]] = field(default_factory=dict)
    classes: dict[str, Outcome] = field(default_factory=dict)
    count: int = 0
    listening: bool = False
    module: dict[str, Any] | None = None
    over: bool = False
    late: None = None
    running: ClassVar[None] = None
    status: ClassVar[None] = None
    is_ready_for_another_run: ClassVar[bool] = False
    is_refused_for_good: ClassVar[bool] = False

    @property
    def started(self) -> bool:
        """True if anything was reported."""
        return self.listening or self.module is not None

    @property
    def is_complete(self) -> bool:
        """True if Maven reported how the module ended."""
        return self.module is not None

    def is_report_decisive(self, status: str, *, over: bool) -> bool:
        """Return whether the report is complete. `status` and `over` are not used."""
        return self.is_complete

    def handle_event(self, event: dict[str, Any]) -> None:
        """Record a well-formed event of a listener or of the extension; ignore any other."""
        match event.get('e'):
            case 'listening':
                self.listening = True
            case 'module' if _is_valid_module_event(event):
                self.module = event
            case 'outcome' if event.get('outcome') in _WORST_FIRST:
                self._note_outcome(event)

    def _note_outcome(self, event: Mapping[str, Any]) -> None:
        owner, method, parameters = (event.get(n) for n in ('class', 'method', 'parameters'))
        outcome = Outcome(event['outcome'])
        if self.count >= _MOST_OUTCOMES or not isinstance(owner, str):
            return
        self.count += 1
        if method is None:
            known = self.classes.get(owner, outcome)
            self.classes[owner] = _find_worst((known, outcome))
        elif isinstance(method, str) and isinstance(parameters, str | None):
            named = self.methods.setdefault((owner, method), {})
            named[parameters] = _find_worst((named.get(parameters, outcome), outcome))


def _is_valid_module_event(event: Mapping[str, Any]) -> bool:
    """Return whether the values of an event of the extension have the types that it writes."""
    exceptions = event.get('exceptions') or []
    return (
        isinstance(event.get('status'), str)
        and all(isinstance(event.get(name), str | None) for name in ('mojo', 'kind'))
        and isinstance(exceptions, list)
        and all(isinstance(name, str) for name in exceptions)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTests:
    """All tests of a module; a `coevo.languages.core.test_runs.TestRun`."""

    line_bytes: ClassVar[int] = 1 << 16
    most_cpu_seconds: ClassVar[float] = CPU_SECONDS

    @property
    def bounds(self) -> CpuBounds[Any]:
        """The CPU seconds of the command; tests have no limits of their own."""
        return CpuBounds(tests={}, loading=CPU_SECONDS, wall_per_cpu=4, loading_is='cpu')

    def make_report(self, key: str) -> ProjectReport:
        """Return an empty report; `key` is not used."""
        return ProjectReport()

    def make_run_order(self, nonce: str, key: str) -> str:
        """Return the line that the job reads: the nonce. `key` is not used."""
        return nonce


def run_by_maven(
    builds: SharedBuilds, rev: str, module: str, runners: Mapping[TestMethod, Sequence[str]]
) -> ProjectRun:
    """Run all tests of a module by `mvn test`, and return the outcomes of the given methods.

    A module that Maven does not build, or whose tests it does not compile, has none; the failure
    names the goal. What Maven could not build is not run again (`SharedBuilds.find_project_run_obstacle`). The
    run is kept until the revision is forgotten; what it gives later costs 0 CPU seconds.

    runners  the classes that run each method, by binary name
    """
    obstacle = builds.find_project_run_obstacle(rev, module)
    if obstacle is not None:
        return ProjectRun(outcomes={}, failure=obstacle)
    known = builds.project_runs.get((rev, module))
    if known is None:
        with builds.prepare_project_run(rev, module) as job:
            known = run_in_fresh_process(builds.sandbox, job, ProjectTests())
        builds.project_runs[rev, module] = replace(known, cpu_seconds=0.0)
    outcomes = {method: _find_outcome(known.heard, method, runners[method]) for method in runners}
    return ProjectRun(
        outcomes={method: outcome for method, outcome in outcomes.items() if outcome is not None},
        failure=explain_incomplete_run(known),
        cpu_seconds=known.cpu_seconds,
    )


def _find_outcome(
    heard: ProjectReport, method: TestMethod, runners: Iterable[str]
) -> Outcome | None:
    """Return the worst outcome of a method in all classes that run it; None if none ran it.

    What concerns a class, or one around it, concerns its methods.
    """
    outcomes: list[Outcome] = []
    for owner in dict.fromkeys((method.test_class, *runners)):
        outcomes += _list_own_outcomes(heard, method, owner)
        outcomes += (
            heard.classes[name]
            for name in _list_class_and_enclosing_classes(owner)
            if name in heard.classes
        )
    return _find_worst(outcomes) if outcomes else None


def _list_own_outcomes(heard: ProjectReport, method: TestMethod, owner: str) -> list[Outcome]:
    """Return the outcomes of a method in one class; several if its parameter types are unknown.

    Parameter types decide only where several methods of the class have the name.
    """
    named = heard.methods.get((owner, method.test_method), {})
    wanted = ','.join(method.parameters)
    return [
        outcome
        for parameters, outcome in named.items()
        if len(named) == 1 or parameters in (None, wanted)
    ]


def _list_class_and_enclosing_classes(name: str) -> Iterator[str]:
    """Yield a class and those around it, by their binary names."""
    while name:
        yield name
        name = name.rpartition('$')[0]


def _find_worst(outcomes: Iterable[Outcome]) -> Outcome:
    return min(outcomes, key=_WORST_FIRST.index)


def explain_incomplete_run(done: RunResult[ProjectReport]) -> str | None:
    """Return why the command did not run the module's tests to their end; None if it did.

    Tests that failed are no reason.
    """
    if done.status not in _ENDED:
        return done.status
    module = done.heard.module
    if module is None:
        return _NO_REPORT
    mojo, exceptions = module.get('mojo'), module.get('exceptions') or ()
    tests_failed = mojo == _SUREFIRE and _TESTS_FAILED in exceptions
    if module['status'] != 'built' and not tests_failed:
        name = name_failure(module) if exceptions or mojo else str(module['status'])
        return name if _NAME.fullmatch(name) else _NO_REPORT
    return None if done.heard.listening else _NO_TEST_RUN
