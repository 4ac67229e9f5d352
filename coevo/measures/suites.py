"""Measure a suite: all of its passing tests together, on the focus of a task.

Lines, branches and methods count if any test executes them, and mutants if any test fails with
them. The tests share a process with each mutant, as in the project's own test run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.mutation import Mutant, MutationTimeout
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading
from coevo.languages.verdicts import CoveredLine, Trace, Verdict
from coevo.measures.edited_cells import EditedCellRunner, Files
from coevo.measures.mutant_sets import DrawnMutant, make_file_mutants
from coevo.measures.mutants import compile_with_mutant, compute_cpu_limit
from coevo.model.families import Focus, SuiteAdequacy, SuiteMutant
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

MOST_MUTANTS = 50
"""The most mutants of a focus. AgoneTest's limit is 42 for a class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingSuite:
    """Passing tests of one file, with the test files that differ from the new revision."""

    module: str
    methods: tuple[TestMethod, ...]
    files: Files = ()


# -- coverage --------------------------------------------------------------------------------------


def add_coverage(
    adequacy: SuiteAdequacy,
    repository: Repository,
    rev: str,
    focus: Sequence[Focus],
    trace: Trace,
    language: str,
) -> SuiteAdequacy:
    """Return the adequacy with the coverage of the focus, according to a trace of the suite."""
    lines = [line for target in focus for line in _list_lines(target, trace)]
    members = [
        (target.file, type_, member)
        for target in focus
        for type_, member in _list_methods_with_code(repository, rev, target, lines, language)
    ]
    read = get_reading(language)
    return replace(
        adequacy,
        lines=len(lines),
        covered_lines=sum(line.covered_instructions > 0 for line in lines),
        branches=sum(line.missed_branches + line.covered_branches for line in lines),
        covered_branches=sum(line.covered_branches for line in lines),
        methods=len(members),
        covered_methods=sum(_is_executed(read, *member, trace) for member in members),
    )


def list_executed_lines(focus: Sequence[Focus], trace: Trace) -> tuple[str, ...]:
    """Return the lines of a focus that a suite executes, in order, as `FILE:LINE`."""
    return tuple(
        f'{part.file}:{line.line}'
        for part in focus
        for line in _list_lines(part, trace)
        if line.covered_instructions > 0
    )


def list_taken_branches(focus: Sequence[Focus], trace: Trace) -> tuple[str, ...]:
    """Return `FILE:LINE:1` to `FILE:LINE:N` for each line of which N branches are taken.

    The numbers only count branches; they do not identify them.
    """
    return tuple(
        f'{part.file}:{line.line}:{number}'
        for part in focus
        for line in _list_lines(part, trace)
        for number in range(1, line.covered_branches + 1)
    )


def count_uniquely_executed_lines(focus: Sequence[Focus], traces: Iterable[Trace]) -> int:
    """Return how many lines of a focus are executed by exactly one test (MultiFileTest, §5.4)."""
    counts = Counter(line for trace in traces for line in list_executed_lines(focus, trace))
    return sum(count == 1 for count in counts.values())


def _list_lines(focus: Focus, trace: Trace) -> Iterator[CoveredLine]:
    for line in trace.lines.get(focus.file, ()):
        if focus.start_line <= line.line <= focus.end_line:
            yield line


def _list_methods_with_code(
    repository: Repository, rev: str, focus: Focus, lines: Iterable[CoveredLine], language: str
) -> Iterator[tuple[DeclaredType, Member]]:
    """Yield the methods and constructors of a focus that contain code, each with its type."""
    entry = repository.tree(rev)[focus.file]
    with_code = {line.line for line in lines}
    for type_ in get_reading(language).parse(repository.blob(entry.oid), focus.file).types:
        for member in type_.members:
            own = range(member.start_line, member.end_line + 1)
            inside = focus.includes_declaration(member.start_line, member.end_line)
            if inside and member.kind in ('method', 'constructor') and with_code & set(own):
                yield type_, member


