"""Make rows of `single_revision`: begun before anything is run, then one for each start state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coevo.git.patches import make_file_patch
from coevo.model.families import Family, Focus, StartBuilder
from coevo.model.reasons import Reason
from coevo.model.records import Pair, compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
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
