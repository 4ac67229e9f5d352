"""Build the start states of suite tasks, or say why a start cannot be made.

Each family has its kinds of starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from coevo.engine.results import Step
from coevo.git.repository import load_content
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import Member
from coevo.languages.surgery import StartStateInvalid, StartTarget
from coevo.languages.table import get_measures, get_reading, get_surgery
from coevo.languages.verdicts import Verdict
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.suites import PassingSuite
from coevo.model.families import Defect, Family, StartBuilder, SuiteAdequacy
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod, compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Outcome
from flows.single_revision.observed_suite import ObservedSuite


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The test file at the start (None if absent) and its adequacy there.

    rev     the commit of an older file
    defect  the defect that was injected, if any
    """

    text: bytes | None
    adequacy: SuiteAdequacy | None = None
    rev: str | None = None
    defect: Defect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStart:
    """The reason why there is no start, and the adequacy that it would have had, if measured."""

    reason: Reason
    detail: str = ''
    adequacy: SuiteAdequacy | None = None
    rev: str | None = None


# The next part builds the start `injected`: a test file with one defect of a drawn kind, proven by
# a run.

_GREEN = (Defect.MISSED_ASSERTS, Defect.NO_NEW_COVERED_LOGIC)
# Attempts for one kind before another is tried.
_TRIES = 3


