"""The results of validating repositories, and their files in a store.

STORE/validations/OWNER+NAME/REV.json           the result; written completely or not at all
STORE/validations/OWNER+NAME/REV.seconds.json   its cost, which differs from run to run
STORE/validations/OWNER+NAME/latest.json        the revision validated last, and the push before it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.model.codec import Record
from coevo.storage.documents import decode_record, encode_line, load_record
from coevo.storage.place import Root, StoragePlace, decode_folder_name, encode_folder_name
from coevo.storage.places import open_place

FOLDER = 'validations'

_CURE = 'remove it and validate again'


class InvalidReason(StrEnum):
    """The reasons why a repository is not mined. The values are data; one is never renamed."""

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
        """A sentence that explains the reason."""
        return _SENTENCES[self]


_SENTENCES = {
    InvalidReason.NO_BUILD_FILE: 'There is no build file at the root.',
    InvalidReason.LEVEL_TOO_OLD: 'The language levels that are declared are all too old.',
    InvalidReason.DOES_NOT_BUILD: 'Not every module builds.',
    InvalidReason.NO_TESTS: 'No module that is built declares a test.',
    InvalidReason.TESTS_DO_NOT_COMPILE: 'The tests of a module do not compile.',
    InvalidReason.NO_TEST_RUNS: 'Every test is skipped, or not found by its framework.',
    InvalidReason.NO_TEST_PASSES: 'Tests run, but not one of them passes here.',
    InvalidReason.SUITE_TOO_SLOW: 'The CPU seconds for a suite did not last for all tests.',
    InvalidReason.SUITE_BREAKS_OFF: 'Tests end their process again and again, before the rest has run.',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCounts:
    """The number of test methods by outcome on their own code.

    environment  broken ones that need something that the machine withholds
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
    """The result for one repository at one revision; valid if there is no `reason`.

    ref    what led to the revision: the tag of the latest release, a branch, or the requested ref
    level  the highest level that a built module declares; None if there is none, or all had to be
           raised
    runtime  the runtime of the build; several may have been tried
    built  number of its modules that build
    tests  number of tests in built modules
    suite  None if it was not run
    language  the language in which it is valid, or the first one in which it is not; None without
              one
    """

    repo: str
    rev: str
    ref: str
    committed: datetime | None
    reason: InvalidReason | None = None
    detail: str = ''
    level: int | None = None
    runtime: str | None = None
    runtimes_tried: tuple[str, ...] = ()
    builder: str | None = None
    modules: int = 0
    built: int = 0
    tests: int = 0
    suite: SuiteCounts | None = None
    sandbox: str
    engine_version: str
    language: str | None = None

    @property
    def valid(self) -> bool:
        """True if there is no reason against the repository."""
        return self.reason is None

    @property
    def sentence(self) -> str:
        """The result in one line."""
        what = f'{self.repo} at {self.rev[:12]} ({self.ref})'
        if self.reason is not None:
            detail = f' ({self.detail})' if self.detail else ''
            return f'{what}: invalid, {self.reason}: {self.reason.sentence}{detail}'
        assert self.suite is not None, 'what is valid was run'
        level = f'Java {self.level}, ' if self.level else ''
        modules = '1 module' if self.built == 1 else f'{self.built} modules'
        return f'{what}: valid, {level}{modules}, {self.suite.passed} of {self.tests} tests pass'


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationSeconds:
    """CPU seconds of the sandboxed programs; `suite` includes the compilation of tests."""

    build: float
    suite: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _LatestValidation:
    rev: str
    pushed: datetime | None = None


def load_validation(store: Root, repo: str, rev: str) -> Validation | None:
    """Return the result for a revision; None if it was not validated."""
    return load_record(Validation, open_place(store), f'{_get_folder(repo)}/{rev}.json', _CURE)


def load_latest_validation(store: Root, repo: str) -> Validation | None:
    """Return the result for the revision that was validated last; None if there is none."""
    latest = load_record(_LatestValidation, open_place(store), _get_latest_path(repo), _CURE)
    return None if latest is None else load_validation(store, repo, latest.rev)


def load_latest_validations(store: Root, repos: Sequence[str]) -> dict[str, Validation]:
    """Return the latest validation of each of some repositories that has one, by its name.

    Files are read together, which a bucket answers in parallel.
    """
    latest = _load_latest(store, repos)
    names = {f'{_get_folder(repo)}/{each.rev}.json': repo for repo, each in latest.items()}
    records = _load_records(Validation, open_place(store), list(names))
    return {names[name]: validation for name, validation in records}


def load_validated_pushes(store: Root, repos: Sequence[str]) -> dict[str, datetime]:
    """Return the last push that the host reported before each repository was last validated.

    Repositories that were not validated, or whose host did not say, are left out.
    """
    latest = _load_latest(store, repos)
    return {repo: each.pushed for repo, each in latest.items() if each.pushed is not None}


def _load_latest(store: Root, repos: Sequence[str]) -> dict[str, _LatestValidation]:
    storage = open_place(store)
    names = {_get_latest_path(repo): repo for repo in repos}
    there = [entry.name for entry in storage.list_files(FOLDER) if entry.name in names]
    return {names[name]: each for name, each in _load_records(_LatestValidation, storage, there)}


def list_validated_repositories(store: Root) -> frozenset[str]:
    """Return the names of all repositories that were ever validated."""
    folders = {entry.name.split('/')[1] for entry in open_place(store).list_files(FOLDER)}
    return frozenset(map(decode_folder_name, folders))


def _load_records(
    record: type[Record], place: StoragePlace, names: Sequence[str]
) -> Iterator[tuple[str, Record]]:
    """Yield the files that exist, each with its record. Raises: Fatal if one is damaged."""
    for name, file in zip(names, place.load_files(names), strict=True):
        if file is not None:
            yield name, decode_record(record, place, name, file, _CURE)


def load_cpu_seconds(store: Root, validation: Validation) -> ValidationSeconds | None:
    """Return the CPU seconds that a validation took; None if they are not stored."""
    return load_record(ValidationSeconds, open_place(store), _get_seconds_path(validation), _CURE)


def write_validation(store: Root, validation: Validation, seconds: ValidationSeconds) -> None:
    """Write a result; it replaces a result of the same revision from another engine or sandbox."""
    storage = open_place(store)
    storage.write_file(_get_seconds_path(validation), encode_line(seconds))
    storage.write_file(
        f'{_get_folder(validation.repo)}/{validation.rev}.json', encode_line(validation)
    )


def mark_latest_validation(
    store: Root, validation: Validation, pushed: datetime | None = None
) -> None:
    """Record a result as the repository's latest one, with the last push that the host reported.

    The result itself is not written.
    """
    storage, latest = open_place(store), _LatestValidation(rev=validation.rev, pushed=pushed)
    if load_record(_LatestValidation, storage, _get_latest_path(validation.repo), _CURE) != latest:
        storage.write_file(_get_latest_path(validation.repo), encode_line(latest))


def _get_folder(repo: str) -> str:
    return f'{FOLDER}/{encode_folder_name(repo)}'


def _get_latest_path(repo: str) -> str:
    return f'{_get_folder(repo)}/latest.json'


def _get_seconds_path(validation: Validation) -> str:
    return f'{_get_folder(validation.repo)}/{validation.rev}.seconds.json'
