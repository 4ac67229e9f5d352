"""What validation found of a repository at a revision, and where a store keeps it.

STORE/validations/OWNER+NAME/REV.json           the finding; written whole or not at all
STORE/validations/OWNER+NAME/REV.seconds.json   what it cost, which is not the same twice
STORE/validations/OWNER+NAME/latest.json        the revision that was asked about last, and as of which push
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.storage.documents import line
from coevo.storage.documents import read
from coevo.storage.place import Root
from coevo.storage.place import folder_name
from coevo.storage.places import place_of

FOLDER = 'validations'

_CURE = 'remove it and validate again'


class Invalid(StrEnum):
    """Why a repository is not mined. The values are data; one is never renamed."""

    NO_BUILD_FILE = 'no_build_file'
    LEVEL_TOO_OLD = 'level_too_old'
    DOES_NOT_BUILD = 'does_not_build'
    NO_TESTS = 'no_tests'
    TESTS_DO_NOT_COMPILE = 'tests_do_not_compile'
    NO_TEST_RUNS = 'no_test_runs'
    NO_TEST_PASSES = 'no_test_passes'
    SUITE_TOO_SLOW = 'suite_too_slow'
    SUITE_BREAKS_OFF = 'suite_breaks_off'

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Invalid.NO_BUILD_FILE: 'There is no build file at the root.',
    Invalid.LEVEL_TOO_OLD: 'The language levels that are declared are all too old.',
    Invalid.DOES_NOT_BUILD: 'Not every module builds.',
    Invalid.NO_TESTS: 'No module that is built declares a test.',
    Invalid.TESTS_DO_NOT_COMPILE: 'The tests of a module do not compile.',
    Invalid.NO_TEST_RUNS: 'Every test is skipped, or not found by its framework.',
    Invalid.NO_TEST_PASSES: 'Tests run, but not one of them passes here.',
    Invalid.SUITE_TOO_SLOW: 'The CPU seconds for a suite did not last for all tests.',
    Invalid.SUITE_BREAKS_OFF: 'Tests end their process again and again, before the rest has run.',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """How many test methods had which outcome on their own code.

    environment  of the broken, those that need what the machine withholds
    not_run      those for which no process or no CPU seconds were left
    """

    passed: int = 0
    failed: int = 0
    error: int = 0
    timeout: int = 0
    compile_error: int = 0
    skipped: int = 0
    missing: int = 0
    environment: int = 0
    not_run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """One repository at one revision; valid if there is no `reason`.

    ref    what led to the revision: the tag of the latest release, a branch, what was asked for
    level  the highest level that a built module declares; None where there is none, or all had to
           be raised
    runtime  that it was built with, the one that counts of those tried
    built  how many of its modules
    tests  declared in modules that are built
    suite  None where it was not run
    language  of which it is valid, or the first of those that it is not; None where it is of none
    """

    repo: str
    rev: str
    ref: str
    committed: datetime | None
    reason: Invalid | None = None
    detail: str = ''
    level: int | None = None
    runtime: str | None = None
    runtimes_tried: tuple[str, ...] = ()
    builder: str | None = None
    modules: int = 0
    built: int = 0
    tests: int = 0
    suite: Suite | None = None
    sandbox: str
    engine_version: int
    language: str | None = None

    @property
    def valid(self) -> bool:
        return self.reason is None

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        what = f'{self.repo} at {self.rev[:12]} ({self.ref})'
        if self.reason is not None:
            detail = f' ({self.detail})' if self.detail else ''
            return f'{what}: invalid, {self.reason}: {self.reason.sentence}{detail}'
        assert self.suite is not None, 'what is valid was run'
        level = f'Java {self.level}, ' if self.level else ''
        modules = '1 module' if self.built == 1 else f'{self.built} modules'
        return f'{what}: valid, {level}{modules}, {self.suite.passed} of {self.tests} tests pass'


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """CPU seconds of the sandboxed programs; `suite` with the compilation of tests."""

    build: float
    suite: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Latest:
    rev: str
    pushed: datetime | None = None


def read_validation(store: Root, repo: str, rev: str) -> Validation | None:
    """What is known of a revision; None where it was not asked."""
    return read(Validation, place_of(store), f'{_folder(repo)}/{rev}.json', _CURE)


def latest_validation(store: Root, repo: str) -> Validation | None:
    """What is known of the revision that was asked about last; None if none ever was."""
    latest = read(_Latest, place_of(store), _latest(repo), _CURE)
    return None if latest is None else read_validation(store, repo, latest.rev)


def validated_push(store: Root, repo: str) -> datetime | None:
    """When it was last pushed to, as its host said before it was asked about last; None if nobody knows."""
    latest = read(_Latest, place_of(store), _latest(repo), _CURE)
    return None if latest is None else latest.pushed


def seconds_of(store: Root, validation: Validation) -> Seconds | None:
    """What a validation cost when it was run."""
    return read(Seconds, place_of(store), _seconds(validation), _CURE)


def keep_validation(store: Root, validation: Validation, seconds: Seconds) -> None:
    """Write a finding; one of the same revision by another engine or sandbox makes way."""
    place = place_of(store)
    place.write(_seconds(validation), line(seconds))
    place.write(f'{_folder(validation.repo)}/{validation.rev}.json', line(validation))


def name_latest(store: Root, validation: Validation, pushed: datetime | None = None) -> None:
    """Let `latest_validation` give this one, and `validated_push` what its host had said."""
    place, latest = place_of(store), _Latest(rev=validation.rev, pushed=pushed)
    if read(_Latest, place, _latest(validation.repo), _CURE) != latest:
        place.write(_latest(validation.repo), line(latest))


def _folder(repo: str) -> str:
    return f'{FOLDER}/{folder_name(repo)}'


def _latest(repo: str) -> str:
    return f'{_folder(repo)}/latest.json'


def _seconds(validation: Validation) -> str:
    return f'{_folder(validation.repo)}/{validation.rev}.seconds.json'
