"""The words of an evaluation: what is submitted, what comes of it, and the row of a method."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.quality import Coverage
from coevo.model.quality import Mutation
from coevo.model.quality import PitTrouble
from coevo.model.records import Cause
from coevo.model.records import Outcome
from coevo.model.records import Track


class TaskOutcome(StrEnum):
    """What comes of a target method, mutually exclusive (TestEvo-Bench, §4.3)."""

    SUCCESS = 'success'
    REDUNDANT = 'redundant'  # generation: passes on the old code, too
    EXEC_FAIL = 'exec_fail'
    CMPL_FAIL = 'cmpl_fail'
    HRNS_FAIL = 'hrns_fail'  # no patch, or none that can be judged
    INFRA = 'infra'  # trouble of ours: outside of every denominator

    @property
    def passes_on_new(self) -> bool:
        """Whether the `…OnPass` measures count it."""
        return self in (TaskOutcome.SUCCESS, TaskOutcome.REDUNDANT)


class Detail(StrEnum):
    """Why an outcome is no success; each belongs to one outcome."""

    NO_PREDICTION = 'no_prediction'
    EMPTY = 'empty'
    TOO_LARGE = 'too_large'
    MALFORMED = 'malformed'
    BINARY = 'binary'
    RENAME = 'rename'
    SYMLINK = 'symlink'
    SUBMODULE = 'submodule'
    FILE_MODE = 'file_mode'
    PRODUCTION_CODE = 'production_code'
    OTHER_FILE = 'other_file'
    LINE_ENDS = 'line_ends'
    DOES_NOT_APPLY = 'does_not_apply'
    TARGET_MISSING = 'target_missing'
    TARGET_DISABLED = 'target_disabled'
    TAMPERED = 'tampered'

    COMPILE_ERROR = 'compile_error'

    FAIL = 'fail'
    ERROR = 'error'
    TIMEOUT = 'timeout'
    UNSTABLE = 'unstable'  # its runs under the same conditions do not agree

    PASSES_ON_OLD = 'passes_on_old'

    NO_REPOSITORY = 'no_repository'  # nowhere to clone from, or it could not be cloned
    NOT_BUILT = 'not_built'  # an end that was built when the task was made
    START_STATE = 'start_state'  # the start file is not the one that the task was made with
    PRECONDITION = 'precondition'  # at the start the targets are not broken, or siblings are
    TROUBLE = 'trouble'  # network, disk, a daemon, after the last retry
    BUG = 'bug'  # of coevo's own; the next evaluation tries again


class Placebo(StrEnum):
    """With which edits of no effect a test was run (`coevo.measures.placebos`), the weakest first."""

    NOT_OFFERED = NOT_OFFERED  # nobody knows any in this language
    NONE = 'none'  # gold fails with every kind, or there is nothing to put one in
    IN_PLACE = 'in_place'
    MOVED = 'moved'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What was submitted for a task; `patch` is a unified diff against its start state.

    seconds  the time that the agent took, as it says
    """

    task_id: str
    patch: bytes | None
    model: str | None = None
    harness: str | None = None
    exit_status: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the outcomes: the task and the patch alone."""
        content = b'\0none' if self.patch is None else b'\0patch\0' + self.patch
        return hashlib.sha256(self.task_id.encode() + content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """Changes of the new code with which the submitted test was run, and gold's: those they notice.

    A change is noticed by a test that does not pass with it. `both` is that of the two sets'
    intersection. Gold's are those of the snapshot, counted on the same changes.

    gold_ran  of gold's, those with which it ran and failed: that a test no longer compiles says
              only that it names what is gone; None in results that do not tell
    both_ran  of these, those with which the submitted test ran and failed
    """

    count: int
    pred: int
    gold: int
    both: int
    not_run: int = 0
    gold_ran: int | None = None
    both_ran: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OraclePreservation:
    """Mutants of unchanged dependency lines that the old test killed on old code (updates).

    lost  of these, those that the updated test no longer kills on the new code
    """

    count: int
    lost: int
    not_run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PitKills:
    """PIT's mutants of the changed methods, killed by the submitted test and by gold's, as PIT says.

    Advisory: its minions run the submitted test and report their own kills, so that a test could
    claim any. No outcome and no flag follows from it.

    count       mutants that both were run against; of the one that is known, where one is
    pred, gold  None where it is not known, for the reason in trouble_…
    """

    count: int | None = None
    pred: int | None = None
    gold: int | None = None
    trouble_pred: PitTrouble | None = None
    trouble_gold: PitTrouble | None = None
    cpu_seconds: float = 0.0

    @property
    def may_be_known_later(self) -> bool:
        """Whether it was trouble of ours that was in the way."""
        return PitTrouble.TROUBLE in (self.trouble_pred, self.trouble_gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adequacy:
    """What a submitted test that passes on the new code is worth, gold's beside it; None: unknown.

    executes_delta     it executes a changed dependency
    reaches_assertion  at least one of its own or its helpers' assertions is executed
    coverage_*         of the task's changed dependencies (TestEvo-Bench, A.4)
    mutants            those that were released
    reversals          parts of the change, each undone alone
    smells_*           of tsDetect, sorted; `not_offered` alone where nobody looks for them
    pit                where it was asked for
    """

    executes_delta: bool | None = None
    reaches_assertion: bool | None = None
    coverage_pred: Coverage | None = None
    coverage_gold: Coverage | None = None
    mutants: Detections | None = None
    reversals: Detections | None = None
    oracle: OraclePreservation | None = None
    smells_pred: tuple[str, ...] = ()
    smells_gold: tuple[str, ...] = ()
    cpu_seconds: float = 0.0
    pit: PitKills | None = None


Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodResult:
    """One target method of one task: a row of `results.parquet`, which has them sorted by `key`.

    test_method        `Class#method`, as in the task's `test_methods`
    new_date           committer date of the new revision; half-years go by it
    cause              why the old test, or the new one on old code, is broken, by the snapshot
    outcome_by_module  as a compiler would have it to which one broken file breaks its module
    said               what `detail` leaves open, for a person to read; bounded
    tampered           the kind of tampering that was seen, see ARCHITECTURE, "Submitted patches"
    injected           whether the patch was applied and the target stands in its file
    compiled           whether the method compiles on the new code; None where it came not so far
    module_compiled    whether its whole module does
    unstable           where its runs did not agree, and how; None where they did
    placebo            the weakest kind of edit of no effect that it was run with, as gold passes with
                       it; None where none was asked
    new, old           what it did on the new code, and (generation) in the old tree on old code
    precondition       what the old test does on the new code (update, repair), without the patch
    reads_sources      whether gold fails without main sources: then every cell of the task has those
                       of the new revision, else none; None where nothing was run
    others_asked       other tests of the file, and of classes that inherit from it, that pass at the
                       start or with the patch; at most 200; None where no target passes on the new
                       code
    others_lost        those of them that do not with the patch, though they do with gold's file
    mutation_gold      that of the snapshot, whatever becomes of the submitted test (A.6)
    success_strict, vacuous, oracle_preserved
                       follow from outcome and adequacy (`coevo.evaluation.measuring.strict`); None: unknown
    output             what its process on the new code wrote, both streams in order; its end
    seconds            wall time of all that was run for the method, its share of what is common
    agent_seconds      what the prediction says that the agent took
    """

    task_id: str
    test_method: str
    method_id: str
    repo: str
    track: Track
    new_date: datetime | None
    cause: Cause | None

    outcome: TaskOutcome
    outcome_by_module: TaskOutcome
    detail: Detail | None
    said: str = ''
    tampered: str | None = None

    injected: bool
    unstable: str | None = None
    placebo: Placebo | None = None
    compiled: bool | None = None
    module_compiled: bool | None = None
    new: Outcome | None = None
    new_signature: str | None = None
    old: Outcome | None = None
    old_by_module: Outcome | None = None
    old_signature: str | None = None
    precondition: Outcome | None = None
    reads_sources: bool | None = None
    others_asked: int | None = None
    others_lost: int | None = None

    adequacy: Adequacy | None = None
    mutation_gold: Mutation | None = None
    success_strict: bool | None = None
    vacuous: bool | None = None
    oracle_preserved: bool | None = None

    output: str = ''
    tries: int = 1  # how often it was run until no trouble of ours was in the way
    cpu_seconds: float = 0.0
    seconds: float = 0.0

    engine_version: int
    results_version: int
    sandbox: str
    runtime: str | None = None  # with which it was built and run; None where nothing was
    snapshot_sha256: str  # of its manifest
    prediction_sha256: str  # `Prediction.digest`

    model: str | None = None
    harness: str | None = None
    exit_status: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    agent_seconds: float | None = None

    @property
    def key(self) -> Key:
        return self.task_id, self.test_method, self.method_id