def build_start_with_defect(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """Return the test file with one defect that shows as its kind should (TAM-Eval, repairs).

    The kinds are tried in a drawn order, each with up to three texts. NoStart if none works.
    """
    insertion = get_measures(observed.revision.pair.language).defects
    if insertion is None:
        return NoStart(reason=Reason.NO_DEFECT, detail=NOT_OFFERED)
    tests, path = _shuffle_passing_tests(observed), observed.file.test_file
    for kind in order_defects(path):
        for text in islice(insertion.insert_defects(kind, observed.text, tests), _TRIES):
            adequacy = _measure_proven_defect(
                observed, row, kind, text, insertion.UNKNOWN_NAME_OUTCOMES
            )
            if adequacy is not None:
                return Start(text=text, adequacy=adequacy, defect=kind)
    return NoStart(reason=Reason.NO_DEFECT)


def order_defects(path: str) -> Sequence[Defect]:
    """Return all kinds of defects in the order in which they are tried for a test file."""
    return sorted(Defect, key=lambda one: compute_short_hash(path, one))


def _shuffle_passing_tests(observed: ObservedSuite) -> Sequence[Member]:
    """Return the passing tests in a random order, the same at each revision with the same tests."""
    file = get_reading(observed.revision.pair.language).parse(
        observed.text, observed.file.test_file
    )
    passing = {
        (method.test_class, method.test_method, method.parameters)
        for method in observed.suite.methods
    }
    members = [
        member
        for type_ in file.types
        for member in type_.members
        if (type_.name, member.name, member.parameters) in passing
    ]
    return sorted(members, key=lambda one: compute_short_hash(one.owner, one.name, *one.parameters))


def _measure_proven_defect(
    observed: ObservedSuite,
    row: SingleRevisionRow,
    kind: Defect,
    text: bytes,
    unresolved: frozenset[Outcome],
) -> SuiteAdequacy | None:
    """Run the file with a defect, and return its adequacy; None if the defect does not count.

    It counts if the outcomes are those of its kind, no other file breaks and, for kinds whose tests
    still pass, the adequacy falls.
    """
    if text == observed.text:
        return None
    run = run_start(observed, text)
    if run.breaks_others or not _shows_defect(kind, run, unresolved):
        return None
    adequacy = measure_start(observed, row, run)
    if kind in _GREEN and not any(
        fall > 0 for fall in compute_adequacy_falls(row.adequacy, adequacy)
    ):
        return None
    return adequacy


def _shows_defect(kind: Defect, run: StartRun, unresolved: frozenset[Outcome]) -> bool:
    """Return whether the outcomes of the tests are those of such a defect."""
    if kind in _GREEN:
        return run.outcomes <= {Outcome.PASS, Outcome.SKIPPED}
    if kind is Defect.RUNTIME_ERRORS:
        broken = {Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT}
        return Outcome.COMPILE_ERROR not in run.outcomes and bool(run.outcomes & broken)
    if kind is Defect.SYNTAX_ERROR:
        return Outcome.COMPILE_ERROR in run.outcomes
    return bool(unresolved & run.outcomes)


BuildStart = Callable[[ObservedSuite, SingleRevisionRow], Start | NoStart]
"""Builds a start from a suite and its row with the full adequacy of gold."""


def build_absent_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """Return a start without the test file; NoStart if other tests do not compile without it."""
    if observed.is_needed_by_other_tests:
        return NoStart(reason=Reason.FILE_NEEDED)
    return Start(text=None)


def build_as_is_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """Return the whole file as start if it leaves lines of its focus uncovered, else NoStart.

    TAM-Eval demands "coverage < 100 %".
    """
    gold = row.adequacy
    if gold is not None and gold.lines is not None and gold.covered_lines == gold.lines:
        return NoStart(reason=Reason.NOTHING_TO_ADD)
    return Start(text=observed.text, adequacy=gold)


# -- removed ---------------------------------------------------------------------------------------


def build_start_with_half_removed(
    observed: ObservedSuite, row: SingleRevisionRow
) -> Start | NoStart:
    """Return the file without half of its tests and what only they use ("Recover Tests").

    The half is drawn by a hash. NoStart if a remaining test does not pass, another file breaks, or
    the adequacy does not fall.
    """
    path, rev = observed.file.test_file, observed.revision.rev
    cut, targets = get_surgery(observed.revision.pair.language), _draw_half(observed.suite.methods)
    if not targets:
        return NoStart(reason=Reason.START_BROKEN, detail='no test would be left')
    try:
        text = cut.make_start_file(
            observed.text,
            observed.text,
            [StartTarget(method=target) for target in targets],
            used_elsewhere=cut.list_names_in_related_files(
                observed.revision.tools.repository, rev, path
            ),
        )
    except StartStateInvalid as error:
        return NoStart(reason=Reason.START_BROKEN, detail=str(error))
    assert text is not None, 'the file is there before'
    run = run_start(observed, text)
    if run.breaks_others:
        return NoStart(reason=Reason.FILE_NEEDED)
    if set(observed.suite.methods) - set(targets) - set(run.passing):
        return NoStart(reason=Reason.START_BROKEN, detail='a test that is left does not pass')
    adequacy = measure_start(observed, row, run)
    if not any(fall > 0 for fall in compute_adequacy_falls(row.adequacy, adequacy)):
        return NoStart(reason=Reason.START_NO_WORSE, adequacy=adequacy)
    return Start(text=text, adequacy=adequacy)


def _draw_half(methods: tuple[TestMethod, ...]) -> tuple[TestMethod, ...]:
    """Return half of the methods, the same ones at each revision with the same tests."""
    lot = sorted(
        methods,
        key=lambda one: compute_short_hash(one.test_class, one.test_method, *one.parameters),
    )
    return tuple(lot[: len(lot) // 2])


# -- older -----------------------------------------------------------------------------------------


def build_start_from_older_code(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """Return the file as it was at the newest commit whose focal file has other code.

    NoStart if there is none, the file is the same there, other files break, or its adequacy on the
    present code falls by less than the profile demands.
    """
    (focus,) = row.focus
    older_rev = _find_rev_with_other_code(observed, focus.file)
    if older_rev is None:
        return NoStart(reason=Reason.NO_OLDER_CODE)
    text = _load_test_file(observed, older_rev)
    if text is None or text == observed.text:
        return NoStart(reason=Reason.SAME_TEST_FILE, rev=older_rev)
    return _measure_older_start(observed, row, older_rev, text)


def build_start_from_older_tests(
    observed: ObservedSuite, row: SingleRevisionRow
) -> Start | NoStart:
    """Return the file as it was at the newest commit where itself has other code (TAM-Eval, IV.B).

    NoStart if there is none, the start `older` has the same text, other files break, or its
    adequacy on the present code falls by less than the profile demands.
    """
    older_rev = _find_rev_with_other_code(observed, observed.file.test_file)
    text = None if older_rev is None else _load_test_file(observed, older_rev)
    if older_rev is None or text is None:
        return NoStart(reason=Reason.NO_OLDER_TESTS)
    (focus,) = row.focus
    rev_of_other_code = _find_rev_with_other_code(observed, focus.file)
    if rev_of_other_code and _load_test_file(observed, rev_of_other_code) == text:
        return NoStart(reason=Reason.SAME_AS_OLDER, rev=older_rev)
    return _measure_older_start(observed, row, older_rev, text)


def _measure_older_start(
    observed: ObservedSuite, row: SingleRevisionRow, older_rev: str, text: bytes
) -> Start | NoStart:
    """Return the start with an older text; NoStart if other files break or it is hardly worse."""
    run = run_start(observed, text)
    if run.breaks_others:
        return NoStart(reason=Reason.FILE_NEEDED, rev=older_rev)
    adequacy = measure_start(observed, row, run)
    fall = max(compute_adequacy_falls(row.adequacy, adequacy), default=0.0)
    if fall < observed.revision.tools.profile.files.least_fall:
        return NoStart(
            reason=Reason.START_NO_WORSE, detail=f'{fall:.1f}', adequacy=adequacy, rev=older_rev
        )
    return Start(text=text, adequacy=adequacy, rev=older_rev)


def _load_test_file(observed: ObservedSuite, rev: str) -> bytes | None:
    """Return the content of the test file at a revision; None if it is absent."""
    return load_content(observed.revision.tools.repository, rev, observed.file.test_file)


def _find_rev_with_other_code(observed: ObservedSuite, path: str) -> str | None:
    """Return the newest commit of the first-parent history at which a file has other code.

    None if there is none before the file did not exist. Comments and white space are not code.
    """
    now = _load_declarations(observed, observed.revision.rev, path)
    for rev in _list_revisions_before_changes(observed, path):
        then = _load_declarations(observed, rev, path)
        if then is None:
            return None
        if then != now:
            return rev
    return None


def _list_revisions_before_changes(observed: ObservedSuite, path: str) -> Iterator[str]:
    """Yield the parents of the commits that changed a file, newest first."""
    repository = observed.revision.tools.repository
    log = repository.run_command(
        'log', '--first-parent', '--format=%P', observed.revision.rev, '--', f':(literal){path}'
    )
    for line in log.decode().splitlines():
        parents = line.split()
        if parents:
            yield parents[0]


def _load_declarations(
    observed: ObservedSuite, rev: str, path: str
) -> frozenset[tuple[str, str, str]] | None:
    """Return the declarations of a file with their hashes; None if the file does not exist."""
    text = load_content(observed.revision.tools.repository, rev, path)
    if text is None:
        return None
    file = get_reading(observed.revision.pair.language).parse(text, path)
    return frozenset(
        (type_.name, member.name, member.hash) for type_ in file.types for member in type_.members
    )


BUILDERS: Mapping[StartBuilder, BuildStart] = {
    StartBuilder.ABSENT: build_absent_start,
    StartBuilder.AS_IS: build_as_is_start,
    StartBuilder.REMOVED: build_start_with_half_removed,
    StartBuilder.OLDER: build_start_from_older_code,
    StartBuilder.OLDER_TEST: build_start_from_older_tests,
    StartBuilder.INJECTED: build_start_with_defect,
}

STARTS: Mapping[Family, tuple[StartBuilder, ...]] = {
    Family.CLASS: (StartBuilder.ABSENT,),
    Family.FUNCTION: (StartBuilder.ABSENT,),
    Family.MODULE: (StartBuilder.ABSENT,),
    Family.FILE: (
        StartBuilder.ABSENT,
        StartBuilder.AS_IS,
        StartBuilder.REMOVED,
        StartBuilder.OLDER,
        StartBuilder.OLDER_TEST,
        StartBuilder.INJECTED,
    ),
}


# The next part measures how much lower the adequacy of a test file is at its start.


def compute_adequacy_falls(gold: SuiteAdequacy | None, start: SuiteAdequacy) -> list[float]:
    """Return by how many percentage points the start is below gold, as a list.

    First line coverage, then the share of killed mutants; what was not measured is left out. A
    negative number is a rise.
    """
    if gold is None:
        return []
    pairs = (
        ((gold.covered_lines, gold.lines), (start.covered_lines, start.lines)),
        ((gold.killed, gold.mutants), (start.killed, start.mutants)),
    )
    points = [
        (_compute_percentage(*gold_ratio), _compute_percentage(*other))
        for gold_ratio, other in pairs
    ]
    return [a - b for a, b in points if a is not None and b is not None]


def _compute_percentage(part: int | None, whole: int | None) -> float | None:
    return 100 * part / whole if part is not None and whole else None


# The rest measures the adequacy of a test file with another text, run once from the start of a
# task.


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """The verdicts of a changed test file's tests.

    `breaks_others` is true if other test files do not compile beside it.
    """

    text: bytes
    verdicts: Mapping[TestMethod, Verdict]
    breaks_others: bool
    runner: EditedCellRunner

    @property
    def passing(self) -> tuple[TestMethod, ...]:
        """The tests that pass."""
        return tuple(m for m, v in self.verdicts.items() if v.outcome is Outcome.PASS)

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """The different outcomes of the tests."""
        return frozenset(verdict.outcome for verdict in self.verdicts.values())


def run_start(observed: ObservedSuite, text: bytes) -> StartRun:
    """Run the tests of a changed test file in one process, once each.

    text  the new content of the file

    Raises: Transient for a failure of coevo.
    """
    path, module = observed.file.test_file, observed.file.module
    runner = observed.revision.make_runner(((path, text),))
    compiled = runner.compile(module, whole=True)
    methods = _find_tests(observed, text)
    verdicts = runner.run_all(compiled, methods, None)
    return StartRun(
        text=text,
        verdicts={m: v for m, v in zip(methods, verdicts, strict=True) if v is not None},
        breaks_others=_breaks_others(observed, text, compiled),
        runner=runner,
    )


def measure_start(observed: ObservedSuite, row: SingleRevisionRow, run: StartRun) -> SuiteAdequacy:
    """Return the adequacy of a changed test file, on gold's focus and with gold's mutants.

    Its coverage and killed mutants are zero if no test passes. Raises: Transient for a failure of
    coevo.
    """
    assert row.adequacy is not None, 'gold is measured first'
    suite = PassingSuite(module=observed.file.module, methods=run.passing)
    tests = len(run.verdicts)
    if not suite.methods:
        adequacy = _build_zero_adequacy(row.adequacy, tests)
    else:
        adequacy = SuiteAdequacy(tests=tests, passing=len(suite.methods))
        files = [focus.file for focus in row.focus]
        traced = observed.revision.trace_suite(suite, files, run.runner)
        if traced.together is not None:
            adequacy = observed.compute_coverage_adequacy(suite, row.focus, tests, traced.together)
        adequacy = suites.add_mutant_counts(
            adequacy,
            suites.run_suite_on_mutants(
                run.runner, suite, suites.restore_mutants_run_before(row.mutants)
            ),
        )
    observed.revision.evaluation.cost.add(Step.MUTANTS, run.runner.cpu_seconds, len(row.mutants))
    return adequacy


def _build_zero_adequacy(gold: SuiteAdequacy, tests: int) -> SuiteAdequacy:
    """Return the adequacy of a file without passing tests: 0 of all that gold measured."""

    def zero_unless_none(whole: int | None) -> int | None:
        """Return 0, or None if the whole was not measured."""
        return None if whole is None else 0

    return replace(
        gold,
        tests=tests,
        passing=0,
        covered_lines=zero_unless_none(gold.lines),
        covered_branches=zero_unless_none(gold.branches),
        covered_methods=zero_unless_none(gold.methods),
        killed=zero_unless_none(gold.mutants),
    )


def _find_tests(observed: ObservedSuite, text: bytes) -> tuple[TestMethod, ...]:
    read, path = get_reading(observed.revision.pair.language), observed.file.test_file
    tree = observed.revision.tree
    declared_tests = read.find_tests(
        read.parse(text, path),
        lambda simple: [resolved.type for resolved in tree.resolve_test_type(path, simple)],
    )
    return tuple(
        TestMethod(
            module=observed.file.module,
            test_file=path,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in declared_tests
    )


def _breaks_others(observed: ObservedSuite, text: bytes, compiled: CompiledTests) -> bool:
    revision, path = observed.revision, observed.file.test_file
    whole = revision.evaluation.built.compile(revision.rev, revision.rev, observed.file.module)
    read = get_reading(revision.pair.language)
    types = {
        type_.name for source in (text, observed.text) for type_ in read.parse(source, path).types
    }
    own = {path, *types}  # languages without compiled classes name the file
    broken = set(compiled.broken) - set(whole.broken)
    return any(name.partition('#')[0].partition('$')[0] not in own for name in broken)
