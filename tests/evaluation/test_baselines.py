"""The baselines of an evaluation, judged for real: each with what has to come of it, per track."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from coevo.engine.workers import BuilderPool
from coevo.evaluation.assignments import TaskAttempt
from coevo.evaluation.cases import RepositoryContext, grade_case, prepare_case
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.judging.placebos import PlaceboRunner
from coevo.evaluation.judging.preconditions import PreconditionChecker
from coevo.evaluation.judging.protocol import TaskChecks
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.judging.task_context import GradingCase
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.rows import ResultHeader, make_rows
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.java.processes import runner
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.table import LANGUAGES
from coevo.model.words import Track
from tests.evaluation import baselines
from tests.evaluation.baselines import ATTACKS, NOT_RUN, WHOLE, Baseline, Expected, submit, written
from tests.evaluation.shop import Shop

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

BACK_ENDS = ['bubblewrap', pytest.param('docker', marks=[pytest.mark.docker, pytest.mark.slow])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """Where submissions to the shop are judged, one after the other by one builder."""

    shop: Shop
    shared: RepositoryContext
    builder: Builder

    def judged(
        self, track: Track, prediction: Prediction, test_seconds: float | None = None
    ) -> tuple[MethodResult, ...]:
        assignment = self.shop.tasks[track]
        shared = replace(self.shared, test_seconds=test_seconds)
        judgement = prepare_case(shared, TaskAttempt(assignment=assignment, prediction=prediction))
        if isinstance(judgement, GradingCase):
            judgement = grade_case(shared, judgement, self.builder)
        assert isinstance(judgement, GradingResult)
        header = ResultHeader(snapshot_sha256='0' * 64, sandbox='any')
        return make_rows(header, assignment, prediction, judgement)


@pytest.fixture(scope='module', params=BACK_ENDS)
def court(
    request: pytest.FixtureRequest, shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Court]:
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    with ExitStack() as stack:
        yield open_court(shop, str(request.param), tmp_path_factory.mktemp('court'), stack)


def open_court(shop: Shop, sandbox: str, folder: Path, stack: ExitStack) -> Court:
    tasks = [one.task for one in shop.tasks.values()]
    source = stack.enter_context(open_task_repository(tasks, shop.store))
    ledger = Ledger(folder=folder / 'kept', settings=())
    known = TaskChecks(
        preconditions=PreconditionChecker(ledger=ledger), placebos=PlaceboRunner(ledger=ledger)
    )
    shared = RepositoryContext(states=StartStates(source, folder), known=known)
    run = RunSettings(repository=shared.states.repository, sandbox=sandbox)
    builders = stack.enter_context(BuilderPool(LANGUAGES['java'], run, []))
    builder = builders.open_builder()
    stack.callback(builder.close)
    return Court(shop=shop, shared=shared, builder=builder)


def check(court: Court, baseline: Baseline, track: Track) -> None:
    found = court.judged(track, baseline.make(court.shop, track), baseline.test_seconds)
    wanted = list(baseline.expected[track])
    wanted += [wanted[-1]] * (len(found) - len(wanted))
    assert [told(row) for row in found] == wanted, [(row.said, row.output) for row in found]


def told(row: MethodResult) -> Expected:
    return row.outcome, row.detail


@pytest.mark.parametrize('track', list(Track))
@pytest.mark.parametrize('baseline', NOT_RUN, ids=lambda one: one.name)
def test_baseline_that_cannot_be_run_is_a_harness_failure(
    court: Court, baseline: Baseline, track: Track
) -> None:
    check(court, baseline, track)


# Gold of all tracks is scored by a whole evaluation, too, in test_evaluation.
SHORT = [
    ('gold', Track.GENERATION),
    ('one target missing', Track.UPDATE),
    ('unchanged old test', Track.REPAIR),
    ('assertTrue(true)', Track.GENERATION),
    ('copies the nearest sibling', Track.GENERATION),
    ('a call without an assertion', Track.REPAIR),
    ('asks for a debugger', Track.GENERATION),
    ('looks for other code', Track.GENERATION),
    ('does not compile', Track.GENERATION),
    ('does not parse', Track.UPDATE),
    ('exits with 0', Track.REPAIR),
    ('halts as its class is loaded', Track.REPAIR),
    ('disabled target', Track.REPAIR),
    ('shadows production code', Track.UPDATE),
    ('shadows what production code was', Track.GENERATION),
]


def each() -> Iterator[object]:
    """Every baseline of every track; of most one track is enough for a short run."""
    for baseline in WHOLE:
        # A test that waits costs minutes for each of its targets: the track with one target is enough.
        for track in Track if baseline.test_seconds is None else (Track.REPAIR,):
            marks = () if (baseline.name, track) in SHORT else (pytest.mark.slow,)
            yield pytest.param(baseline, track, marks=marks, id=f'{baseline.name}, {track}')


@pytest.mark.sampled(5)
@pytest.mark.parametrize(('baseline', 'track'), list(each()))
def test_baseline_gets_its_expected_outcome(
    court: Court, baseline: Baseline, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    if baseline.test_seconds is not None:
        # Each of two runs may wait ten times as long, since an honest test may sleep.
        monkeypatch.setattr(runner, 'LEAST_CPU_LIMIT', 6.0)
    check(court, baseline, track)


LIVE = {'own_memory', 'prints'}


@pytest.mark.parametrize(
    'name',
    [
        pytest.param(one.name, marks=() if one.name in LIVE else (pytest.mark.slow,))
        for one in ATTACKS
    ],
)
def test_forged_pass_is_never_a_success(court: Court, name: str) -> None:
    """What is told to pass and was not seen to is tampered; the rest is not told to pass."""
    prediction = baselines.forged(court.shop, Track.REPAIR, name)
    (row,) = court.judged(Track.REPAIR, prediction, 20.0)
    (attack,) = (one for one in ATTACKS if one.name == name)
    if attack.stopped is None:
        assert told(row) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)
        assert row.tampered in ('not_left', 'unobserved')
    elif row.detail is Detail.TARGET_MISSING:
        assert name == 'throwable_that_throws'  # its framework cannot report such a thing
    else:
        assert row.outcome is TaskOutcome.EXEC_FAIL, (row.detail, row.said)


@pytest.mark.slow
def test_uncompilable_target_breaks_the_module_only_by_the_papers_rule(
    court: Court,
) -> None:
    prediction = submit(
        court.shop, Track.UPDATE, 'assertEquals(12, Till.price(1));', 'Till.nowhere();'
    )
    costs, sums = court.judged(Track.UPDATE, prediction)
    assert (costs.outcome, costs.compiled, costs.module_compiled) == ('success', True, False)
    assert costs.runtime in {jdk.version for jdk in find_jdks()}
    assert (sums.outcome, sums.compiled) == ('cmpl_fail', False)
    assert {costs.outcome_by_module, sums.outcome_by_module} == {'cmpl_fail'}


def test_output_of_a_test_is_kept(court: Court) -> None:
    body = 'System.out.println("to out"); System.err.println("to err"); fail("so it is");'
    (row,) = court.judged(Track.REPAIR, submit(court.shop, Track.REPAIR, body))
    assert 'to out\nto err\n' in row.output
    assert row.said == 'java.lang.AssertionError@shop.FaultTest.adds; so it is'


@pytest.mark.slow
def test_task_whose_old_test_passes_on_the_new_code_is_infra(court: Court) -> None:
    """The old text of `nothing` passes on the new code: as a target it would be no task."""
    assignment = court.shop.tasks[Track.UPDATE]
    target = assignment.targets[0]
    row = replace(target.row, test_method='nothing', old_test_method='nothing')
    changed = replace(assignment, targets=(replace(target, row=row),))
    shop = replace(court.shop, tasks={**court.shop.tasks, Track.UPDATE: changed})
    elsewhere = replace(court, shop=shop)
    (found,) = elsewhere.judged(Track.UPDATE, court.shop.gold(Track.UPDATE))
    assert told(found) == (TaskOutcome.INFRA, Detail.PRECONDITION)
    assert found.said == 'nothing is pass on the new code at the start'


@pytest.mark.slow
def test_task_whose_start_file_has_a_broken_sibling_is_infra(
    court: Court,
) -> None:
    """As a task of generation, this one would start with two old tests that the change broke."""
    assignment = court.shop.tasks[Track.UPDATE]
    task = replace(assignment.task, task_id='0' * 16, track=Track.GENERATION)
    changed = replace(assignment, task=task)
    shop = replace(court.shop, tasks={**court.shop.tasks, Track.UPDATE: changed})
    found = replace(court, shop=shop).judged(Track.UPDATE, court.shop.gold(Track.UPDATE))
    assert {told(row) for row in found} == {(TaskOutcome.INFRA, Detail.PRECONDITION)}
    assert found[0].said.startswith('at the start sibling shop.PriceTest#costs(): fail ')


# What a spy finds: gold's text in any file that it may read, and any trace of Git.
SPY = r"""
    String gold = new StringBuilder("ssorg").reverse().toString();
    java.util.List<String> found = new java.util.ArrayList<>();
    java.util.ArrayDeque<java.io.File> todo = new java.util.ArrayDeque<>();
    todo.add(new java.io.File("/"));
    while (!todo.isEmpty()) {
        java.io.File at = todo.poll();
        String path = at.getPath();
        if (path.matches("/(proc|sys|dev|usr|lib.*|bin|sbin|etc)")) continue;
        if (java.nio.file.Files.isSymbolicLink(at.toPath())) continue;
        if (path.endsWith("/.git") || path.endsWith(".pack")) found.add(path);
        java.io.File[] inside = at.listFiles();
        if (inside != null) { todo.addAll(java.util.Arrays.asList(inside)); continue; }
        if (!at.isFile() || at.length() > 100000) continue;
        String text = new String(java.nio.file.Files.readAllBytes(at.toPath()), "ISO-8859-1");
        boolean compiled = path.endsWith(".class") && text.contains(gold);
        if (compiled || text.contains(gold + "()")) found.add(path);
        if (path.endsWith("RoundTest.java")) System.out.println("seen " + path);
    }
    assertEquals("[]", found.toString());
