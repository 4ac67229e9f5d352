"""The outcomes of an attempt at a task, and their details, as closed enumerations."""

from __future__ import annotations

from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.column import Choice


class TaskOutcome(Choice):
    """The outcome of a target; exactly one holds (TestEvo-Bench, §4.3)."""

    SUCCESS = 'success', 'the target meets the goal of its track'
    REDUNDANT = 'redundant', 'a generated or extended test passes on the old code as well'
    WEAKENED = 'weakened', 'an extended test no longer kills some mutant that the old test kills'
    EXEC_FAIL = 'exec_fail', 'it compiles but does not pass on the new code'
    CMPL_FAIL = 'cmpl_fail', 'it does not compile on the new code'
    HRNS_FAIL = 'hrns_fail', 'there is no patch, or it cannot be graded'
    INFRA = 'infra', 'coevo itself failed; left out of every figure'

    @property
    def passes_on_new(self) -> bool:
        """True if the target passes on the new code, so that the `…OnPass` measures count it."""
        return self in (TaskOutcome.SUCCESS, TaskOutcome.REDUNDANT, TaskOutcome.WEAKENED)


class Detail(Choice):
    """The reason why an outcome is no success; each belongs to one outcome."""

    NO_PREDICTION = 'no_prediction', 'there is no prediction for the task'
    EMPTY = 'empty', 'the patch is empty'
    TOO_LARGE = 'too_large', 'the patch is too large'
    MALFORMED = 'malformed', 'the patch is not a unified diff'
    BINARY = 'binary', 'the patch has binary content'
    RENAME = 'rename', 'the patch renames or copies a file'
    SYMLINK = 'symlink', 'the patch makes a symbolic link'
    SUBMODULE = 'submodule', 'the patch makes a submodule'
    FILE_MODE = 'file_mode', 'the patch changes the mode of a file'
    PRODUCTION_CODE = 'production_code', 'the patch changes or replaces production code'
    OTHER_FILE = 'other_file', 'the patch changes a file outside the test tree'
    NO_CODE = 'no_code', 'code is asked for, and the patch changes no file of the code'
    NOT_ACCEPTED = 'not_accepted', 'the file contains something that submitted files may not have'
    LINE_ENDS = 'line_ends', 'the patch has different line endings than the file'
    DOES_NOT_APPLY = 'does_not_apply', 'the patch does not apply to the start state'
    TARGET_MISSING = 'target_missing', 'the target is not in the file'
    TARGET_DISABLED = 'target_disabled', 'the target is disabled'
    TOO_MANY_TESTS = 'too_many_tests', 'the file has more tests than coevo grades'
    TAMPERED = 'tampered', 'the test interfered with how coevo runs it or reads its result'
    MISSING_ON_OLD = (
        'missing_on_old',
        'with the old tests in place the target does not run, on either code',
    )

    COMPILE_ERROR = 'compile_error', 'the target does not compile'

    FAIL = 'fail', 'an assertion of the target fails'
    ERROR = 'error', 'the target fails with an error other than an assertion'
    TIMEOUT = 'timeout', 'the target exceeds its time limit'
    UNSTABLE = 'unstable', 'runs under the same conditions disagree'

    PASSES_ON_OLD = 'passes_on_old', 'the target passes on the old code, or is skipped there'

    ORACLE_LOST = 'oracle_lost', 'the target no longer kills some mutant that the old test kills'

    NO_REPOSITORY = 'no_repository', 'the repository cannot be cloned'
    RUNTIME_MISSING = (
        'runtime_missing',
        'the release of the runtime that the task was made with is not here and cannot be installed',
    )
    NOT_BUILT = (
        'not_built',
        'a revision does not build here, although it was built when the task was made',
    )
    START_STATE = 'start_state', 'the start file differs from the one that the task was made with'
    PRECONDITION = (
        'precondition',
        'in the start state the old tests have a different outcome than the task needs',
    )
    TROUBLE = 'trouble', 'the network, a disk or a daemon failed, and failed again on retry'
    BUG = 'bug', 'a bug in coevo; the next evaluation tries again'


class Placebo(Choice):
    """The kind of placebos that a test was run with (`coevo.measures.placebos`), weakest first."""

    NOT_OFFERED = NOT_OFFERED, 'coevo makes no such edits for the language'
    NONE = (
        'none',
        'with none: the gold test fails with every kind of edit, or the code has no place for one',
    )
    IN_PLACE = 'in_place', 'edits that leave code in its place'
    MOVED = 'moved', 'edits that move code'
    REWRITTEN = (
        'rewritten',
        'edits that also write its constants, operators, conditions and names otherwise',
    )


class AttemptProtocol(Choice):
    """The relation between several attempts at one task."""

    ONCE = 'once', 'no attempt knows of the others'
    FEEDBACK = (
        'feedback',
        'an attempt continues the file of the previous one and knows its result',
    )
    DIVERSIFY = 'diversify', 'an attempt adds a test file that covers what earlier files leave out'
