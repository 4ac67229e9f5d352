"""Validate by execution that a repository is worth mining (TestEvo-Bench, A.1).

The paper: "it must declare Java >= 8 in its Maven configuration, build cleanly with
`mvn -DskipTests` from a recent commit on the default branch, and execute its existing JUnit suite
without infrastructure errors"; 3.1 says "the latest (release) commit". So the latest release is
validated, or the head of the default branch if there is no release.

A missing language level is no objection, in spite of "must declare": tasks were published of
repositories whose POMs have no level at their latest release. Failing tests are no objection
either. If not a single test passes, the environment is at fault, or there is nothing to mine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from coevo.engine.suites import SuiteRun
from coevo.engine.workers import BuilderPool
from coevo.git.repository import Repository
from coevo.languages.base import Language
from coevo.languages.cells import Build
from coevo.languages.engine import BuiltPair, RunSettings
from coevo.languages.table import (
    LANGUAGES,
    detect_languages,
    get_engine_version,
    suggest_project_folders,
)
from coevo.model.listener import SILENT, Listener
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome, Walk
from coevo.storage.place import Root, find_local_folder
from coevo.storage.store import Store
from flows.clones import open_clone
from flows.validations import (
    InvalidReason,
    SuiteCounts,
    Validation,
    ValidationSeconds,
    load_validation,
    mark_latest_validation,
    write_validation,
)
from miners.cloning.clones import Clone
from miners.cloning.remotes import NO_LIMITS, FetchLimits
from miners.diffs.siblings import group_methods_by_module
from miners.walks.routes import find_latest_release

# For all tests of a revision: three times the limit of the profile `testevo`.
SUITE_CPU_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateOptions:
    """One repository to validate.

    ref                replaces the latest release or the default branch
    suite_cpu_seconds  for all tests of the revision; the last process may exceed it
    local              folder of clones, as in MineOptions
    pushed             time of the last push, from its host before the fetch
    """

    source: str
    store: Root
    name: str | None = None
    ref: str | None = None
    sandbox: str = 'bubblewrap'
    suite_cpu_seconds: float = SUITE_CPU_SECONDS
    limits: FetchLimits = NO_LIMITS
    local: Path | None = None
    pushed: datetime | None = None

    @property
    def clones_folder(self) -> Path:
        """The folder of clones."""
        return self.local or find_local_folder(self.store)


def validate_repository(options: ValidateOptions, listener: Listener = SILENT) -> Validation:
    """Find out whether a repository can be mined, and write the result to the store.

    A revision with a current result is not run again.

    Raises: Unclonable (a Fatal) for a source that cannot be cloned, which has no revision for which
    to keep a result; Transient for a failure of coevo, which is no result either.
    """
    Store(options.store)  # raises Fatal if the folder is not a store
    with open_clone(options, listener) as (clone, repository):
        blank = _build_blank_validation(options, clone, repository)
        validation = load_validation(options.store, clone.repo, blank.rev)
        if validation is None or not _is_still_current(
            validation, options, detect_languages(repository, blank.rev)
        ):
            validation, seconds = _validate_languages(options, repository, blank, listener)
            write_validation(options.store, validation, seconds)
        mark_latest_validation(options.store, validation, options.pushed)
        return validation


def _build_blank_validation(
    options: ValidateOptions, clone: Clone, repository: Repository
) -> Validation:
    """Return a validation of the revision to validate, without results.

    The revision is that of the requested ref, else of the latest release, else of the default
    branch.
    """
    ref = options.ref or find_latest_release(repository) or clone.default_ref
    rev = repository.resolve(ref)
    return Validation(
        repo=clone.repo,
        rev=rev,
        ref=ref,
        committed=repository.get_commit(rev).committer_date,
        sandbox=options.sandbox,
        engine_version='',
    )


def _is_still_current(
    found: Validation, options: ValidateOptions, languages: Sequence[Language]
) -> bool:
    """Return whether a result is from the same sandbox and the current engine of its language."""
    language = LANGUAGES.get(found.language or '', languages[0] if languages else None)
    version = '' if language is None else get_engine_version(language.NAME)
    return (found.engine_version, found.sandbox) == (version, options.sandbox)


def _validate_languages(
    options: ValidateOptions, repository: Repository, blank: Validation, listener: Listener
) -> tuple[Validation, ValidationSeconds]:
    """Return the first valid result among the languages, else the result of the first language."""
    findings: list[Validation] = []
    spent = ValidationSeconds(build=0.0, suite=0.0)
    for language in detect_languages(repository, blank.rev):
        language_blank = replace(
            blank, language=language.NAME, engine_version=get_engine_version(language.NAME)
        )
        validation, seconds = _validate_language(
            options, repository, language, language_blank, listener
        )
        spent = ValidationSeconds(
            build=spent.build + seconds.build, suite=spent.suite + seconds.suite
        )
        if validation.valid:
            return validation, spent
        findings.append(validation)
    if findings:
        return findings[0], spent
    advice = suggest_project_folders(repository, blank.rev)
    return replace(blank, reason=InvalidReason.NO_BUILD_FILE, detail=advice), spent


def _validate_language(
    options: ValidateOptions,
    repository: Repository,
    language: Language,
    blank: Validation,
    listener: Listener,
) -> tuple[Validation, ValidationSeconds]:
    commit = repository.get_commit(blank.rev)
    # A builder builds pairs, so this pairs the revision with itself; it is built once.
    alone = Pair(
        repo=blank.repo,
        language=language.NAME,
        walk=Walk.PARENTS,
        old=commit,
        new=commit,
        old_is_ancestor=True,
    )
    around = RunSettings(repository=repository, sandbox=options.sandbox, say=listener.say)
    with (
        BuilderPool(language, around, [alone]) as builders,
        closing(builders.open_builder()) as builder,
    ):
        listener.step('build', 0, 1)
        pair = builder.build(alone)
        build = pair.old
        outdated = language.explain_outdated(repository, blank.rev, build.level)
        built = add_build_findings(blank, build, outdated)
        if built.reason is not None:
            return built, ValidationSeconds(build=build.cpu_seconds, suite=0.0)
        listener.step('tests', 0, 1)
        declared = group_methods_by_module(repository, build.rev, language.NAME)
        validation, spent = _add_test_findings_with_cpu_seconds(options, declared, built, pair)
        return validation, ValidationSeconds(build=build.cpu_seconds, suite=spent)


def add_build_findings(blank: Validation, build: Build, outdated: str | None) -> Validation:
    """Return the validation with the results of the build, and a reason if it is not good enough.

    outdated  the language's objection to the declared level; None if there is none
    """
    built = replace(
        blank,
        level=build.level,
        runtime=build.runtime,
        runtimes_tried=build.runtimes_tried,
        builder=build.builder or None,
        modules=len(build.modules),
        built=sum(why is None for why in build.modules.values()),
    )
    if outdated is not None:
        return replace(built, reason=InvalidReason.LEVEL_TOO_OLD, detail=outdated)
    trouble = _explain_build_failure(build)
    if trouble is not None:
        return replace(built, reason=InvalidReason.DOES_NOT_BUILD, detail=trouble)
    return built


def _explain_build_failure(build: Build) -> str | None:
    """Return why a build failed: its own reason, or that of a module; None if all modules built.

    A module with another reason than `skipped` comes first.
    """
    if build.failure is not None:
        return build.failure
    failed = {name: why for name, why in sorted(build.modules.items()) if why is not None}
    reasons = {name: why for name, why in failed.items() if why != 'skipped'} or failed
    return next((f'{name}: {why}' for name, why in reasons.items()), None)


def _add_test_findings_with_cpu_seconds(
    options: ValidateOptions,
    declared: Mapping[str, tuple[TestMethod, ...]],
    built: Validation,
    pair: BuiltPair,
) -> tuple[Validation, float]:
    """Return the validation with the results of all modules' tests, and their CPU seconds."""
    build = pair.old
    tests = {module: methods for module, methods in declared.items() if module in build.modules}
    built = replace(built, tests=sum(map(len, tests.values())))
    if not tests:
        return replace(built, reason=InvalidReason.NO_TESTS), 0.0
    compiled = [pair.compile(build.rev, build.rev, module) for module in tests]
    refused = next(
        (compilation.module for compilation in compiled if not compilation.unit_ok), None
    )
    if refused is not None:
        spent = sum(compilation.cpu_seconds for compilation in compiled)
        return replace(built, reason=InvalidReason.TESTS_DO_NOT_COMPILE, detail=refused), spent
    run = SuiteRun(built=pair, build=build, cpu_seconds=options.suite_cpu_seconds)
    run.run_modules(tests)
    suite = _count_outcomes(run)
    return replace(
        built, suite=suite, reason=find_suite_objection(suite, in_time=run.cpu_seconds_left > 0)
    ), run.spent


def find_suite_objection(suite: SuiteCounts, *, in_time: bool) -> InvalidReason | None:
    """Return the objection to the results of a suite; None if at least one test passes and all ran.

    in_time  whether the CPU seconds for the suite lasted
    """
    if suite.not_run:
        return InvalidReason.SUITE_BREAKS_OFF if in_time else InvalidReason.SUITE_TOO_SLOW
    if not suite.passed + suite.failed + suite.error + suite.timeout:
        return InvalidReason.NO_TEST_RUNS
    return None if suite.passed else InvalidReason.NO_TEST_PASSES


def _count_outcomes(run: SuiteRun) -> SuiteCounts:
    counts = Counter(verdict.outcome for verdict in run.verdicts)
    return SuiteCounts(
        passed=counts[Outcome.PASS],
        failed=counts[Outcome.FAIL],
        error=counts[Outcome.ERROR],
        timeout=counts[Outcome.TIMEOUT],
        compile_error=counts[Outcome.COMPILE_ERROR],
        skipped=counts[Outcome.SKIPPED],
        missing=counts[Outcome.MISSING],
        environment=sum(
            verdict.outcome.is_broken and verdict.environment is not None
            for verdict in run.verdicts
        ),
        not_run=run.left_out,
    )
