"""A till that a pair changes, mined for real, and submitted test files in place of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.evaluation.assignments import TaskAttempt, load_assignments
from coevo.evaluation.cases import RepositoryContext, grade_case, prepare_case
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.judging.task_context import GradingCase, SubmissionContext, TaskContext
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.rows import ResultHeader, make_rows
from coevo.git.repository import Repository
from coevo.languages.java.engine import BuildsByJdk, JavaBuilder
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.verdicts import RunConditions
from coevo.snapshots.snapshot import attach_snapshots
from tests.flows.mining_runs import released
from tests.once import mined_once
from tests.projects import MEASURED, junit, pom, source, write

# Lines of which few mutants compile: every mutant is a JVM.
OLD = """\
    public int price(int n) {
        int sum = n;
        return -sum;
    }
"""
NEW = """\
    public int price(int n) {
        int sum = -n;
        return -sum;
    }
    public int fee(int n, boolean late) {
        if (late) {
            return n;
        }
        return -n;
    }
"""
TESTS = {
    'prices': 'assertEquals(2, new Till().price(2));',
    'fees': 'assertEquals(-2, new Till().fee(2, false));',
}
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', OLD),
        **junit('TillTest', 'prices: assertEquals(-2, new Till().price(2));'),
    },
    {
        **source('Till', NEW),
        **junit('TillTest', *(f'{name}: {body}' for name, body in TESTS.items())),
    },
)
PROFILE = replace(MEASURED, refactorings=False)


def submitted(imports: str = '', **bodies: str) -> bytes:
    """The test file at new with other bodies of its tests."""
    texts = [f'{name}: {body}' for name, body in {**TESTS, **bodies}.items()]
    (text,) = junit('TillTest', *texts, imports=imports).values()
    return text.encode()


@dataclass(frozen=True, kw_only=True)
class Till:
    """A snapshot of the mined pair, and what builds the start states of its tasks."""

    snapshot: Path
    states: StartStates
    builder: JavaBuilder
    kept: Path

    @property
    def shared(self) -> RepositoryContext:
        measures = AdequacySettings(
            snapshot=attach_snapshots((self.snapshot,)), oracle_folder=self.kept
        )
        return RepositoryContext(states=self.states, measures=measures)

    def case(self, name: str, content: bytes) -> GradingCase:
        """What is to be run when a file is submitted for the task of a target."""
        (assignment,) = (
            one
            for one in load_assignments(self.snapshot)
            if any(target.row.test_method == name for target in one.targets)
        )
        prediction = Prediction(
            task_id=assignment.task_id, patch=assignment.task.test_patch.encode()
        )
        gold = prepare_case(self.shared, TaskAttempt(assignment=assignment, prediction=prediction))
        assert isinstance(gold, GradingCase)
        return replace(gold, patched=content)

    def judged(self, name: str, content: bytes) -> MethodResult:
        """The row of the one target of a task."""
        case = self.case(name, content)
        judgement = grade_case(self.shared, case, self.builder)
        header = ResultHeader(snapshot_sha256='0' * 64, sandbox='bubblewrap')
        (row,) = make_rows(header, case.attempt.assignment, case.attempt.prediction, judgement)
        return row

    def task_context(self, name: str, content: bytes) -> TaskContext:
        """Where a submitted file is judged, both ends built."""
        case = self.case(name, content)
        return TaskContext(
            assignment=case.attempt.assignment,
            built=self.builder.build(case.pair),
            repository=self.states.repository,
            source=self.states.source,
            start=case.start,
            conditions=RunConditions(),
            measured=True,
        )

    def context(self, name: str, content: bytes) -> SubmissionContext:
        """Where a submitted file was judged before."""
        case = self.case(name, content)
        return SubmissionContext(
            assignment=case.attempt.assignment,
            built=self.builder.build(case.pair),
            repository=self.states.repository,
            patched=content,
            methods={target.name: target.method for target in case.attempt.assignment.targets},
            conditions=RunConditions(observed=True),
        )


@contextmanager
def opened(folder: Path, steps: Sequence[Mapping[str, str]] = STEPS) -> Iterator[Till]:
    root = write(folder / 'repository', steps)
    snapshot = released(mined_once(root, folder / 'store', profile=PROFILE).store)
    states = StartStates(Repository(root / '.git'), folder / 'states')
    with ExitStack() as stack:
        builds_by_jdk = BuildsByJdk(
            JavaRunContext(states.repository, sandbox='bubblewrap', stack=stack)
        )
        builder = JavaBuilder(builds_by_jdk)
        stack.callback(builder.close)
        yield Till(snapshot=snapshot, states=states, builder=builder, kept=folder / 'kept')
