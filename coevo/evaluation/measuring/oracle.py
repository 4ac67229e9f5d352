"""The part of the old test's oracle that an update keeps, by mutants of unchanged lines.

A mutant of an unchanged line is a mutant of both the old and the new code. If the old test kills it
on the old code, the updated test should still kill it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.evaluation.worth import OraclePreservation
from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import find_declared_method
from coevo.languages.table import get_engine_version, get_reading
from coevo.measures.added_lines import UnchangedLines, find_unchanged_lines
from coevo.measures.declaration_pairs import find_method_or_constructor
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutant_sets import DrawnMutant, MutantSet
from coevo.measures.mutants import draw_mutant_sets, run_mutants
from coevo.model import codec
from coevo.model.dependencies import Revised
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow
from coevo.model.records import TestMethod, compute_short_hash
from coevo.model.words import Outcome
from coevo.storage import durable

# The most mutants for each old test, the first in a random order. The limit is a number, not a
# time, so that the speed of the machine does not matter.
MOST_MUTANTS = 100

_NO_VERDICT_OF_TESTS = (Outcome.COMPILE_ERROR, Outcome.UNBUILDABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldKills:
    """The mutants, located in the new code, that an old test kills on the old code."""

    kept: tuple[DrawnMutant, ...]


def find_old_kills(
    old: EditedCellRunner, new: EditedCellRunner, rows: Mapping[str, MethodRow], folder: Path | None
) -> dict[str, MutantSet]:
    """Run the old tests with mutants of unchanged lines, and return, by name, those that they kill.

    An updated test should kill them, too. There are none if the old test fails by itself or is not
    found.
    folder  folder that keeps them for other submissions to the same task
    """
    olds = {name: _make_old_test(old, name, row) for name, row in rows.items()}
    tests = {name: test for name, test in olds.items() if test is not None}
    places = {name: _locate_cached_kills(old, new, test, folder) for name, test in tests.items()}
    known = {name: _load_cached_kills(cache_path) for name, cache_path in places.items()}
    kills = {name: entry.kept for name, entry in known.items() if entry is not None}
    left = [test for name, test in tests.items() if name not in kills]
    for name, mutants in _run_old_kills(old, new, left).items():
        kills[name] = mutants
        cache_path = places[name]
        if cache_path is not None:
            durable.write_checksummed(cache_path, codec.encode_record(OldKills(kept=mutants)))
    return {name: MutantSet(mutants=kills.get(name, ())) for name in rows}


def measure_preservation(asked: MutantSet, pred: Sequence[MutantRow]) -> OraclePreservation | None:
    """Count the mutants that an update kills no longer.

    None if the old test kills nothing, or if the update does not pass three times.
    """
    ids = {mutant.mutant_id for mutant in asked.mutants}
    kill_flags = [row.killed for row in pred if row.mutant_id in ids and row.killed is not None]
    if not kill_flags:
        return None
    return OraclePreservation(
        count=len(kill_flags), lost=kill_flags.count(False), not_run=len(ids) - len(kill_flags)
    )


# -- old tests -----------------------------------------------------------------------------------


def _make_old_test(old: EditedCellRunner, name: str, row: MethodRow) -> GoldTest | None:
    """Return the old test with the dependencies of the new one; None if it cannot be found."""
    method = find_old_method(old.repository, old.pair.language, old.rev, row)
    if method is None:
        return None
    return GoldTest(method_id=name, method=method, dependencies=row.dependencies)


def find_old_method(
    repository: Repository, language: str, old_rev: str, row: MethodRow
) -> TestMethod | None:
    """Return the test in the old revision; None if not found.

    Its parameters come from its file, since rows do not have the parameters of old tests.
    """
    method_at_old = TestMethod(
        module=row.old_module or row.module,
        test_file=row.old_test_file or row.test_file,
        test_class=row.old_test_class or row.test_class,
        test_method=row.old_test_method or row.test_method,
        parameters=row.parameters,
    )
    source = load_content(repository, old_rev, method_at_old.test_file)
    if source is None:
        return None
    return find_declared_method(
        get_reading(language).parse(source, method_at_old.test_file), method_at_old
    )


def _run_old_kills(
    old: EditedCellRunner, new: EditedCellRunner, tests: Sequence[GoldTest]
) -> dict[str, tuple[DrawnMutant, ...]]:
    """Return, by name, the mutants that the old tests kill, located in the new code.

    Mutants are drawn as for gold, ten of each file at most (TestEvo-Bench, A.5).
    """
    sets = draw_mutant_sets(
        new, {test.method_id: _list_unchanged_lines(new, test) for test in tests}
    )
    drawn = {name: _choose_first_mutants(mutant_set) for name, mutant_set in sets.items()}
    at_old = {name: _move_mutants_to_old(new, mutant_set) for name, mutant_set in drawn.items()}
    killed = {
        (row.method_id, row.mutant_id)
        for row in run_mutants(old, tests, at_old).rows
        if row.killed and row.outcome not in _NO_VERDICT_OF_TESTS
    }
    return {
        test.method_id: tuple(
            mutant
            for mutant in drawn.get(test.method_id, MutantSet()).mutants
            if (test.method_id, mutant.mutant_id) in killed
        )
        for test in tests
    }


# -- mutants of unchanged lines ------------------------------------------------------------------


def _list_unchanged_lines(new: EditedCellRunner, test: GoldTest) -> Mapping[str, frozenset[int]]:
    """Return, by path, the lines of changed dependency methods that the pair left unchanged."""
    lines_by_file: dict[str, frozenset[int]] = {}
    for dependency in test.dependencies:
        if (
            dependency.revised is Revised.REMOVED
            or find_method_or_constructor(new.repository, new.pair, dependency) is None
        ):
            continue
        left = _map_unchanged_lines(new, dependency.file)
        own = frozenset(range(dependency.start_line, dependency.end_line + 1))
        if left is not None and own & left.old_lines.keys():
            lines_by_file[dependency.file] = lines_by_file.get(dependency.file, frozenset()) | (
                own & left.old_lines.keys()
            )
    return lines_by_file


def _choose_first_mutants(found: MutantSet) -> MutantSet:
    chosen = {
        mutant.mutant_id
        for mutant in sorted(found.mutants, key=lambda mutant: mutant.mutant_id)[:MOST_MUTANTS]
    }
    return replace(
        found, mutants=tuple(mutant for mutant in found.mutants if mutant.mutant_id in chosen)
    )


def _move_mutants_to_old(new: EditedCellRunner, found: MutantSet) -> MutantSet:
    """Return the mutants located in the old files, without those that compile to the same code."""
    return MutantSet(
        mutants=tuple(
            replace(drawn, file=left.old_path, mutant=replace(drawn.mutant, line=line))
            for drawn in found.mutants
            if not drawn.equal_compiled
            and (left := _map_unchanged_lines(new, drawn.file)) is not None
            and (line := left.old_lines.get(drawn.mutant.line)) is not None
        )
    )


def _map_unchanged_lines(new: EditedCellRunner, path: str) -> UnchangedLines | None:
    return find_unchanged_lines(new.repository, new.pair.old.rev, new.pair.new.rev, path)


# -- results kept for other submissions ------------------------------------------------------------


def _locate_cached_kills(
    old: EditedCellRunner, new: EditedCellRunner, test: GoldTest, folder: Path | None
) -> Path | None:
    """Return a path named by everything that the result depends on; None if that is unknown."""
    if folder is None:
        return None
    known = old.built.digest_run_inputs(old.compile(test.method.module))
    if known is None:
        return None
    parts = (
        repr(test),
        new.rev,
        str(get_engine_version(new.pair.language)),
        known,
        repr(old.sources),
    )
    return folder / compute_short_hash(*parts, str(old.override))


def _load_cached_kills(path: Path | None) -> OldKills | None:
    data = durable.load_checksummed_removing_damaged(path) if path is not None else None
    return codec.decode_record(OldKills, data) if data is not None else None
