"""Reasons why rows leave the funnel. Each reason belongs to one stage and has one explanation.

The values are stored in `drops.reason` and are never renamed. Filters define their reasons
themselves, in a package that is not part of the wheel; `filter_reasons.toml` is the copy for
programs that read a snapshot.
"""

from __future__ import annotations

import tomllib
from enum import StrEnum
from importlib.resources import files

from coevo.model.labels import list_contradiction_reasons, list_former_contradiction_reasons
from coevo.model.words import Cell, Outcome, Stage


class DiffReason(StrEnum):
    """A reason why the difference of a pair contains nothing to run."""

    UNREADABLE_SOURCE = 'unreadable_source'
    COMMENTS_OR_FORMATTING_ONLY = 'comments_or_formatting_only'
    NO_SOURCE_OR_TEST_CHANGE = 'no_source_or_test_change'
    NO_TEST_FOUND = 'no_test_found'
    NO_TEST_CHANGE = 'no_test_change'


class Reason(StrEnum):
    """A reason why something left the funnel outside of a filter."""

    ROOT_COMMIT = 'root_commit'
    NO_CODE_CHANGE = 'no_code_change'
    MERGE_WITHOUT_CHANGE = 'merge_without_change'
    SAME_CODE_STATE = 'same_code_state'
    OLDEST_STATE = 'oldest_state'
    EMPTY_WINDOW = 'empty_window'
    UNREADABLE_COMMIT = 'unreadable_commit'

    UNREADABLE_OBJECT = 'unreadable_object'
    OBJECT_MISSING = 'object_missing'
    RUNTIME_MISSING = 'runtime_missing'

    UNPINNED_DEPENDENCY = 'unpinned_dependency'
    SNAPSHOT_DEPENDENCY = 'snapshot_dependency'
    PARENT_MISSING = 'parent_missing'
    PLAIN_HTTP_REPOSITORY = 'plain_http_repository'
    OTHER_REPOSITORY = 'other_repository'
    LIBRARY_MISSING = 'library_missing'
    FLAKY = 'flaky'
    ORDER_DEPENDENT = 'order_dependent'
    NOT_REPRODUCED = 'not_reproduced'
    UNLIKE_THE_PROJECT = 'unlike_the_project'

    LICENCE_UNKNOWN = 'licence_unknown'
    LICENCE_NOT_OSI = 'licence_not_osi'
    WITHDRAWN = 'withdrawn'

    CAUSE_BUILD = 'cause_build'
    CAUSE_ENVIRONMENT = 'cause_environment'
    TIMEOUT_ALONE = 'timeout_alone'
    BUILD_CHANGED = 'build_changed'

    TOO_MANY_TESTS = 'too_many_tests'
    NO_TEST_CLASS = 'no_test_class'
    UNSTABLE = 'unstable'
    NOT_PASSING = 'not_passing'
    NOT_TRACED = 'not_traced'
    PASS_NOT_CONFIRMED = 'pass_not_confirmed'
    NO_EVIDENCE = 'no_evidence'
    AMBIGUOUS_CLASS = 'ambiguous_class'
    NO_DOMINANT_CLASS = 'no_dominant_class'
    FILE_NEEDED = 'file_needed'
    THIRD_PARTY_FILE = 'third_party_file'
    TOO_FEW_TESTS = 'too_few_tests'
    FILE_TOO_SHORT = 'file_too_short'
    MOSTLY_COMMENTS = 'mostly_comments'
    TESTS_TOO_SLOW = 'tests_too_slow'
    LOW_COVERAGE = 'low_coverage'
    TRIVIAL_FOCAL = 'trivial_focal'
    NOTHING_TO_ADD = 'nothing_to_add'
    START_BROKEN = 'start_broken'
    START_NO_WORSE = 'start_no_worse'
    NO_OLDER_CODE = 'no_older_code'
    SAME_TEST_FILE = 'same_test_file'
    NO_OLDER_TESTS = 'no_older_tests'
    SAME_AS_OLDER = 'same_as_older'
    NO_DEFECT = 'no_defect'
    TOO_SIMPLE = 'too_simple'
    NOT_SELF_CONTAINED = 'not_self_contained'
    TOO_FEW_FILES = 'too_few_files'
    TOO_MANY_FILES = 'too_many_files'
    TOO_MANY_LINES = 'too_many_lines'
    NO_CROSS_FILE_CALL = 'no_cross_file_call'
    NOT_TESTED = 'not_tested'
    FILE_NOT_PUBLISHED = 'file_not_published'

    START_STATE_INVALID = 'start_state_invalid'
    NOTHING_TO_NAME = 'nothing_to_name'
    NOTHING_TO_KEEP = 'nothing_to_keep'
    IN_ANOTHER_WALK = 'in_another_walk'
    TASK_WITHDRAWN = 'task_withdrawn'


