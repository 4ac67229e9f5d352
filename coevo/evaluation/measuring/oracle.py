"""What of the old test's oracle an update keeps: mutants of lines that the pair left as they were.

A mutant of such a line is one of the old code and of the new code alike. Those that the old test kills
on the old code are what it was good for beside the change; an update should still kill them.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.evaluation.worth import OraclePreservation
from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.declared_tests import as_declared
from coevo.languages.table import engine_version
from coevo.languages.table import reading
from coevo.measures.added_lines import LeftLines
from coevo.measures.added_lines import left_lines
from coevo.measures.declaration_pairs import declared
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import GoldTest
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.mutants import mutant_sets
from coevo.measures.mutants import run_mutants
from coevo.model import codec
from coevo.model.dependencies import Revised
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.model.words import Outcome
from coevo.storage import checksummed

# Of each old test, the first of a random order: a count, so that no machine's speed decides.
MOST_MUTANTS = 100

_NO_VERDICT_OF_TESTS = (Outcome.COMPILE_ERROR, Outcome.UNBUILDABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldKills:
    """The mutants, as they stand at new, that an old test kills on the old code."""

    kept: tuple[DrawnMutant, ...]


def old_kills(
    old: EditedCellRunner, new: EditedCellRunner, rows: Mapping[str, MethodRow], folder: Path | None
) -> dict[str, MutantSet]:
    """What updates have to kill, by name; nothing where the old test does not pass by itself.

    folder  where it is kept for other submissions to the same task
    """
    olds = {name: _old_test(old, name, row) for name, row in rows.items()}
    tests = {name: test for name, test in olds.items() if test is not None}
    places = {name: _place(old, new, test, folder) for name, test in tests.items()}
    known = {name: _read(place) for name, place in places.items()}
    found = {name: one.kept for name, one in known.items() if one is not None}
    left = [test for name, test in tests.items() if name not in found]
    for name, kept in _killed(old, new, left).items():
        found[name] = kept
        place = places[name]
        if place is not None:
            checksummed.write(place, codec.encode(OldKills(kept=kept)))
    return {name: MutantSet(kept=found.get(name, ())) for name in rows}


def preservation(asked: MutantSet, pred: Sequence[MutantRow]) -> OraclePreservation | None:
    """None where the old test kills nothing, or the update does not pass three times."""
    ids = {one.mutant_id for one in asked.kept}
    told = [row.killed for row in pred if row.mutant_id in ids and row.killed is not None]
    if not told:
        return None
    return OraclePreservation(count=len(told), lost=told.count(False), not_run=len(ids) - len(told))


# -- the old tests -------------------------------------------------------------------------------


def _old_test(old: EditedCellRunner, name: str, row: MethodRow) -> GoldTest | None:
    """An old test with the dependencies of the new one."""
    method = old_method(old.repository, old.pair.language, old.rev, row)
    if method is None:
        return None
    return GoldTest(method_id=name, method=method, dependencies=row.dependencies)


def old_method(
    repository: Repository, language: str, old_rev: str, row: MethodRow
) -> TestMethod | None:
    """The test as it was; its parameters, which no row has, as its file declares them."""
    found = TestMethod(
        module=row.old_module or row.module,
        test_file=row.old_test_file or row.test_file,
        test_class=row.old_test_class or row.test_class,
        test_method=row.old_test_method or row.test_method,
        parameters=row.parameters,
    )
    source = content(repository, old_rev, found.test_file)
    if source is None:
        return None
    return as_declared(reading(language).parse(source, found.test_file), found)


def _killed(
    old: EditedCellRunner, new: EditedCellRunner, tests: Sequence[GoldTest]
) -> dict[str, tuple[DrawnMutant, ...]]:
    """By name, the mutants as they stand at new; ten of each file at most (TestEvo-Bench, A.5)."""
    sets = mutant_sets(new, {test.method_id: _lines(new, test) for test in tests})
    drawn = {name: _first(one) for name, one in sets.items()}
    at_old = {name: _at_old(new, one) for name, one in drawn.items()}
    killed = {
        (row.method_id, row.mutant_id)
        for row in run_mutants(old, tests, at_old).rows
        if row.killed and row.outcome not in _NO_VERDICT_OF_TESTS
    }
    return {
        test.method_id: tuple(
            one
            for one in drawn.get(test.method_id, MutantSet()).kept
            if (test.method_id, one.mutant_id) in killed
        )
        for test in tests
    }


# -- mutants of what was left --------------------------------------------------------------------


def _lines(new: EditedCellRunner, test: GoldTest) -> Mapping[str, frozenset[int]]:
    """By path, the lines of changed dependency methods that the pair left as they were."""
    found: dict[str, frozenset[int]] = {}
    for one in test.dependencies:
        if one.revised is Revised.REMOVED or declared(new.repository, new.pair, one) is None:
            continue
        left = _left(new, one.file)
        own = frozenset(range(one.start_line, one.end_line + 1))
        if left is not None and own & left.old_lines.keys():
            found[one.file] = found.get(one.file, frozenset()) | (own & left.old_lines.keys())
    return found


def _first(found: MutantSet) -> MutantSet:
    chosen = {
        one.mutant_id for one in sorted(found.kept, key=lambda one: one.mutant_id)[:MOST_MUTANTS]
    }
    return replace(found, kept=tuple(one for one in found.kept if one.mutant_id in chosen))


def _at_old(new: EditedCellRunner, found: MutantSet) -> MutantSet:
    """The same mutants in the old files, less those that are no other programs."""
    return MutantSet(
        kept=tuple(
            replace(one, file=left.old_path, mutant=replace(one.mutant, line=line))
            for one in found.kept
            if not one.equal_compiled
            and (left := _left(new, one.file)) is not None
            and (line := left.old_lines.get(one.mutant.line)) is not None
        )
    )


def _left(new: EditedCellRunner, path: str) -> LeftLines | None:
    return left_lines(new.repository, new.pair.old.rev, new.pair.new.rev, path)


# -- kept for other submissions --------------------------------------------------------------------


def _place(
    old: EditedCellRunner, new: EditedCellRunner, test: GoldTest, folder: Path | None
) -> Path | None:
    """Named by all that the answer rests on; None where that cannot be told."""
    if folder is None:
        return None
    known = old.built.content(old.compile(test.method.module))
    if known is None:
        return None
    parts = (repr(test), new.rev, str(engine_version(new.pair.language)), known, repr(old.sources))
    return folder / short_hash(*parts, str(old.override))


def _read(path: Path | None) -> OldKills | None:
    data = checksummed.read(path) if path is not None else None
    return codec.decode(OldKills, data) if data is not None else None
