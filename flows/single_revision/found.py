"""Make rows of `single_revision`, and keep the results of a revision's test files while others are
still to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from coevo.engine.results import Cost, Step
from coevo.git.patches import make_file_patch
from coevo.model import codec
from coevo.model.families import Family, Focus, StartBuilder
from coevo.model.reasons import Reason
from coevo.model.records import Pair, compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.storage.durable import FileCache
from flows.single_revision.observed_suite import ObservedRevision, ObservedSuite
from flows.single_revision.selection import Steadiness
from flows.single_revision.starts import BUILDERS, STARTS, NoStart
from miners.single_revision import SingleRevisionFile

Found = SingleRevisionRow | tuple[SingleRevisionRow, Reason, str]
"""A row, or a row with the reason why it gives no task, and a detail."""


def make_unmeasured_row(
    pair: Pair,
    file: SingleRevisionFile,
    family: Family,
    focus: tuple[Focus, ...],
    unit: str | None = None,
) -> SingleRevisionRow:
    """Return a row of a test file with what is known before anything is run."""
    return SingleRevisionRow(
        suite_id=_compute_suite_id(pair, file.test_file, family, None, unit),
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        new_rev=pair.new.rev,
        module=file.module,
        test_file=file.test_file,
        tests=len(file.methods),
        focus=focus,
        family=family,
        unit=unit,
    )


def _compute_suite_id(
    pair: Pair, test_file: str, family: Family, builder: StartBuilder | None, unit: str | None
) -> str:
    return compute_short_hash(pair.pair_id, test_file, family, *filter(None, (builder, unit)))


def add_run_results(
    revision: ObservedRevision, row: SingleRevisionRow, steady: Steadiness
) -> SingleRevisionRow:
    """Return the row with the number of passing and unstable tests over all runs."""
    return replace(
        row,
        passing=len(steady.passing),
        unstable=steady.unstable,
        runs=steady.runs,
        override='+'.join(revision.evaluation.overrides) or None,
    )


def build_start_rows(
    family: Family, row: SingleRevisionRow, observed: ObservedSuite
) -> Iterator[Found]:
    """Yield a row for each kind of start state of the family, made or not.

    A start that cannot be made gives its row with the reason. If the observer did not confirm a
    pass of gold, there is only one row, with that reason.
    """
    if observed.doubt is not None:
        yield row, Reason.PASS_NOT_CONFIRMED, observed.doubt
        return
    adequacy, mutants = observed.measure_adequacy(row.focus, row.tests)
    gold = replace(row, adequacy=adequacy, mutants=mutants, reads_sources=observed.reads_sources)
    pair, entry = observed.revision.pair, observed.revision.tree.entries[row.test_file]
    for builder in STARTS[family]:
        own = _compute_suite_id(pair, row.test_file, family, builder, row.unit)
        start = BUILDERS[builder](observed, gold)
        if isinstance(start, NoStart):
            empty = replace(
                row,
                suite_id=own,
                start_builder=builder,
                start_adequacy=start.adequacy,
                start_rev=start.rev,
            )
            yield empty, start.reason, start.detail
            continue
        yield replace(
            gold,
            suite_id=own,
            start_builder=builder,
            start_adequacy=start.adequacy,
            start_rev=start.rev,
            defect=start.defect,
            start_patch=make_file_patch(row.test_file, start.text, observed.text, entry.mode),
        )


# Keep the results of a revision's test files while other files are still to be studied.
#
# A revision takes as long as a hundred pairs, so an interrupted run continues with the next file.


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredRow:
    row: SingleRevisionRow
    reason: Reason | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredCost:
    step: Step
    cpu_seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredPart:
    rows: tuple[_StoredRow, ...]
    spent: tuple[_StoredCost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCache:
    """The kept rows of one segment, part by part.

    key  covers everything on which rows depend except their file, as the key of the segment does
    """

    entries: FileCache
    key: str

    def load_or_make_rows(
        self, part: str, cost: Cost, make: Callable[[], Iterable[Found]]
    ) -> tuple[Found, ...]:
        """Return the rows of a part of the revision from the cache; else make them and store them.

        The cost of making them is stored, too, and added to `cost` when stored rows are used.
        """
        key = compute_short_hash(self.key, part)
        known = self.entries.read(key)
        if known is not None:
            return _unpack_rows(codec.decode_record(_StoredPart, known), cost)
        before = dict(cost.cpu_seconds), dict(cost.counts)
        new_rows = tuple(make())
        stored_part = _StoredPart(
            rows=tuple(map(_pack_row, new_rows)), spent=tuple(_list_new_costs(cost, *before))
        )
        self.entries.write_entry(key, codec.encode_record(stored_part))
        return new_rows


def _list_new_costs(
    cost: Cost, cpu_seconds: Mapping[Step, float], counts: Mapping[Step, int]
) -> Iterator[_StoredCost]:
    """Yield the costs since an earlier state."""
    for step, count in cost.counts.items():
        if count > counts.get(step, 0):
            yield _StoredCost(
                step=step,
                cpu_seconds=cost.cpu_seconds[step] - cpu_seconds.get(step, 0.0),
                count=count - counts.get(step, 0),
            )


def _pack_row(found: Found) -> _StoredRow:
    if isinstance(found, SingleRevisionRow):
        return _StoredRow(row=found, reason=None, detail='')
    row, reason, detail = found
    return _StoredRow(row=row, reason=reason, detail=detail)


def _unpack_rows(known: _StoredPart, cost: Cost) -> tuple[Found, ...]:
    for stored_cost in known.spent:
        cost.add(stored_cost.step, stored_cost.cpu_seconds, stored_cost.count)
    return tuple(
        stored_row.row
        if stored_row.reason is None
        else (stored_row.row, stored_row.reason, stored_row.detail)
        for stored_row in known.rows
    )
