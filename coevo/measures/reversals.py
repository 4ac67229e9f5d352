"""Which parts of a change its gold tests notice: each changed method undone alone."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from coevo.languages.base import Verdict
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.counterparts import counterpart
from coevo.measures.counterparts import declared
from coevo.measures.undo import undone
from coevo.quality import ReversalRow
from coevo.quality import ReversalStatus
from coevo.records import Dependency
from coevo.records import Outcome
from coevo.records import Revised

TYPE_ABSENT = 'type_absent'
"""The signature of a declaration whose type does not stand at the other end."""

Key = tuple[str, int, str, str]


def measure_reversals(bench: Bench, tests: Sequence[GoldTest]) -> tuple[ReversalRow, ...]:
    """Run every test alone with each of its changed dependency methods undone on the new code.

    The tests pass as they are: their cells say so. Only methods and constructors are undone, each
    compiled once for all tests of a module, those of best rank first; what the budget of the bench
    does not reach is `not_run`. Transient where test processes do not start.
    """
    found: dict[tuple[str, Key], ReversalRow] = {}
    for dependency, concerned in _by_dependency(bench, tests):
        for row in _undo(bench, dependency, concerned):
            found[row.method_id, _key(dependency)] = row
    return tuple(
        found[test.method_id, _key(dependency)]
        for test in tests
        for dependency in _undoable(bench, test)
    )


def _undoable(bench: Bench, test: GoldTest) -> list[Dependency]:
    known = [d for d in test.dependencies if declared(bench.repository, bench.pair, d)]
    return list({_key(dependency): dependency for dependency in known}.values())


def _key(dependency: Dependency) -> Key:
    return dependency.file, dependency.start_line, dependency.revised, dependency.declaration


def _by_dependency(
    bench: Bench, tests: Iterable[GoldTest]
) -> Iterator[tuple[Dependency, list[GoldTest]]]:
    """Every declaration with the tests of a module that depend on it, those of best rank first."""
    groups: dict[tuple[Key, str], tuple[Dependency, list[GoldTest]]] = {}
    for test in tests:
        for dependency in _undoable(bench, test):
            group = groups.setdefault((_key(dependency), test.method.module), (dependency, []))
            group[1].append(test)
    yield from (groups[key] for key in sorted(groups, key=lambda k: (groups[k][0].rank, k)))


def _undo(bench: Bench, dependency: Dependency, tests: Sequence[GoldTest]) -> Iterator[ReversalRow]:
    if bench.spent:
        yield from (_row(bench, test, dependency, None) for test in tests)
        return
    edit = reverted_file(bench, dependency)
    if edit is None:
        absent = Verdict(outcome=Outcome.COMPILE_ERROR, signature=TYPE_ABSENT)
        yield from (_row(bench, test, dependency, absent, compiles=False) for test in tests)
        return
    compiled = bench.compile(tests[0].method.module, edit)
    for test in tests:
        verdict = None if bench.spent else bench.run(compiled, test.method, None)
        yield _row(bench, test, dependency, verdict, compiles=compiled.code_failure is None)


def reverted_file(bench: Bench, dependency: Dependency) -> tuple[str, bytes] | None:
    """The path and content of the file at new without a change; None where its type is gone."""
    known = declared(bench.repository, bench.pair, dependency)
    other = counterpart(bench.repository, bench.pair, dependency)
    assert known is not None
    if dependency.revised is Revised.INSERTED:
        return known.path, undone(dependency.revised, None, known)
    if other is None:
        return None
    old, new = (known, other) if dependency.revised is Revised.REMOVED else (other, known)
    return new.path, undone(dependency.revised, old, new)


def _row(
    bench: Bench,
    test: GoldTest,
    dependency: Dependency,
    verdict: Verdict | None,
    *,
    compiles: bool = True,
) -> ReversalRow:
    if verdict is None:
        status = ReversalStatus.NOT_RUN
    elif not compiles:
        status = ReversalStatus.DOES_NOT_COMPILE
    elif verdict.outcome is Outcome.PASS:
        status = ReversalStatus.UNDETECTED
    else:
        status = ReversalStatus.DETECTED
    return ReversalRow(
        repo=bench.pair.repo,
        walk=bench.pair.walk,
        pair_id=bench.pair.pair_id,
        method_id=test.method_id,
        declaration=dependency.declaration,
        file=dependency.file,
        start_line=dependency.start_line,
        revised=dependency.revised,
        status=status,
        outcome=verdict.outcome if verdict else None,
        signature=verdict.signature if verdict else None,
    )
