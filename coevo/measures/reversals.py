"""Find out which parts of a change gold tests notice, by undoing each part alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from coevo.languages.verdicts import Verdict
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.parts import Key, UndoablePart, list_undoable_parts
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.words import Outcome

TYPE_ABSENT = 'type_absent'
"""The signature for a declaration whose type does not exist at the other end."""


def measure_reversals(
    runner: EditedCellRunner, tests: Sequence[GoldTest], most_runs: int | None = None
) -> tuple[ReversalRow, ...]:
    """Run every test alone with each part of its changed dependencies undone in the new code.

    The tests are known to pass on the new code as it is. Each part is compiled once for all tests
    of a module. The first part of every dependency comes first, dependencies of best rank before
    others; then the second parts follow, and so on. Parts beyond `most_runs` are `not_run`; parts
    that the language cannot undo are `not_offered`.
    Raises: Transient if a test process does not start.
    """
    parts = {test.method_id: _list_wanted_parts(runner, test) for test in tests}
    rows: dict[tuple[str, Key], ReversalRow] = {}
    left = most_runs
    for part, concerned in _group_by_part(tests, parts):
        run = concerned[:left] if part.is_offered else []
        left = None if left is None else left - len(run)
        for row in _run_undone(runner, part, run):
            rows[row.method_id, part.key] = row
        for test in concerned[len(run) :]:
            rows[test.method_id, part.key] = _make_row(runner, test, part, None)
    return tuple(
        rows[test.method_id, part.key] for test in tests for _, part in parts[test.method_id]
    )


Place = tuple[int, int]
"""The index of a part in its dependency, and the rank of the dependency."""


def _list_wanted_parts(
    runner: EditedCellRunner, test: GoldTest
) -> list[tuple[Place, UndoablePart]]:
    """Return the parts that are to be undone for a test, each once."""
    by_key: dict[Key, tuple[Place, UndoablePart]] = {}
    for dependency in test.dependencies:
        parts = list_undoable_parts(runner.repository, runner.pair, dependency)
        for number, part in enumerate(parts):
            if test.undone is None or part.key in test.undone:
                by_key.setdefault(part.key, ((number, dependency.rank), part))
    return list(by_key.values())


def _group_by_part(
    tests: Iterable[GoldTest], parts: Mapping[str, Sequence[tuple[Place, UndoablePart]]]
) -> Iterator[tuple[UndoablePart, list[GoldTest]]]:
    """Yield every part with the tests of one module that depend on it, in the order of runs."""
    groups: dict[tuple[Key, str], tuple[Place, UndoablePart, list[GoldTest]]] = {}
    for test in tests:
        for position, part in parts[test.method_id]:
            group = groups.setdefault((part.key, test.method.module), (position, part, []))
            group[2].append(test)
    for key in sorted(groups, key=lambda key: (groups[key][0], key)):
        yield groups[key][1:]


def _run_undone(
    runner: EditedCellRunner, part: UndoablePart, tests: Sequence[GoldTest]
) -> Iterator[ReversalRow]:
    if not tests:
        return
    if part.edit is None:
        absent = Verdict(outcome=Outcome.COMPILE_ERROR, signature=TYPE_ABSENT)
        yield from (_make_row(runner, test, part, absent, compiles=False) for test in tests)
        return
    for files in dict.fromkeys(test.tests for test in tests):
        compiled = runner.compile(tests[0].method.module, part.edit, files)
        for test in (other for other in tests if other.tests == files):
            verdict = runner.run_confirmed(compiled, test.method)
            yield _make_row(runner, test, part, verdict, compiles=compiled.code_failure is None)


def _make_row(
    runner: EditedCellRunner,
    test: GoldTest,
    part: UndoablePart,
    verdict: Verdict | None,
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
        declaration=part.declaration,
        file=part.file,
        start_line=part.start_line,
        revised=part.revised,
        status=status,
        outcome=verdict.outcome if verdict else None,
        signature=verdict.signature if verdict else None,
    )