# Reasons why code cannot be built because a library is not available. The languages' builders use
# these names.
LIBRARY_REASONS = frozenset(
    {
        Reason.UNPINNED_DEPENDENCY,
        Reason.SNAPSHOT_DEPENDENCY,
        Reason.PARENT_MISSING,
        Reason.PLAIN_HTTP_REPOSITORY,
        Reason.OTHER_REPOSITORY,
        Reason.LIBRARY_MISSING,
    }
)

_WALK = {
    Reason.ROOT_COMMIT: 'The commit has no parent: there is no change to look at.',
    Reason.NO_CODE_CHANGE: 'No file of the language differs from the first parent.',
    Reason.MERGE_WITHOUT_CHANGE: (
        'The merge touches no file of the language that Git did not merge by itself.'
    ),
    Reason.SAME_CODE_STATE: 'A newer commit of the walk has the same files of the language.',
    Reason.OLDEST_STATE: 'The walk has no older state to compare with.',
    Reason.EMPTY_WINDOW: 'No older state of the walk lies within the hours of a window.',
    Reason.UNREADABLE_COMMIT: 'An object of the commit is missing or corrupt in the clone.',
    Reason.OBJECT_MISSING: 'The clone was made from a partial clone, which lacks a tree of the commit.',
}
_PAIR = {
    DiffReason.COMMENTS_OR_FORMATTING_ONLY: 'Only comments or white space differ.',
    DiffReason.NO_SOURCE_OR_TEST_CHANGE: 'The files that differ are neither source nor tests.',
    DiffReason.NO_TEST_FOUND: 'No test method was found in either revision.',
    DiffReason.NO_TEST_CHANGE: (
        'No test was changed or inserted, nor anything that a test uses of the tests.'
    ),
    Reason.UNREADABLE_OBJECT: 'A file of the pair is missing or corrupt in the clone.',
    Reason.OBJECT_MISSING: (
        "The clone was made from a partial clone, which lacks a file that the pair's build or "
        'tests need.'
    ),
    Reason.RUNTIME_MISSING: (
        'Nothing is built at one of the two revisions, and a runtime (JDK, interpreter) that '
        'coevo wanted to try is not available on this machine.'
    ),
    DiffReason.UNREADABLE_SOURCE: (
        'A changed file is larger or more deeply nested than coevo reads.'
    ),
}
_LABEL = {
    Reason.UNPINNED_DEPENDENCY: (
        'A dependency names the latest version or a range without a lower bound, so another '
        'day would give another library. Before engine 9 this was any range, before engine 7 '
        'also a snapshot.'
    ),
    Reason.SNAPSHOT_DEPENDENCY: (
        'A library, parent or plugin has a snapshot version, which may be replaced or removed '
        'later.'
    ),
    Reason.PARENT_MISSING: (
        'A build file that this one inherits or imports was found in none of the searched library '
        'repositories.'
    ),
    Reason.PLAIN_HTTP_REPOSITORY: (
        'A library or plugin was found in none of the searched library repositories. The '
        'build files name others, but only by plain http, which the build tool refuses.'
    ),
    Reason.OTHER_REPOSITORY: (
        'A library or plugin was found in none of the searched library repositories. The '
        'build files name another one, which coevo does not search and which may be gone.'
    ),
    Reason.LIBRARY_MISSING: (
        'A library or plugin is in no repository, for example because its version was withdrawn.'
    ),
    Reason.FLAKY: 'Runs in the same order disagree in outcome or failure.',
    Reason.ORDER_DEPENDENT: 'The outcome depends on which tests ran before in the same process.',
    Reason.NOT_REPRODUCED: 'A later run of a cell that decides the label had another outcome.',
    Reason.UNLIKE_THE_PROJECT: (
        "The test does not pass on its own revision here, but the project's own test command "
        'reports something else.'
    ),
}
_PUBLISH = {
    Reason.LICENCE_UNKNOWN: (
        'Neither a licence file nor the build file of the new revision names a known licence.'
    ),
    Reason.LICENCE_NOT_OSI: 'The OSI has not approved the licence of the new revision.',
    Reason.WITHDRAWN: (
        'The maintainers of the data withdrew its pair or repository; the detail gives their '
        'reason.'
    ),
}
_TRACK = {
    Reason.CAUSE_BUILD: (
        'The test is not broken with the libraries or settings of the other revision, so these '
        'broke it and not the code.'
    ),
    Reason.CAUSE_ENVIRONMENT: (
        'The test is broken because the sandbox or the runtime lacks something that it needs, '
        'such as a network.'
    ),
    Reason.TIMEOUT_ALONE: 'The label rests only on a time-out.',
    Reason.BUILD_CHANGED: 'The build file changed as well, so it may be what cured the test.',
}
_SINGLE_REVISION = {
    Reason.THIRD_PARTY_FILE: 'The test file is generated, or is in a folder for third-party code.',
    Reason.TOO_MANY_TESTS: 'The file declares more tests than a suite may have.',
    Reason.TOO_FEW_TESTS: 'The file declares fewer tests than the family asks for.',
    Reason.NO_TEST_CLASS: 'No class of the code has the name that the file is named after.',
    Reason.FILE_TOO_SHORT: 'The test file, or the file of the code, has too few lines.',
    Reason.MOSTLY_COMMENTS: 'Too many lines of the file of the code are comments.',
    Reason.UNSTABLE: 'Runs of one of its tests disagree.',
    Reason.NOT_PASSING: 'One of its tests does not pass, or none does.',
    Reason.TESTS_TOO_SLOW: 'Its tests take too long.',
    Reason.NOT_TRACED: 'It is unknown what its tests execute.',
    Reason.NO_EVIDENCE: 'Its tests do not execute the class that it is named after.',
    Reason.AMBIGUOUS_CLASS: 'Its tests execute more than one class that it may be named after.',
    Reason.NO_DOMINANT_CLASS: 'Too much of the code that its tests execute belongs to other classes.',
    Reason.LOW_COVERAGE: 'Its tests execute too few lines of the file of the code.',
    Reason.TRIVIAL_FOCAL: 'No function of the file of the code is long enough.',
    Reason.PASS_NOT_CONFIRMED: (
        'An observer outside the test process did not confirm a pass of the file, so gold '
        'would not count as passing.'
    ),
    Reason.FILE_NEEDED: 'Other test files do not compile without it, or with its start state.',
    Reason.NOTHING_TO_ADD: 'The file covers every line already, so that it cannot be completed.',
    Reason.START_BROKEN: 'Tests cannot be taken out of the file, or those that are left do not pass.',
    Reason.START_NO_WORSE: 'The start state already tests as much as the complete file, or nearly.',
    Reason.NO_OLDER_CODE: 'No older commit of the source file has different code.',
    Reason.SAME_TEST_FILE: 'At the older commit with different code, the test file is equal or absent.',
    Reason.NO_OLDER_TESTS: 'No older commit has the test file with different code.',
    Reason.SAME_AS_OLDER: 'The start state would be the same as that of `older`.',
    Reason.NO_DEFECT: 'No defect put into the test file broke or weakened its tests as its kind should.',
    Reason.TOO_SIMPLE: 'The function has too few branches, or they cannot be counted.',
    Reason.TOO_FEW_FILES: 'The package has too few files.',
    Reason.TOO_MANY_FILES: 'The package has too many files.',
    Reason.TOO_MANY_LINES: 'The files of the package have too many lines together.',
    Reason.NOT_TESTED: 'No test of a file whose tests all pass executes the function or package.',
    Reason.NOT_SELF_CONTAINED: 'The traces of the tests show that the function calls other functions of the code.',
    Reason.NO_CROSS_FILE_CALL: 'No test trace shows one file of the package calling another.',
    Reason.FILE_NOT_PUBLISHED: (
        'The licence at the revision is unknown, the OSI has not approved it, or it was taken back.'
    ),
}
_TASK = {
    Reason.START_STATE_INVALID: 'No valid start file can be made for the task.',
    Reason.NOTHING_TO_NAME: 'No code change is known that the prompt could name (not used for repairs).',
    Reason.NOTHING_TO_KEEP: (
        'No test of the file has a label that requires it to stay unchanged (only used for '
        '`maintenance`).'
    ),
    Reason.IN_ANOTHER_WALK: (
        'A commit of the walk `parents` has a task with one of its edits, which a merge under '
        '`first-parent` repeats.'
    ),
    Reason.TASK_WITHDRAWN: 'The maintainers of the data withdrew the task; the detail gives their reason.',
}

