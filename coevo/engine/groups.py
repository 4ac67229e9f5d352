"""Groups of methods that are compiled together in one cell, and the cache of their runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.engine.results import CellResult, MethodRun, RunOrder, SelectedMethod
from coevo.languages.cells import Build, CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import OPTIONS_REFUSED, Verdict
from coevo.model import codec
from coevo.model.labels import list_deciding_cells
from coevo.model.records import Candidate, TestMethod
from coevo.model.words import Cell, Outcome
from coevo.storage.durable import FileCache

# A cache of test runs, keyed by content: the same tests on the same code in the same environment.
#
# An entry holds the runs of one batch: both shared passes and the processes of single methods. It
# is stored only if the runs of each method agree, none hit a limit and no override was used. An
# entry replaces exactly these runs, so results with and without the cache are the same.

_SHARED = (RunOrder.GIVEN, RunOrder.REVERSED)
_LIMITED = (Outcome.TIMEOUT, Outcome.INFRA)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedRun:
    """A run of a method; `place` is the index of the method in the batch."""

    place: int
    order: RunOrder
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _CacheEntry:
    runs: tuple[_CachedRun, ...]


Known = Mapping[tuple[str, RunOrder], Verdict]
"""Verdicts by method id and run order."""


class Cache:
    """A folder of entries, with about 150 bytes for each run.

    Without a folder nothing is found and nothing is stored.
    """

    def __init__(self, folder: Path | None) -> None:
        self.entries = FileCache(folder)

    def load_verdicts(self, key: str, batch: Sequence[str]) -> Known:
        """Return the verdicts that were stored for a batch of method ids, by id and order.

        Empty if there is no entry.
        """
        data = self.entries.read(key)
        if data is None:
            return {}
        runs = codec.decode_record(_CacheEntry, data).runs
        return {(batch[run.place], run.order): run.verdict for run in runs}

    def store_batch_if_cacheable(
        self, key: str, batch: Sequence[str], runs: Mapping[str, Sequence[MethodRun]]
    ) -> None:
        """Store the runs of a batch, unless those of a method disagree or hit a limit."""
        if not all(_can_be_cached(runs[method_id]) for method_id in batch):
            return
        cached_runs = (
            _CachedRun(place=position, order=run.order, verdict=run.verdict)
            for position, method_id in enumerate(batch)
            for run in runs[method_id]
        )
        self.entries.write_entry(key, codec.encode_record(_CacheEntry(runs=tuple(cached_runs))))


def compute_batch_key(content: str, methods: Iterable[TestMethod], *surroundings: str) -> str:
    """Return the key of a batch of methods, in its order.

    content       the digest of the compiled cell
    surroundings  further texts that the key depends on, such as the engine's version
    """
    digest = hashlib.sha256()
    for part in (*surroundings, content, *(repr(method) for method in methods)):
        digest.update(part.encode(errors='surrogateescape') + b'\0')
    return digest.hexdigest()


def _can_be_cached(runs: Sequence[MethodRun]) -> bool:
    """Return whether the runs of a method may be stored.

    There must be one run in each shared order and at most one alone; all must agree, and none may
    have hit a limit.
    """
    orders = Counter(run.order for run in runs)
    return (
        all(orders[order] == 1 for order in _SHARED)
        and orders[RunOrder.ALONE] <= 1
        and len({run.agreement_key for run in runs}) == 1
        and not any(run.verdict.outcome in _LIMITED for run in runs)
    )


# Groups: the methods of one module in one cell, compiled together, with the runs so far.

# A method with two time-outs and nothing else is not run again (docs/evidence.md).
TIMEOUT_RUNS = 2

Results = Mapping[str, Mapping[Cell, CellResult]]
CellsOf = Callable[[Candidate], Sequence[Cell]]
"""Returns the cells to run for a test method."""


def list_cells_of_candidate(candidate: Candidate) -> tuple[Cell, ...]:
    """Return the cells that are run for a test method in any case; `LATER_CELL` may follow."""
    return list_deciding_cells(candidate.change, surroundings_differ=candidate.surroundings_differ)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltRevisions:
    """The builds of both revisions of a pair."""

    old: Build
    new: Build

    def get_tests_build(self, cell: Cell) -> Build:
        """Return the build of the revision that the cell's tests come from."""
        return self.new if cell.tests_are_new else self.old

    def get_code_build(self, cell: Cell) -> Build:
        """Return the build of the revision that the cell's code comes from."""
        return self.new if cell.code_is_new else self.old

    def get_build_opposite_to_code(self, cell: Cell) -> Build:
        """Return the build of the revision that the cell's code does not come from."""
        return self.old if cell.code_is_new else self.new


