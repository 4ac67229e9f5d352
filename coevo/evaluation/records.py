"""The words of an evaluation: what is submitted, what comes of it, and the row of a method."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.evaluation.result_columns import AgentSeconds
from coevo.evaluation.result_columns import AttemptCost
from coevo.evaluation.result_columns import AttemptNumber
from coevo.evaluation.result_columns import AttemptSeed
from coevo.evaluation.result_columns import AttemptTokens
from coevo.evaluation.result_columns import EngineVersion
from coevo.evaluation.result_columns import EvaluationCutoff
from coevo.evaluation.result_columns import ExitStatus
from coevo.evaluation.result_columns import Harness
from coevo.evaluation.result_columns import ModelCutoff
from coevo.evaluation.result_columns import ModelCutoffSource
from coevo.evaluation.result_columns import ModelName
from coevo.evaluation.result_columns import PredictionDigest
from coevo.evaluation.result_columns import Said
from coevo.evaluation.result_columns import SnapshotDigest
from coevo.evaluation.result_columns import TableVersion
from coevo.evaluation.result_columns import Tampered
from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.choices import Choice
from coevo.model.column import Column
from coevo.model.column import MethodId
from coevo.model.column import RepoName
from coevo.model.column import SandboxName
from coevo.model.quality import Coverage
from coevo.model.quality import Mutation
from coevo.model.quality import PitTrouble
from coevo.model.words import Cause
from coevo.model.words import Outcome
from coevo.model.words import Track


class TaskOutcome(Choice):
    """What comes of a target method, mutually exclusive (TestEvo-Bench, §4.3)."""

    SUCCESS = 'success', 'the target does what its track asks for'
    REDUNDANT = 'redundant', 'a generated test passes on the old code as well'
    EXEC_FAIL = 'exec_fail', 'it compiles and does not pass on the new code'
    CMPL_FAIL = 'cmpl_fail', 'it does not compile on the new code'
    HRNS_FAIL = 'hrns_fail', 'there is no patch, or none that can be judged'
    INFRA = 'infra', 'trouble of ours; outside of every figure'

    @property
    def passes_on_new(self) -> bool:
        """Whether the `…OnPass` measures count it."""
        return self in (TaskOutcome.SUCCESS, TaskOutcome.REDUNDANT)


class Detail(Choice):
    """Why an outcome is no success; each belongs to one outcome."""

    NO_PREDICTION = 'no_prediction', 'there is no prediction for the task'
    EMPTY = 'empty', 'the patch is empty'
    TOO_LARGE = 'too_large', 'the patch is too large'
    MALFORMED = 'malformed', 'the patch is no unified diff'
    BINARY = 'binary', 'the patch has binary content'
    RENAME = 'rename', 'the patch renames or copies a file'
    SYMLINK = 'symlink', 'the patch makes a symbolic link'
    SUBMODULE = 'submodule', 'the patch makes a submodule'
    FILE_MODE = 'file_mode', 'the patch changes the mode of a file'
    PRODUCTION_CODE = 'production_code', 'the patch changes production code, or stands in its place'
    OTHER_FILE = 'other_file', 'the patch changes a file that is not of the test tree'
    LINE_ENDS = 'line_ends', 'the patch has other line ends than the file'
    DOES_NOT_APPLY = 'does_not_apply', 'the patch does not apply to the start state'
    TARGET_MISSING = 'target_missing', 'the target is not in the file'
    TARGET_DISABLED = 'target_disabled', 'the target is disabled'
    TOO_MANY_TESTS = 'too_many_tests', 'the file has more tests than are judged'
    TAMPERED = 'tampered', 'the test interfered with how it is run or reported'
    MISSING_ON_OLD = 'missing_on_old', 'with the old tests the target is not run, whatever the code'

    COMPILE_ERROR = 'compile_error', 'the target does not compile'

    FAIL = 'fail', 'an assertion of the target fails'
    ERROR = 'error', 'the target fails by something other than an assertion'
    TIMEOUT = 'timeout', 'the target does not end in its time'
    UNSTABLE = 'unstable', 'runs under the same conditions do not agree'

    PASSES_ON_OLD = 'passes_on_old', 'the target passes on the old code, or is skipped there'

    NO_REPOSITORY = 'no_repository', 'the repository cannot be cloned'
    NOT_BUILT = 'not_built', 'an end does not build that was built when the task was made'
    START_STATE = 'start_state', 'the start file is not the one that the task was made with'
    PRECONDITION = 'precondition', 'at the start the targets are not broken, or other tests are'
    TROUBLE = 'trouble', 'network, disk or a daemon failed, also when tried again'
    BUG = 'bug', 'a fault of coevo; the next evaluation tries again'


class Placebo(Choice):
    """With which edits of no effect a test was run (`coevo.measures.placebos`), the weakest first."""

    NOT_OFFERED = NOT_OFFERED, 'the language makes no such edits'
    NONE = 'none', 'with none: the gold test fails with every kind, or there is no place for one'
    IN_PLACE = 'in_place', 'edits that leave code in its place'
    MOVED = 'moved', 'edits that move code'


class AttemptProtocol(Choice):
    """How several attempts at one task know of each other."""

    ONCE = 'once', 'attempts know nothing of each other'
    FEEDBACK = (
        'feedback',
        'an attempt begins with what the one before left, and is told what became of it',
    )
    DIVERSIFY = 'diversify', 'an attempt adds a file to those before it, for what they leave out'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What was submitted for a task: `patch`, a unified diff against its start state, or `file`, the
    whole test file instead.

    attempt  counts from 1; `protocol` says what it knew of those before it
    seed     what the agent drew by, as it says
    seconds  the time that the agent took, as it says
    """

    task_id: str
    patch: bytes | None
    file: bytes | None = None
    attempt: int = 1
    seed: int | None = None
    protocol: AttemptProtocol = AttemptProtocol.ONCE
    model: str | None = None
    harness: str | None = None
    exit_status: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the outcomes: the task and what was submitted alone."""
        content = b'\0none' if self.patch is None else b'\0patch\0' + self.patch
        if self.file is not None:
            content = b'\0file\0' + self.file
        return hashlib.sha256(self.task_id.encode() + content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """Changes of the new code with which the submitted test was run, and gold's: those they notice.

    A change is noticed by a test that does not pass with it. `both` is that of the two sets'
    intersection. Gold's are those of the snapshot, counted on the same changes.
    """

    count: Annotated[
        int, Column('Changes of the new code that the tests were run with.', unit='changes')
    ]
    pred: Annotated[int, Column('Changes that the submitted test notices.', unit='changes')]
    gold: Annotated[int, Column('Changes that the gold test notices.', unit='changes')]
    both: Annotated[int, Column('Changes that both notice.', unit='changes')]
    not_run: Annotated[int, Column('Changes that were not run.', unit='changes')] = 0
    gold_ran: Annotated[
        int | None,
        Column(
            'Of those that gold notices, those with which it ran and failed, so that it '
            'did more than not compile. Null if that is not known.',
            unit='changes',
        ),
    ] = None
    both_ran: Annotated[
        int | None,
        Column(
            'Of these, those with which the submitted test ran and failed. Null if that '
            'is not known.',
            unit='changes',
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OraclePreservation:
    """Mutants of unchanged dependency lines that the old test killed on old code (updates)."""

    count: Annotated[
        int,
        Column(
            'Mutants of unchanged lines that the old test kills on the old code.', unit='mutants'
        ),
    ]
    lost: Annotated[
        int, Column('Of these, those that the updated test no longer kills.', unit='mutants')
    ]
    not_run: Annotated[int, Column('Mutants that were not run.', unit='mutants')] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PitKills:
    """PIT's mutants of the changed methods, killed by the submitted test and by gold's, as PIT says.

    Advisory: its minions run the submitted test and report their own kills, so that a test could
    claim any. No outcome and no flag follows from it.
    """

    count: Annotated[
        int | None,
        Column(
            'Mutants of PIT that both tests were run with. Null if neither is known.',
            unit='mutants',
        ),
    ] = None
    pred: Annotated[
        int | None,
        Column(
            'Mutants that the submitted test kills, as PIT says. Null if not known.', unit='mutants'
        ),
    ] = None
    gold: Annotated[
        int | None,
        Column('Mutants that the gold test kills, as PIT says. Null if not known.', unit='mutants'),
    ] = None
    trouble_pred: Annotated[
        PitTrouble | None,
        Column('Why nothing is known of the submitted test. Null if something is.'),
    ] = None
    trouble_gold: Annotated[
        PitTrouble | None, Column('Why nothing is known of the gold test. Null if something is.')
    ] = None
    cpu_seconds: Annotated[float, Column('Processor time that PIT took.', unit='seconds')] = 0.0

    @property
    def may_be_known_later(self) -> bool:
        """Whether it was trouble of ours that was in the way."""
        return PitTrouble.TROUBLE in (self.trouble_pred, self.trouble_gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adequacy:
    """What a submitted test that passes on the new code is worth, gold's beside it; None: unknown."""

    executes_delta: Annotated[
        bool | None, Column('Whether the test executes a changed dependency. Null if unknown.')
    ] = None
    reaches_assertion: Annotated[
        bool | None,
        Column('Whether it executes an assertion of its own or of a helper. Null if unknown.'),
    ] = None
    coverage_pred: Annotated[
        Coverage | None,
        Column('What the submitted test covers of the dependencies of the task. Null if unknown.'),
    ] = None
    coverage_gold: Annotated[
        Coverage | None, Column('What the gold test covers of them. Null if unknown.')
    ] = None
    mutants: Annotated[
        Detections | None,
        Column('How many of the released mutants each test notices. Null if unknown.'),
    ] = None
    reversals: Annotated[
        Detections | None,
        Column(
            'How many parts of the change each test notices, if they are undone alone. '
            'Null if unknown.'
        ),
    ] = None
    oracle: Annotated[
        OraclePreservation | None,
        Column(
            'Which mutants an updated test no longer kills, though the old one did. Null '
            'for other tracks, or if unknown.'
        ),
    ] = None
    smells_pred: Annotated[
        tuple[str, ...],
        Column(
            'Test smells of the submitted test, by the names of tsDetect or PyNose; `not_offered` '
            'alone if nobody looks for them in the language.'
        ),
    ] = ()
    smells_gold: Annotated[tuple[str, ...], Column('Test smells of the gold test.')] = ()
    cpu_seconds: Annotated[
        float, Column('Processor time of these measurements.', unit='seconds')
    ] = 0.0
    pit: Annotated[
        PitKills | None,
        Column(
            'What PIT says of both tests; a second opinion that decides nothing. Null if '
            'it was not asked.'
        ),
    ] = None