"""


def test_submitted_test_finds_neither_gold_nor_git_history_where_it_runs(court: Court) -> None:
    """`gross` is a target of gold alone; the submitted file has another one and the spy."""
    text = written(Track.GENERATION, ' '.join(SPY.split()), '')
    dozen, gross = court.judged(Track.GENERATION, court.shop.submission(Track.GENERATION, text))
    assert 'seen ' in dozen.output
    assert dozen.said == ''
    assert (dozen.new, gross.detail) == ('pass', Detail.TARGET_MISSING)


@pytest.mark.slow
def test_start_state_is_not_run_when_all_targets_pass(court: Court, tmp_path: Path) -> None:
    """The ledger has what was asked of the start state: nothing, until a target does not pass."""
    ledger = Ledger(folder=tmp_path, settings=())
    known = TaskChecks(
        preconditions=PreconditionChecker(ledger=ledger), placebos=PlaceboRunner(ledger=ledger)
    )
    fresh = replace(court, shared=replace(court.shared, known=known))
    assignment = court.shop.tasks[Track.GENERATION]
    assert {
        row.outcome for row in fresh.judged(Track.GENERATION, court.shop.gold(Track.GENERATION))
    } == {TaskOutcome.SUCCESS}
    assert ledger.read(assignment, 'precondition') is None
    fresh.judged(Track.GENERATION, submit(court.shop, Track.GENERATION, 'fail();'))
    assert ledger.read(assignment, 'precondition') is not None