@dataclass(slots=True, kw_only=True)
class CellGroup:
    """The methods of one module in one cell.

    methods  by method id
    runs     the runs so far, by method id
    known    the verdicts that the cache has for the group
    """

    cell: Cell
    compiled: CompiledTests
    methods: dict[str, TestMethod]
    runs: dict[str, list[MethodRun]] = field(default_factory=dict)
    known: Known = field(default_factory=dict)

    def record_run(self, method_id: str, verdict: Verdict, order: RunOrder) -> None:
        """Add a run of a method; a compiler's verdict has the order `COMPILE`."""
        self.runs.setdefault(method_id, []).append(MethodRun(order=order, verdict=verdict))

    def list_methods_to_run(self) -> list[str]:
        """Return the ids of methods without a compiler's verdict, which have to be run."""
        return [m for m in self.methods if not self._has_compile_verdict(m)]

    def find_disagreeing_methods(self) -> set[str]:
        """Return the ids of methods whose runs disagree in outcome or failure signature."""
        return {
            m
            for m in self.list_methods_to_run()
            if len({r.agreement_key for r in self.runs[m]}) > 1
        }

    def has_timed_out_enough(self, method_id: str) -> bool:
        """Return whether a method has at least two runs, all of them time-outs."""
        runs = self.runs.get(method_id, ())
        timed_out = all(run.verdict.outcome is Outcome.TIMEOUT for run in runs)
        return len(runs) >= TIMEOUT_RUNS and timed_out

    def _has_compile_verdict(self, method_id: str) -> bool:
        return any(run.order is RunOrder.COMPILE for run in self.runs.get(method_id, ()))


def has_no_result_on_own_code(groups: Sequence[CellGroup]) -> bool:
    """Return whether no test produced a result on its own revision's code.

    That is so if each test does not compile, or its process refuses the project's options. Tests
    that were not found are ignored, since another runtime would not find them either; there must be
    at least one other.
    """
    own = [
        run.verdict
        for group in groups
        if group.cell.tests_are_new == group.cell.code_is_new
        for runs in group.runs.values()
        for run in runs
    ]
    kept_back = [verdict for verdict in own if _was_kept_from_running(verdict)]
    others = {verdict.outcome for verdict in own if not _was_kept_from_running(verdict)}
    return bool(kept_back) and others <= {Outcome.MISSING}


def _was_kept_from_running(verdict: Verdict) -> bool:
    """Return whether a test did not compile, or its process refused the project's options."""
    return verdict.outcome is Outcome.COMPILE_ERROR or verdict.signature == OPTIONS_REFUSED


def find_unbuildable_cells(
    ends: BuiltRevisions,
    selected: Sequence[SelectedMethod],
    cells: CellsOf = list_cells_of_candidate,
) -> Results:
    """Return the result UNBUILDABLE for each cell whose code does not build. Nothing is run."""
    results: dict[str, dict[Cell, CellResult]] = {}
    for item, cell, method in _list_needed_cells(selected, cells):
        trouble = ends.get_code_build(cell).find_trouble(method.module)
        if trouble is not None:
            verdict = Verdict(outcome=Outcome.UNBUILDABLE, signature=trouble)
            run = MethodRun(order=RunOrder.COMPILE, verdict=verdict)
            results.setdefault(item.method_id, {})[cell] = CellResult(runs=(run,), unit_ok=True)
    return results


def compile_groups(
    built: BuiltPair,
    ends: BuiltRevisions,
    selected: Sequence[SelectedMethod],
    settled: Results,
    cells: CellsOf = list_cells_of_candidate,
) -> Iterator[CellGroup]:
    """Yield the groups of all cells that are not in `settled`, compiled but not yet run."""
    members: dict[tuple[Cell, str], dict[str, TestMethod]] = {}
    for item, cell, method in _list_needed_cells(selected, cells):
        if cell not in settled.get(item.method_id, {}):
            members.setdefault((cell, method.module), {})[item.method_id] = method
    for (cell, module), methods in sorted(members.items()):
        compiled = built.compile(
            ends.get_tests_build(cell).rev,
            ends.get_code_build(cell).rev,
            module,
            methods=tuple(methods.values()),
        )
        yield make_compiled_group(built, cell, compiled, methods)


def make_compiled_group(
    built: BuiltPair, cell: Cell, compiled: CompiledTests, methods: dict[str, TestMethod]
) -> CellGroup:
    """Return a group in which each method that does not compile has the compiler's verdict."""
    group = CellGroup(cell=cell, compiled=compiled, methods=methods)
    for method_id, method in methods.items():
        verdict = built.find_compile_verdict(compiled, method)
        if verdict is not None:
            group.record_run(method_id, verdict, RunOrder.COMPILE)
    return group


def collect_results(settled: Results, groups: Sequence[CellGroup]) -> Results:
    """Return the results in `settled` and those of the groups' runs, sorted by id and cell."""
    results = {method_id: dict(cells) for method_id, cells in settled.items()}
    for group in groups:
        for method_id, runs in group.runs.items():
            whole = group.compiled.does_unit_compile(group.methods[method_id])
            result = CellResult(runs=tuple(runs), unit_ok=whole)
            results.setdefault(method_id, {})[group.cell] = result
    return {method_id: dict(sorted(cells.items())) for method_id, cells in sorted(results.items())}


def _list_needed_cells(
    selected: Sequence[SelectedMethod], cells: CellsOf
) -> Iterator[tuple[SelectedMethod, Cell, TestMethod]]:
    for item in selected:
        for cell in cells(item.candidate):
            method = get_method_in_cell(item.candidate, cell)
            assert method is not None, 'a cell that is asked for has a test at its revision'
            yield item, cell, method


def get_method_in_cell(candidate: Candidate, cell: Cell) -> TestMethod | None:
    """Return the test method at the revision of the cell's tests; None if it is not there."""
    return candidate.new if cell.tests_are_new else candidate.old
