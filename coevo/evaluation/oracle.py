"""What of the old test's oracle an update keeps: mutants of lines that the pair left as they were.

A mutant of such a line is one of the old code and of the new code alike. Those that the old test kills
on the old code are what it was good for beside the change; an update should still kill them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo import codec
from coevo import durable
from coevo.evaluation.records import OraclePreservation
from coevo.execution import ENGINE_VERSION
from coevo.git import Repository
from coevo.measures.added_lines import LeftLines
from coevo.measures.added_lines import left_lines
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.counterparts import declared
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.mutant_sets import file_mutants
from coevo.measures.mutants import run_mutants
from coevo.measures.universal_mutator import OutOfTime
from coevo.quality import MutantRow
from coevo.records import Outcome
from coevo.records import Revised
from coevo.records import TestMethod
from coevo.records import short_hash
from coevo.syntax import parse
from coevo.tables import MethodRow
from coevo.test_files import content

_NO_VERDICT_OF_TESTS = (Outcome.COMPILE_ERROR, Outcome.UNBUILDABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldKills:
    """The mutants, as they stand at new, that an old test kills on the old code."""

    kept: tuple[DrawnMutant, ...]


def old_kills(old: Bench, new: Bench, row: MethodRow, folder: Path | None) -> MutantSet:
    """What an update has to kill; none where the old test does not pass by itself.

    folder  where it is kept for other submissions to the same task
    """
    method = old_method(old.repository, old.rev, row)
    if method is None:
        return MutantSet()
    path = _place(old, new, row, method, folder)
    known = _read(path)
    if known is None:
        known = OldKills(kept=tuple(_killed(old, new, row, method)))
        if path is not None:
            durable.write(path, [codec.encode(known)])
    return MutantSet(kept=known.kept)


def preservation(asked: MutantSet, pred: Sequence[MutantRow]) -> OraclePreservation | None:
    """None where the old test kills nothing, or the update does not pass three times."""
    ids = {one.mutant_id for one in asked.kept}
    told = [row.killed for row in pred if row.mutant_id in ids and row.killed is not None]
    if not told:
        return None
    return OraclePreservation(count=len(told), lost=told.count(False), not_run=len(ids) - len(told))


# -- the old test --------------------------------------------------------------------------------


def old_method(repository: Repository, old_rev: str, row: MethodRow) -> TestMethod | None:
    """The test as it was; its parameters, which no row has, as its file declares them."""
    found = TestMethod(
        module=row.old_module or row.module,
        test_file=row.old_test_file or row.test_file,
        test_class=row.old_test_class or row.test_class,
        test_method=row.old_test_method or row.test_method,
        parameters=row.parameters,
    )
    source = content(repository, old_rev, found.test_file)
    alike = [
        member.parameters
        for type_ in (parse(source).types if source is not None else ())
        if type_.name == found.test_class
        for member in type_.members
        if member.kind == 'method' and member.name == found.test_method
    ]
    if found.parameters in alike:
        return found
    return replace(found, parameters=alike[0]) if len(alike) == 1 else None


def _killed(old: Bench, new: Bench, row: MethodRow, method: TestMethod) -> Iterator[DrawnMutant]:
    drawn = {one.mutant_id: one for one in _drawn(new, row)}
    left = {one.file: _left(new, one.file) for one in drawn.values()}
    at_old = [_at_old(one, left[one.file]) for one in drawn.values()]
    test = GoldTest(method_id=row.method_id, method=method, dependencies=())
    asked = MutantSet(kept=tuple(one for one in at_old if one is not None))
    for ran in run_mutants(old, [test], {row.method_id: asked}).rows:
        if ran.killed and ran.outcome not in _NO_VERDICT_OF_TESTS:
            yield drawn[ran.mutant_id]


# -- mutants of what was left --------------------------------------------------------------------


def _drawn(new: Bench, row: MethodRow) -> Iterator[DrawnMutant]:
    """Ten of each file at most, as for the lines that were added (TestEvo-Bench, A.5)."""
    for path, lines in sorted(_lines(new, row).items()):
        try:
            file = file_mutants(new, path, lines)
        except OutOfTime:
            continue
        found = file.drawn(new, lines) if file is not None else None
        yield from (one for one in found.kept if not one.equal_byte_code) if found else ()


def _lines(new: Bench, row: MethodRow) -> Mapping[str, frozenset[int]]:
    """By path, the lines of changed dependency methods that the pair left as they were."""
    found: dict[str, frozenset[int]] = {}
    for one in row.dependencies:
        if one.revised is Revised.REMOVED or declared(new.repository, new.pair, one) is None:
            continue
        left = _left(new, one.file)
        own = frozenset(range(one.start_line, one.end_line + 1))
        if left is not None and own & left.old_lines.keys():
            found[one.file] = found.get(one.file, frozenset()) | (own & left.old_lines.keys())
    return found


def _left(new: Bench, path: str) -> LeftLines | None:
    return left_lines(new.repository, new.pair.old.rev, new.pair.new.rev, path)


def _at_old(one: DrawnMutant, left: LeftLines | None) -> DrawnMutant | None:
    if left is None:
        return None
    line = left.old_lines[one.mutant.line]
    return replace(one, file=left.old_path, mutant=replace(one.mutant, line=line))


# -- kept for other submissions --------------------------------------------------------------------


def _place(
    old: Bench, new: Bench, row: MethodRow, method: TestMethod, folder: Path | None
) -> Path | None:
    """Named by all that the answer rests on; None where that cannot be told."""
    if folder is None:
        return None
    known = old.workshop.content(old.compile(method.module))
    if known is None:
        return None
    parts = (row.method_id, new.rev, repr(row.dependencies), str(ENGINE_VERSION), known)
    return folder / f'{short_hash(*parts, str(old.override))}.json'


def _read(path: Path | None) -> OldKills | None:
    """None where nothing is kept, or nothing that could be read."""
    try:
        return codec.decode(OldKills, path.read_bytes()) if path is not None else None
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # damaged: it is found out anew