Key = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodResult:
    """One target method in one attempt at a task: a row of `results.parquet`, sorted by `key`."""

    task_id: Annotated[str, Column('The task that was attempted.')]
    attempt: AttemptNumber = 1
    test_method: Annotated[str, Column('The target, as `Container#method`.')]
    method_id: MethodId
    repo: RepoName
    track: Annotated[Track, Column('What was to be done.')]
    new_date: Annotated[
        datetime | None, Column('Committer date of the new revision. Null if it cannot be read.')
    ]
    cause: Annotated[
        Cause | None,
        Column(
            'Why the test is broken in the cell that decides its label, by the snapshot. '
            'Null if none is.'
        ),
    ]

    outcome: Annotated[TaskOutcome, Column('What became of the target. Exactly one holds.')]
    outcome_by_module: Annotated[
        TaskOutcome,
        Column(
            "The same by the verdict of the project's own tool, for which one broken file"
            ' breaks its module.'
        ),
    ]
    detail: Annotated[Detail | None, Column('Why the outcome is no success. Null for a success.')]
    said: Said = ''
    tampered: Tampered = None

    injected: Annotated[
        bool, Column('Whether the patch was applied and the target stands in its file.')
    ]
    unstable: Annotated[
        str | None, Column('How runs under the same conditions disagreed. Null if they did not.')
    ] = None
    placebo: Annotated[
        Placebo | None,
        Column('With which edits without effect the test was run. Null if with none.'),
    ] = None
    compiled: Annotated[
        bool | None,
        Column('Whether the method compiles on the new code. Null if it was not tried.'),
    ] = None
    module_compiled: Annotated[
        bool | None,
        Column('Whether its whole module compiles on the new code. Null if it was not tried.'),
    ] = None
    new: Annotated[
        Outcome | None, Column('What the test did on the new code. Null if it was not run.')
    ] = None
    new_signature: Annotated[
        str | None, Column('What failed on the new code and where. Null if nothing failed.')
    ] = None
    old: Annotated[
        Outcome | None,
        Column(
            'What a generated test did on the old code. Null for other tracks, or if it '
            'was not run.'
        ),
    ] = None
    old_by_module: Annotated[
        Outcome | None, Column('The same by the verdict for its whole module.')
    ] = None
    old_signature: Annotated[
        str | None, Column('What failed on the old code and where. Null if nothing failed.')
    ] = None
    precondition: Annotated[
        Outcome | None,
        Column(
            'What the test does on the new code at the start, before the patch. Null for '
            'generation, or if it was not run.'
        ),
    ] = None
    reads_sources: Annotated[
        bool | None,
        Column(
            'Whether the gold test fails if the production sources do not lie beside it. '
            'Null if nothing was run.'
        ),
    ] = None
    others_asked: Annotated[
        int | None,
        Column(
            'Other tests of the file that passed at the start or with the patch; at most '
            '200. Null if no target passes.',
            unit='tests',
        ),
    ] = None
    others_lost: Annotated[
        int | None,
        Column(
            'Of these, tests that the patch breaks and the gold file does not. Null if no'
            ' target passes.',
            unit='tests',
        ),
    ] = None

    adequacy: Annotated[
        Adequacy | None,
        Column(
            'What the submitted test is worth, beside the gold test. Null if it was not measured.'
        ),
    ] = None
    mutation_gold: Annotated[
        Mutation | None,
        Column('The mutants of the gold test, by the snapshot. Null if there are none.'),
    ] = None
    success_strict: Annotated[
        bool | None,
        Column(
            'Whether it is a success and tells something of the change: it executes a '
            'changed dependency, reaches an assertion, notices a part of the change that '
            'gold notices, kills a mutant if gold kills any, and costs no other test of '
            'the file. Null if that is unknown.'
        ),
    ] = None
    vacuous: Annotated[
        bool | None,
        Column(
            'Whether a test that passes on the new code executes no changed dependency, '
            'or reaches no assertion. Null if it does not pass, or if that is unknown.'
        ),
    ] = None
    oracle_preserved: Annotated[
        bool | None,
        Column(
            'Whether an updated test still notices what the old one did. Null for other '
            'tracks, or if unknown.'
        ),
    ] = None

    output: Annotated[str, Column('The end of what the test process wrote on the new code.')] = ''
    tries: Annotated[
        int,
        Column(
            'How often the target was run until no trouble of ours was in the way.', unit='times'
        ),
    ] = 1
    cpu_seconds: Annotated[
        float, Column('Processor time of all that was run for the target.', unit='seconds')
    ] = 0.0
    seconds: Annotated[
        float, Column('Elapsed time of all that was run for the target.', unit='seconds')
    ] = 0.0

    engine_version: EngineVersion
    results_version: TableVersion
    sandbox: SandboxName
    runtime: Annotated[
        str | None,
        Column(
            'The version of the runtime (JDK, interpreter) that built and ran everything.'
            ' Null if nothing was run.'
        ),
    ] = None
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the gold tests of the task may have been public, by '
            'the snapshot. Null if it is unknown, which is never clean.'
        ),
    ] = None
    cutoff: EvaluationCutoff = None
    snapshot_sha256: SnapshotDigest
    prediction_sha256: PredictionDigest

    model: ModelName = None
    model_cutoff: ModelCutoff = None
    model_cutoff_source: ModelCutoffSource = None
    harness: Harness = None
    exit_status: ExitStatus = None
    cost_usd: AttemptCost = None
    tokens: AttemptTokens = None
    agent_seconds: AgentSeconds = None
    seed: AttemptSeed = None
    protocol: Annotated[AttemptProtocol, Column('What an attempt knew of those before it.')] = (
        AttemptProtocol.ONCE
    )

    @property
    def key(self) -> Key:
        return self.task_id, self.attempt, self.test_method, self.method_id
