"""The outcomes of a graded suite and of its tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.evaluation.outcomes import AttemptProtocol, Detail
from coevo.evaluation.records import (
    AgentSeconds,
    AttemptCost,
    AttemptNumber,
    AttemptSeed,
    AttemptTokens,
    EngineVersion,
    EvaluationCutoff,
    ExitStatus,
    Harness,
    ModelCutoff,
    ModelCutoffSource,
    ModelName,
    PredictionDigest,
    Said,
    SnapshotDigest,
    TableVersion,
    Tampered,
)
from coevo.languages.fixes import FixRule
from coevo.languages.measures import ErrorClass
from coevo.model.column import Choice, Column, LanguageName, RepoName, SandboxName
from coevo.model.families import (
    ExpectedAction,
    Family,
    Scenario,
    StartBuilder,
    SuiteAdequacy,
    TestRole,
)
from coevo.model.words import Label, Outcome


class MaintainedOutcome(Choice):
    """The outcome of a test that was to be maintained. Exactly one holds."""

    UPDATED = 'updated', 'it was broken at the start and now passes'
    MISSED = 'missed', 'it was broken at the start and still is'
    KEPT = 'kept', 'its text is unchanged from the start, and it passes'
    EDITED = 'edited', 'its text was changed, it passes, and it is not known to be weaker'
    WEAKENED = 'weakened', 'it passes, but misses mutants that both its old version and gold detect'
    BROKEN = 'broken', 'it passed at the start and no longer passes'
    DELETED_RIGHTLY = 'deleted_rightly', 'it was deleted, as in gold'
    DELETED_WRONGLY = 'deleted_wrongly', 'it was deleted, but had to stay'
    REWRITTEN = 'rewritten', 'gold deletes it, but it is still there and passes'
    ADDED = 'added', 'gold and the submission both add a test of this name; it passes'
    NOT_ADDED = 'not_added', 'gold adds a test of this name; the submission has none that passes'
    UNKNOWN = 'unknown', 'runs here contradict its label; left out of every figure'
    UNSCORED = 'unscored', 'no label says what should happen to it'


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedResult:
    """The result of one test of the old file, of the new file, or of both."""

    old_method: Annotated[
        str | None,
        Column('The test in the old file, as `Container#method`. Null if it is not there.'),
    ]
    new_method: Annotated[
        str | None,
        Column('The test in the new file, as `Container#method`. Null if it is not there.'),
    ]
    label: Annotated[Label | None, Column('Its label. Null if it has none.')]
    expected_action: Annotated[
        ExpectedAction,
        Column(
            'What was asked of it: `update` also where it stays in gold and fails at the start.'
        ),
    ]
    submitted: Annotated[
        str | None, Column('The test in the submitted file. Null if there is none.')
    ] = None
    outcome: Annotated[MaintainedOutcome, Column('What became of it.')]
    same_text: Annotated[
        bool | None,
        Column('Whether its tokens are those of the start. Null if one of the two files lacks it.'),
    ] = None
    weaker: Annotated[
        bool | None,
        Column(
            'Whether it misses a mutant that it noticed as it was, and as in gold; no if it and all beside '
            'it in the file are as in one of these. Null if that was not asked, or there is no such mutant.'
        ),
    ] = None


class SuiteOutcome(Choice):
    """The outcome of a suite; exactly one holds. Skipped tests count as absent."""

    SUCCESS = 'success', 'every test passes'
    PARTLY = 'partly', 'some tests pass and some do not'
    EXEC_FAIL = 'exec_fail', 'at least one test compiles, but none passes'
    CMPL_FAIL = 'cmpl_fail', 'no test compiles'
    REGRESSION = 'regression', 'the targets pass, but a test that passed at the start does not'
    NO_TESTS = 'no_tests', 'the file has no tests, or all of them are skipped'
    NO_CHANGE = 'no_change', 'the patch is empty or leaves the file unchanged'
    EMPTY = 'empty', 'there is no test file, or it is empty'
    HRNS_FAIL = 'hrns_fail', 'there is no patch, or it cannot be graded'
    INFRA = 'infra', 'coevo itself failed; left out of every figure'

    @property
    def ran(self) -> bool:
        """True if at least one test compiled and ran."""
        return self in (
            SuiteOutcome.SUCCESS,
            SuiteOutcome.PARTLY,
            SuiteOutcome.REGRESSION,
            SuiteOutcome.EXEC_FAIL,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTest:
    """The result of one test of a submitted file."""

    test_method: Annotated[str, Column('The test, as `Container#method`.')]
    passes: Annotated[bool, Column('Whether it passes each time, and is believed.')]
    outcome: Annotated[Outcome, Column('What it did when it was watched.')]
    signature: Annotated[str | None, Column('What failed and where. Null if nothing failed.')] = (
        None
    )
    tampered: Tampered = None
    unstable: Annotated[str | None, Column('How its runs disagreed. Null if they did not.')] = None
    cascade: Annotated[
        int | None,
        Column(
            'The number of the cause that it fails for, counted from 1 in each suite, if others fail '
            'for it, too. Null otherwise.'
        ),
    ] = None
    smells: Annotated[
        tuple[str, ...] | None,
        Column(
            'Its test smells, sorted, by the names of tsDetect or PyNose. Null if nobody looks for them.'
        ),
    ] = None
    error_class: Annotated[
        ErrorClass | None,
        Column('Why it does not compile or load. Null if it does, or nobody tells.'),
    ] = None
    assertions: Annotated[
        int | None,
        Column(
            'Assertions in its text, not in helpers that it calls. Null if nobody counts them.',
            unit='assertions',
        ),
    ] = None
    lines: Annotated[
        int | None,
        Column('Lines of its text that are not blank. Null likewise.', unit='lines'),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandedResult:
    """The result of a test that is no target, with submitted code."""

    test_method: Annotated[
        str, Column('The test, as `FILE Container#method`; a variant with its number.')
    ]
    role: Annotated[TestRole, Column('What it was asked for.')]
    holds: Annotated[bool, Column('Whether it ended as it was asked for.')]
    outcome: Annotated[Outcome, Column('What it did with the submitted code.')]
    signature: Annotated[str | None, Column('What failed and where. Null if nothing failed.')] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFix:
    """A mechanical fix of a submitted file, before it was graded."""

    rule: Annotated[FixRule, Column('The rule.')]
    text: Annotated[str, Column('The line that was written or, for `import_removed`, removed.')]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReach:
    """The lines, branches and mutants that the passing tests reach, to unite several suites."""

    lines: Annotated[
        tuple[str, ...] | None,
        Column('Lines of the focus that they execute, as `FILE:LINE`. Null if unknown.'),
    ] = None
    killed: Annotated[
        tuple[str, ...] | None,
        Column('The `mutant_id` of mutants with which one fails. Null if they ran with none.'),
    ] = None
    branches: Annotated[
        tuple[str, ...] | None,
        Column(
            'Branches that they take: `FILE:LINE:1` to `FILE:LINE:N` where they are N of a line, '
            'whichever these are. Null if unknown.'
        ),
    ] = None
    unique_lines: Annotated[
        int | None,
        Column(
            'Lines of the focus that exactly one of them executes. Null if unknown.', unit='lines'
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """One attempt at one suite task: a row of `suites.parquet`, which is sorted by `key`."""

    task_id: Annotated[str, Column('The task that was attempted.')]
    attempt: AttemptNumber = 1
    repo: RepoName
    language: LanguageName
    family: Annotated[Family, Column('What kind of question the task is.')]
    scenario: Annotated[
        Scenario | None, Column('What was to be done. Null if the task does not say.')
    ] = None
    start_builder: Annotated[
        StartBuilder | None,
        Column('How the start state is made of the revision. Null if the task does not say.'),
    ] = None
    new_date: Annotated[
        datetime | None, Column('Committer date of the revision. Null if it cannot be read.')
    ]
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the gold tests may have been public, by the snapshot. '
            'Null if it is unknown, which is never clean.'
        ),
    ] = None
    outcome: Annotated[SuiteOutcome, Column('What became of the suite. Exactly one holds.')]
    detail: Annotated[
        Detail | None, Column('Why the outcome is no success. Null if it says so itself.')
    ] = None
    said: Said = ''
    builds: Annotated[
        bool | None,
        Column('Whether every test of the file compiles. Null if that was not tried.'),
    ] = None
    tests: Annotated[
        tuple[SuiteTest, ...], Column('The tests of the submitted file, in its order.')
    ] = ()
    fixes: Annotated[
        tuple[SuiteFix, ...] | None,
        Column(
            'The mechanical fixes of the submitted file, in their order. Null unless it was graded with '
            'them (`--mechanical-fixes`).'
        ),
    ] = None
    adequacy: Annotated[
        SuiteAdequacy | None,
        Column('What the suite is worth. Null if no test passes, or nothing was measured.'),
    ] = None
    reach: Annotated[
        SuiteReach | None,
        Column('Which lines and mutants that is. Null likewise.'),
    ] = None
    maintained: Annotated[
        tuple[MaintainedResult, ...] | None,
        Column(
            'What became of each test of the old and of the new file. Null but for `maintenance`.'
        ),
    ] = None
    demanded: Annotated[
        tuple[DemandedResult, ...] | None,
        Column(
            'What became of the tests beside the targets, which are in `tests`. Those that are not '
            'shown were run if all others held. Null but for `implement`.'
        ),
    ] = None
    success_strict: Annotated[
        bool | None,
        Column(
            'Whether it is a success and the tests that are not shown hold, too. Null for a success '
            'without such tests, and but for `implement`.'
        ),
    ] = None
    start_adequacy: Annotated[
        SuiteAdequacy | None,
        Column('The adequacy of the start state. Null if the file is absent there.'),
    ] = None
    gold_adequacy: Annotated[
        SuiteAdequacy | None, Column('The same of the gold suite, by the snapshot.')
    ] = None
    tries: Annotated[
        int,
        Column(
            'How often it was judged until no trouble of coevo itself was in the way.', unit='times'
        ),
    ] = 1
    cpu_seconds: Annotated[
        float, Column('Processor time of all that was run for it.', unit='seconds')
    ] = 0.0
    seconds: Annotated[
        float, Column('Elapsed time of all that was run for it.', unit='seconds')
    ] = 0.0
    engine_version: EngineVersion
    suites_version: TableVersion
    sandbox: SandboxName
    runtime: Annotated[
        str | None,
        Column(
            'The version of the runtime that built and ran everything. Null if nothing was run.'
        ),
    ] = None
    snapshot_sha256: SnapshotDigest
    prediction_sha256: PredictionDigest
    model: ModelName = None
    harness: Harness = None
    exit_status: ExitStatus = None
    cost_usd: AttemptCost = None
    tokens: AttemptTokens = None

    cutoff: EvaluationCutoff = None
    model_cutoff: ModelCutoff = None
    model_cutoff_source: ModelCutoffSource = None
    agent_seconds: AgentSeconds = None
    seed: AttemptSeed = None
    protocol: Annotated[AttemptProtocol, Column('What an attempt knew of those before it.')] = (
        AttemptProtocol.ONCE
    )

    @property
    def key(self) -> tuple[str, int]:
        """The key by which rows are sorted: the task and the number of the attempt."""
        return self.task_id, self.attempt
