"""The closed vocabularies of coevo, such as walks, changes, cells, outcomes, labels and stages."""

from __future__ import annotations

from typing import Annotated

from coevo.model.column import Choice, Column


class Walk(Choice):
    """The rule that says which revisions of a repository form pairs."""

    PARENTS = (
        'parents',
        'every commit with its first parent; a merge only if somebody changed code in it by hand',
    )
    FIRST_PARENT = 'first-parent', 'the same along the main line alone'
    STATES = 'states', 'the order of `git log`; of a run of commits with equal code the newest'
    WINDOW = 'window', 'each such state with every older one that is at most 12 hours older'
    SINGLE_REVISION = (
        'single_revision',
        'the head and the latest release, each by itself: nothing changes',
    )


WalkOfRow = Annotated[Walk, Column('The walk that paired the two revisions.')]


class MethodChange(Choice):
    """The change of a test method between old and new, ignoring comments and formatting."""

    INSERTED = 'inserted', 'the test is new'
    CHANGED = 'changed', 'its own text changed'
    DELETED = 'deleted', 'the test is gone'
    UNCHANGED = 'unchanged', 'nothing that it uses in the test tree changed'
    CONTEXT_CHANGED = (
        'context_changed',
        'its own text is equal, but a fixture, helper or resource of the test tree that it uses changed',
    )


class Cell(Choice):
    """The whole test tree of one revision, run on the code of the same or of the other revision."""

    T_OLD_C_OLD = 't_old_c_old', 'old tests on old code'
    T_NEW_C_NEW = 't_new_c_new', 'new tests on new code'
    T_OLD_C_NEW = 't_old_c_new', 'old tests on new code'
    T_NEW_C_OLD = 't_new_c_old', 'new tests on old code'

    @property
    def tests_are_new(self) -> bool:
        """True if the tests are those of the new revision."""
        return self in (Cell.T_NEW_C_NEW, Cell.T_NEW_C_OLD)

    @property
    def code_is_new(self) -> bool:
        """True if the code is that of the new revision."""
        return self in (Cell.T_NEW_C_NEW, Cell.T_OLD_C_NEW)


class Outcome(Choice):
    """The result of a test in a cell, from worst to best; the last three are not verdicts."""

    COMPILE_ERROR = 'compile_error', 'the test does not compile, or names what the code lacks'
    TIMEOUT = 'timeout', 'it did not end in its time'
    ERROR = 'error', 'it failed by something other than an assertion, or its process ended'
    FAIL = 'fail', 'an assertion failed'
    SKIPPED = 'skipped', 'it was not to be run here'
    PASS = 'pass', 'it passed'
    MISSING = 'missing', 'it was not reported, though it was to be run'
    UNBUILDABLE = 'unbuildable', 'the code itself does not build'
    INFRA = 'infra', 'coevo itself failed, for example on a full disk; never a verdict'

    @property
    def is_broken(self) -> bool:
        """True if the test failed, ended with an error, timed out or did not compile."""
        return self in (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT, Outcome.COMPILE_ERROR)


class Label(Choice):
    """The verdict of the cells on a test; docs/evidence.md has the whole table."""

    UPDATE = 'update', 'the old test breaks on the new code, the updated one passes'
    EXTENSION = (
        'extension',
        'the old test still passes on the new code; the new one breaks on the old code',
    )
    REFINEMENT = (
        'refinement',
        'the test changed for another reason than the change of the code; the old one still passes',
    )
    REPAIR = 'repair', 'the old test was broken before the change and by itself, the new one passes'
    CURED_BY_CODE = 'cured_by_code', 'the old test was broken, and the new code alone cures it'
    GENERATION = 'generation', 'a new test that passes on the new code and not on the old'
    REDUNDANT = 'redundant', 'a new test that passes on the old code as well'
    UNAFFECTED = (
        'unaffected',
        'the test did not change and passes at both ends, though a dependency changed',
    )
    BROKEN_BY_CHANGE = 'broken_by_change', 'the test did not change and breaks on the new code'
    FIXTURE_UPDATE = (
        'fixture_update',
        'only a fixture or helper changed, and without that the test breaks on the new code',
    )
    FIXTURE_REFINEMENT = (
        'fixture_refinement',
        'only a fixture or helper changed, and the test passes either way',
    )
    OBSOLETE = 'obsolete', 'a deleted test that breaks on the new code'
    RETIRED = 'retired', 'a deleted test that still passes on the new code'


class Track(Choice):
    """The labels from which tasks are made."""

    GENERATION = 'generation', 'write the tests of a change'
    UPDATE = 'update', 'adapt tests that a change broke'
    EXTENSION = 'extension', 'extend tests, which still pass, for a change'
    REPAIR = 'repair', 'mend tests that are broken by their own fault'

    @property
    def must_fail_on_old_code(self) -> bool:
        """True for generation and extension, whose new tests have to break on the old code."""
        return self in (Track.GENERATION, Track.EXTENSION)

    def accepts_at_start(self, outcome: Outcome) -> bool:
        """Return whether an outcome of a target's old version fits the start state.

        In extensions the old tests have to pass; in all other tracks they have to be broken.
        """
        return outcome is Outcome.PASS if self is Track.EXTENSION else outcome.is_broken


class BreakageCause(Choice):
    """The cause of a test's breakage in a cell that decides its label."""

    PRODUCTION = 'production', 'the change of the production code'
    BUILD = 'build', 'a library or setting; with those of the other revision the test is not broken'
    FIXTURE = 'fixture', 'a fixture or helper of the test tree'
    ENVIRONMENT = (
        'environment',
        'what the machine or the sandbox withholds, such as network or display',
    )
    TEST = 'test', 'the fault of the test itself'
    SYNTAX = 'syntax', 'the test file does not parse'


class Stage(Choice):
    """The step of the funnel at which something was dropped."""

    WALK = 'walk', 'commits that end no pair'
    PAIR = 'pair', 'pairs that are not run'
    FILTER = 'filter', 'test methods that are not run'
    LABEL = 'label', 'test methods that no label fits'
    PUBLISH = 'publish', 'test methods whose licence forbids publication'
    TRACK = 'track', 'test methods that keep their label and are no task'
    SINGLE_REVISION = 'single_revision', 'test files of a revision that no family takes'
    TASK = 'task', 'tasks that cannot be made'

    @property
    def unit(self) -> str:
        """The unit that the stage counts: `commit`, `pair`, `method`, `test_file` or `task`."""
        units = {
            Stage.WALK: 'commit',
            Stage.PAIR: 'pair',
            Stage.SINGLE_REVISION: 'test_file',
            Stage.TASK: 'task',
        }
        return units.get(self, 'method')


class ShownBy(Choice):
    """The part of the start state that shows how a new test has to look."""

    SAME_NAME = (
        'same_name',
        'a test of the same name, with a similar form or a name of five words or more, is in another file',
    )
    FORM = (
        'form',
        'a method that the pair added has the form of a target, with other names and values',
    )
    CALL = (
        'call',
        'a test that the pair changed calls what is new to a target, and an older test is its template',
    )
    EXAMPLE = (
        'example',
        'a program in a folder of examples, which the pair changed, uses what is new to a target',
    )
    DATA = (
        'data',
        'a data file that the pair added is named for a target, such as a golden file or a corpus to fuzz with',
    )