def _is_executed(
    read: LanguageReading, file: str, type_: DeclaredType, member: Member, trace: Trace
) -> bool:
    return any(
        method.file == file and read.is_part_of(method, member, type_) for method in trace.executed
    )


# -- mutants ---------------------------------------------------------------------------------------


def draw_mutants(runner: EditedCellRunner, focus: Sequence[Focus]) -> tuple[DrawnMutant, ...]:
    """Return up to `MOST_MUTANTS` random mutants of a focus.

    Mutants that compile to the same as the original or an earlier mutant are left out. The result
    is empty if the language offers none; files for which the tool does not end are skipped.
    """
    mutants: list[DrawnMutant] = []
    for part in focus:
        lines = frozenset(range(part.start_line, part.end_line + 1))
        try:
            file = make_file_mutants(runner, part.file, lines, MOST_MUTANTS)
        except MutationTimeout:
            continue
        mutant_set = file.draw(runner, lines) if file else None
        mutants += (
            [each for each in mutant_set.mutants if not each.equal_compiled] if mutant_set else ()
        )
    return tuple(sorted(mutants, key=lambda one: one.mutant_id))[:MOST_MUTANTS]


def restore_mutants_run_before(mutants: Iterable[SuiteMutant]) -> tuple[DrawnMutant, ...]:
    """Return those mutants that were run before, in a form that can be run with another suite."""
    return tuple(
        DrawnMutant(
            mutant_id=mutant.mutant_id,
            file=mutant.file,
            mutant=Mutant(line=mutant.line, original=mutant.original, mutated=mutant.mutated),
            equal_compiled=mutant.equal_compiled,
        )
        for mutant in mutants
        if mutant.outcome is not None
    )


def run_suite_on_mutants(
    runner: EditedCellRunner, suite: PassingSuite, mutants: Sequence[DrawnMutant]
) -> tuple[SuiteMutant, ...]:
    """Run the suite once without a mutant, and its passing tests together with each mutant.

    Return the mutants with the worst outcome of these tests; without an outcome if no test passes.
    Raises: Transient if a test process does not start.
    """
    baseline = runner.compile(suite.module, tests=suite.files)
    first = _select_passing(suite.methods, runner.run_all(baseline, suite.methods, None))
    slowest = max((verdict.cpu_seconds for verdict in first.values()), default=0.0)
    limit = compute_cpu_limit(slowest)
    return tuple(_run_mutant(runner, suite, tuple(first), mutant, limit) for mutant in mutants)


def _select_passing(
    methods: Sequence[TestMethod], verdicts: Sequence[Verdict | None]
) -> dict[TestMethod, Verdict]:
    return {
        method: verdict
        for method, verdict in zip(methods, verdicts, strict=True)
        if verdict is not None and verdict.outcome is Outcome.PASS
    }


def _run_mutant(
    runner: EditedCellRunner,
    suite: PassingSuite,
    methods: Sequence[TestMethod],
    one: DrawnMutant,
    limit: float,
) -> SuiteMutant:
    row = SuiteMutant(
        mutant_id=one.mutant_id,
        file=one.file,
        line=one.mutant.line,
        original=one.mutant.original,
        mutated=one.mutant.mutated,
        equal_compiled=one.equal_compiled,
    )
    if not methods:
        return row
    compiled = compile_with_mutant(runner, suite.module, one, suite.files)
    verdicts = [v for v in runner.run_all(compiled, methods, limit) if v is not None]
    worst = min((verdict.outcome for verdict in verdicts), key=tuple(Outcome).index)
    return replace(row, outcome=worst, killed=worst is not Outcome.PASS)


def add_mutant_counts(adequacy: SuiteAdequacy, mutants: Iterable[SuiteMutant]) -> SuiteAdequacy:
    """Return the adequacy with the numbers of mutants that were run and killed.

    The adequacy is returned unchanged if no mutant was run.
    """
    ran = [mutant for mutant in mutants if mutant.killed is not None]
    if not ran:
        return adequacy
    return replace(adequacy, mutants=len(ran), killed=sum(bool(mutant.killed) for mutant in ran))
