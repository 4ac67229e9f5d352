"""The outcomes of an attempt at a task, and their details, as closed enumerations."""

from __future__ import annotations

from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.choices import Choice


class TaskOutcome(Choice):
    """The outcome of a target; exactly one holds (TestEvo-Bench, §4.3)."""

    SUCCESS = 'success', 'the target does what its track asks for'
    REDUNDANT = 'redundant', 'a generated or extended test passes on the old code as well'
    WEAKENED = 'weakened', 'an extended test no longer kills mutants that the old test kills'
    EXEC_FAIL = 'exec_fail', 'it compiles and does not pass on the new code'
    CMPL_FAIL = 'cmpl_fail', 'it does not compile on the new code'
    HRNS_FAIL = 'hrns_fail', 'there is no patch, or none that can be judged'
    INFRA = 'infra', 'trouble of ours; outside of every figure'

    @property
    def passes_on_new(self) -> bool:
        """True if the target passes on the new code, so that the `…OnPass` measures count it."""
        return self in (TaskOutcome.SUCCESS, TaskOutcome.REDUNDANT, TaskOutcome.WEAKENED)


class Detail(Choice):
    """The reason why an outcome is no success; each belongs to one outcome."""

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
    NOT_ACCEPTED = 'not_accepted', 'the file brings what no submitted file may'
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

    ORACLE_LOST = 'oracle_lost', 'the target no longer kills mutants that the old test kills'

    NO_REPOSITORY = 'no_repository', 'the repository cannot be cloned'
    NOT_BUILT = 'not_built', 'an end does not build that was built when the task was made'
    START_STATE = 'start_state', 'the start file is not the one that the task was made with'
    PRECONDITION = (
        'precondition',
        'at the start the old tests have another outcome than the task needs',
    )
    TROUBLE = 'trouble', 'network, disk or a daemon failed, also when tried again'
    BUG = 'bug', 'a fault of coevo; the next evaluation tries again'


class Placebo(Choice):
    """The kind of placebos that a test was run with (`coevo.measures.placebos`), weakest first."""

    NOT_OFFERED = NOT_OFFERED, 'the language makes no such edits'
    NONE = 'none', 'with none: the gold test fails with every kind, or there is no place for one'
    IN_PLACE = 'in_place', 'edits that leave code in its place'
    MOVED = 'moved', 'edits that move code'


class AttemptProtocol(Choice):
    """The relation between several attempts at one task."""

    ONCE = 'once', 'attempts know nothing of each other'
    FEEDBACK = (
        'feedback',
        'an attempt begins with what the one before left, and is told what became of it',
    )
    DIVERSIFY = 'diversify', 'an attempt adds a file to those before it, for what they leave out'
