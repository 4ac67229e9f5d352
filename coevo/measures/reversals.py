"""Find out which parts of a change gold tests notice, by undoing each part alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from coevo.languages.verdicts import Verdict
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.parts import AS_BEFORE, Key, UndoablePart, UndoneVersion, list_undoable_parts
from coevo.model.dependencies import Dependency, Revised
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.words import Outcome

TYPE_ABSENT = 'type_absent'
"""The signature for a declaration whose type does not exist at the other end."""


def measure_reversals(
    runner: EditedCellRunner, tests: Sequence[GoldTest], most_runs: int | None = None
) -> tuple[ReversalRow, ...]:
    """Run every test alone with each part of its changed dependencies undone in the new code.

    The tests are known to pass on the new code as it is. Each version of a part is compiled once
    for all tests of a module. A test has rows of the first stage of a part with which the code and
    the test compile, or else of the first stage; if it does not notice the old body behind the new
    signature, also of the next. The first part of every dependency comes first,
    dependencies of best rank before others; then the second parts follow, and so on. Parts beyond
    `most_runs` are `not_run`; parts that the language cannot undo are `not_offered`.
    A test whose passing time the runner does not know is run once more, without any part undone.

    Raises: Transient if a test process does not start.
    """

    @cache
    def list_parts(change: Dependency) -> tuple[UndoablePart, ...]:
        """Return the parts of a change, which are made once for all tests."""
        return list_undoable_parts(runner.repository, runner.pair, change)

    parts = {test.method_id: _list_wanted_parts(list_parts, test) for test in tests}
    rows: dict[tuple[str, Key], list[ReversalRow]] = {}
    left = most_runs
    runner.ensure_passing_times(
        test
        for test in tests
        if any(part.is_offered and part.versions for _, part in parts[test.method_id])
    )
    for part, concerned in _group_by_part(tests, parts):
        most = max(1, len(part.versions))
        run = concerned[: None if left is None else left // most] if part.is_offered else []
        left = None if left is None else left - len(run) * most
        for test, test_rows in _run_tests_with_undone_part(runner, part, run):
            rows[test.method_id, part.key] = test_rows
        for test in concerned[len(run) :]:
            rows[test.method_id, part.key] = [_make_row(runner, test, part, None)]
    return tuple(
        row
        for test in tests
        for _, part in parts[test.method_id]
        for row in rows[test.method_id, part.key]
    )


Place = tuple[int, int]
"""The index of a part in its dependency, and the rank of the dependency."""


def _list_wanted_parts(
    list_parts: Callable[[Dependency], Sequence[UndoablePart]], test: GoldTest
) -> list[tuple[Place, UndoablePart]]:
    """Return the parts that are to be undone for a test, each once."""
    by_key: dict[Key, tuple[Place, UndoablePart]] = {}
    for dependency in test.dependencies:
        for number, part in enumerate(list_parts(_drop_test_relation(dependency))):
            wanted = part if test.undone is None else part.select_versions(test.undone)
            if test.undone is None or wanted.stages:
                by_key.setdefault(part.key, ((number, dependency.rank), wanted))
    return list(by_key.values())


def _drop_test_relation(dependency: Dependency) -> Dependency:
    """Return a changed declaration without what ties it to one test, so that tests share it."""
    return Dependency(
        declaration=dependency.declaration,
        file=dependency.file,
        start_line=dependency.start_line,
        end_line=dependency.end_line,
        revised=dependency.revised,
        rank=1,
    )


def _group_by_part(
    tests: Iterable[GoldTest], parts: Mapping[str, Sequence[tuple[Place, UndoablePart]]]
) -> Iterator[tuple[UndoablePart, list[GoldTest]]]:
    """Yield every part with the tests of one module that depend on it, in the order of runs.

    Tests that want other versions of a part are apart.
    """
    groups: dict[tuple[Key, str, tuple[Key, ...]], tuple[Place, UndoablePart, list[GoldTest]]] = {}
    for test in tests:
        for position, part in parts[test.method_id]:
            versions = tuple(map(part.make_key, part.versions))
            key = part.key, test.method.module, versions
            groups.setdefault(key, (position, part, []))[2].append(test)
    for key in sorted(groups, key=lambda key: (groups[key][0], key)):
        yield groups[key][1:]


def _run_tests_with_undone_part(
    runner: EditedCellRunner, part: UndoablePart, tests: Sequence[GoldTest]
) -> Iterator[tuple[GoldTest, list[ReversalRow]]]:
    """Yield every test with its rows for a part."""
    if not part.stages:
        yield from ((test, [_make_row_without_version(runner, test, part)]) for test in tests)
        return
    first: dict[str, list[ReversalRow]] = {}
    unnoticed: dict[str, list[ReversalRow]] = {}
    left = list(tests)
    for stage in part.stages:
        stage_rows: dict[str, list[ReversalRow]] = {}
        for version in stage if left else ():
            for row in _run_version(runner, part, version, left):
                stage_rows.setdefault(row.method_id, []).append(row)
        for test in list(left):
            rows = [
                row
                for row in stage_rows[test.method_id]
                if row.outcome is not Outcome.COMPILE_ERROR
            ]
            if rows and stage[0].written == AS_BEFORE and _are_unnoticed(rows):
                unnoticed[test.method_id] = rows  # plain values tell whether it looks at all
            elif rows:
                yield test, [*unnoticed.pop(test.method_id, ()), *rows]
                left.remove(test)
        first = first or stage_rows
    yield from ((test, unnoticed.get(test.method_id, first[test.method_id])) for test in left)


def _are_unnoticed(rows: Sequence[ReversalRow]) -> bool:
    return all(row.outcome is Outcome.PASS for row in rows)


def _run_version(
    runner: EditedCellRunner, part: UndoablePart, version: UndoneVersion, tests: Sequence[GoldTest]
) -> Iterator[ReversalRow]:
    for files in dict.fromkeys(test.tests for test in tests):
        compiled = runner.compile(tests[0].method.module, version.edit, files)
        for test in (other for other in tests if other.tests == files):
            verdict = runner.run_and_confirm(compiled, test.method)
            compiles = compiled.code_failure is None
            yield _make_row(runner, test, part, verdict, version.written, compiles=compiles)


def _make_row_without_version(
    runner: EditedCellRunner, test: GoldTest, part: UndoablePart
) -> ReversalRow:
    """Return the row of a part that has no version: nothing stands in its place, or its type is gone."""
    if part.revised is Revised.INSERTED:
        return _make_row(runner, test, part, None)
    absent = Verdict(outcome=Outcome.COMPILE_ERROR, signature=TYPE_ABSENT)
    return _make_row(runner, test, part, absent, compiles=False)


def _make_row(
    runner: EditedCellRunner,
    test: GoldTest,
    part: UndoablePart,
    verdict: Verdict | None,
    written: str = '',
    *,
    compiles: bool = True,
) -> ReversalRow:
    if not part.is_offered:
        status = ReversalStatus.NOT_OFFERED
    elif verdict is None:
        status = ReversalStatus.NOT_RUN
    elif not compiles:
        status = ReversalStatus.DOES_NOT_COMPILE
    elif verdict.outcome is Outcome.PASS:
        status = ReversalStatus.UNDETECTED
    else:
        status = ReversalStatus.DETECTED
    return ReversalRow(
        repo=runner.pair.repo,
        walk=runner.pair.walk,
        pair_id=runner.pair.pair_id,
        method_id=test.method_id,
        declaration=part.declaration + written,
        file=part.file,
        start_line=part.start_line,
        revised=part.revised,
        status=status,
        outcome=verdict.outcome if verdict else None,
        signature=verdict.signature if verdict else None,
    )