_FORMER = ' Only earlier engines dropped this; the present one gives it a label.'


def _explain_contradiction(reason: str) -> str:
    """Return the sentence for a reason that is named after a cell and its outcome."""
    cell = next(candidate for candidate in Cell if reason.startswith(f'{candidate}_'))
    outcome = reason.removeprefix(f'{cell}_')
    happened = 'it was not run' if outcome == 'not_run' else Outcome(outcome).clause
    return f'With {cell.clause}: {happened}. No label of the change allows that.'


def _load_filter_reasons() -> dict[Stage, dict[str, str]]:
    text = files('coevo.model').joinpath('filter_reasons.toml').read_text(encoding='utf-8')
    return {Stage(stage): reasons for stage, reasons in tomllib.loads(text).items()}


FILTER_REASONS = _load_filter_reasons()
"""The sentences of the filters by stage. `python -m filters.reasons` (`make docs`) writes the file.
"""

BY_STAGE: dict[Stage, dict[str, str]] = {
    Stage.WALK: {str(reason): text for reason, text in _WALK.items()},
    Stage.PAIR: {
        **FILTER_REASONS[Stage.PAIR],
        **{str(reason): text for reason, text in _PAIR.items()},
    },
    Stage.FILTER: FILTER_REASONS[Stage.FILTER],
    Stage.LABEL: {
        **{str(reason): text for reason, text in _LABEL.items()},
        **{reason: _explain_contradiction(reason) for reason in list_contradiction_reasons()},
        **{
            reason: _explain_contradiction(reason) + _FORMER
            for reason in list_former_contradiction_reasons()
        },
    },
    Stage.PUBLISH: {str(reason): text for reason, text in _PUBLISH.items()},
    Stage.TRACK: {
        **{str(reason): text for reason, text in _TRACK.items()},
        **FILTER_REASONS[Stage.TRACK],
    },
    Stage.SINGLE_REVISION: {str(reason): text for reason, text in _SINGLE_REVISION.items()},
    Stage.TASK: {str(reason): text for reason, text in _TASK.items()},
}

EXPLANATIONS: dict[str, str] = {
    reason: text for reasons in BY_STAGE.values() for reason, text in reasons.items()
}


def explain_reason(reason: str) -> str:
    """Return a reason's sentence for a person, followed by its code name in parentheses.

    An unknown reason gets a sentence that says that it is unknown.
    """
    return (
        f'{EXPLANATIONS.get(reason, "This version of coevo does not know the reason.")} ({reason})'
    )


OWNERS: dict[str, Stage] = {
    reason: stage for stage, reasons in BY_STAGE.items() for reason in reasons
}
