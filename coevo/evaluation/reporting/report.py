"""`report.json`: every figure of an evaluation, from the rows of its results alone.

    write_report(folder, rows) -> Report    writes folder/report.json, the same bytes for the same rows
    make_report(rows) -> Report             the same without a file; Fatal for rows that are no evaluation
    read_report(folder)                     what a file holds, as JSON
    tables.show(report)                     the tables for a terminal

Nothing of it depends on a clock, on seconds, or on the order of the rows. `report.schema.json` says
what the file holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import aggregates, bootstrap, costs, pit, subsets
from coevo.evaluation.reporting.attempts import AttemptReport, make_attempt_reports
from coevo.evaluation.reporting.families import FamilyReport, Suites, make_family_reports
from coevo.evaluation.reporting.rates import (
    Average,
    OutcomeRates,
    RateVerdict,
    estimate_rates,
    filter_graded,
)
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.results import RESULTS_VERSION
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.errors import Fatal
from coevo.model.words import Track
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.storage import durable
from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import load_file

_Value = TypeVar('_Value', int, str, str | None)

NAME = 'report.json'
# Raised when a field is lost or changes its meaning, or one comes that the page cannot do without.
REPORT_VERSION = 3

# Others write them, too: of a hundred attempts at ten thousand tasks, figures and intervals are some MB.
_MOST_BYTES, _MOST_VALUES = 256 << 20, 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """Who submitted, and for how many tasks; None where a prediction does not say it.

    cutoff  of the model's training, and who states it; None where no source does
    """

    harness: str | None
    model: str | None
    tasks: int
    cutoff: str | None = None
    cutoff_source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """How the intervals were made."""

    over: str = 'repositories'
    confidence: float = bootstrap.CONFIDENCE
    resamples: int = bootstrap.RESAMPLES
    seed: int = bootstrap.SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackReport:
    """All figures of a track. But for `infra_…`, trouble of ours counts nowhere.

    details   how many methods have which reason not to be a success
    exits     how many tasks an agent left with which exit status
    macro     over tasks (Table 3), micro: over methods; `…_by_module` as a compiler would have it
    coverage, mutation   Tables 6 to 9; code_coverage: over the lines that have code
    pit       None where it was not asked for
    """

    track: Track
    tasks: int
    methods: int
    repositories: int
    infra_tasks: int
    infra_methods: int
    details: Mapping[str, int]
    exits: Mapping[str, int]
    macro: OutcomeRates
    macro_by_module: OutcomeRates
    micro: OutcomeRates
    micro_by_module: OutcomeRates
    fields: aggregates.LeaderboardFields
    coverage: aggregates.OnPassMeans
    code_coverage: aggregates.OnPassMeans
    mutation: aggregates.OnPassMeans
    beyond: aggregates.ExtraMeasures
    half_years: Sequence[subsets.TrackSubset]
    causes: Sequence[subsets.TrackSubset]
    costs: costs.CostReport | None
    pit: pit.PitSummary | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`tasks_sha256` is over the test methods: reports compare where it is equal.

    `predictions_sha256` is over the hashes of all predictions, in the order of their tasks.
    `outcomes_sha256` is over the outcome of each test method, and whether it is a strict success:
    equal where two evaluations of the same predictions agree. Both are over all attempts; of the figures
    `attempts` alone is, which is empty where each task was attempted once. All others are of first attempts.
    """

    report_version: int
    results_version: int
    engine_versions: Sequence[str]
    sandboxes: Sequence[str]
    snapshot_sha256: str
    tasks_sha256: str
    predictions_sha256: str
    outcomes_sha256: str
    exposure: Exposure
    systems: Sequence[SystemSummary]
    tasks: int
    methods: int
    repositories: int
    intervals: BootstrapSettings
    tracks: Sequence[TrackReport]
    families: Sequence[FamilyReport] = ()
    attempts: Sequence[AttemptReport] = ()


def write_report(folder: Path, rows: Rows, suites: Suites = ()) -> Report:
    """Write `report.json`; the same rows give the same bytes."""
    report = make_report(rows, suites)
    durable.write_durably(folder / NAME, [encode_report(report)])
    return report


def load_report(folder: Path) -> Mapping[str, Any]:
    """What `report.json` holds; Fatal where there is none, or one of another version."""
    path = folder / NAME
    try:
        content = parse_json(load_file(path, most=_MOST_BYTES), most_values=_MOST_VALUES)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except OSError:
        raise Fatal(f'{folder} has no {NAME}; name the --out of a `coevo evaluate`') from None
    except (ValueError, RecursionError):  # no JSON, or such as a browser does not take
        content = None
    if not _is_report(content):
        raise Fatal(
            f'{path} is no report of version {REPORT_VERSION}; write it anew with '
            f'`coevo regrade {folder}`'
        )
    return content


def _is_report(found: object) -> TypeGuard[Mapping[str, Any]]:
    return (
        isinstance(found, dict)
        and found.get('report_version') == REPORT_VERSION
        and isinstance(found.get('snapshot_sha256'), str)
    )


def encode_report(report: Report) -> bytes:
    """The file's bytes: fields in the order of their records."""
    text = json.dumps(dataclasses.asdict(report), indent=1, ensure_ascii=False, allow_nan=False)
    return f'{text}\n'.encode()


def make_report(rows: Rows, suites: Suites = ()) -> Report:
    """`suites` are those of tasks that ask for one."""
    attempted = sorted(rows, key=lambda row: row.key)
    suites_attempted = sorted(suites, key=lambda row: row.key)
    ordered = [row for row in attempted if row.attempt == 1]
    of_suites = [row for row in suites_attempted if row.attempt == 1]
    everything: Sequence[MethodResult | SuiteResult] = (*ordered, *of_suites)
    if not everything:
        raise Fatal('the results have no rows: evaluate a snapshot with at least one task')
    all_rows: Sequence[MethodResult | SuiteResult] = (*attempted, *suites_attempted)
    versions = {row.results_version for row in ordered} or {RESULTS_VERSION}
    names = (f'{row.task_id} {row.method_id} {row.test_method}' for row in ordered)
    return Report(
        report_version=REPORT_VERSION,
        results_version=_get_only_value(versions, 'results versions'),
        engine_versions=sorted({row.engine_version for row in everything}),
        sandboxes=sorted({row.sandbox for row in everything}),
        snapshot_sha256=_get_only_value({row.snapshot_sha256 for row in everything}, 'snapshots'),
        tasks_sha256=_hash_lines((*names, *(row.task_id for row in of_suites))),
        predictions_sha256=_hash_lines(map(_format_prediction_line, all_rows)),
        outcomes_sha256=_hash_lines(
            (*map(_format_outcome_line, attempted), *map(_format_suite_line, suites_attempted))
        ),
        exposure=summarise_exposure(
            everything, _get_only_value({row.cutoff for row in everything}, 'cutoffs')
        ),
        systems=list_systems(everything),
        tasks=len({row.task_id for row in everything}),
        methods=len(ordered),
        repositories=len({row.repo for row in everything}),
        intervals=BootstrapSettings(),
        tracks=[
            _make_track_report([row for row in ordered if row.track is track], track)
            for track in Track
            if any(row.track is track for row in ordered)
        ],
        families=make_family_reports(of_suites),
        attempts=make_attempt_reports(attempted, suites_attempted),
    )


def list_systems(rows: Sequence[MethodResult | SuiteResult]) -> Sequence[SystemSummary]:
    """Those of the predictions; a task without one belongs to none."""
    system_by_task = {row.task_id: (row.harness, row.model) for row in rows}
    trained = {row.model: (row.model_cutoff, row.model_cutoff_source) for row in rows}
    counted = Counter(system_by_task.values())
    named = [pair for pair in counted if pair != (None, None)] or list(counted)
    return [
        SystemSummary(
            harness=harness,
            model=model,
            tasks=counted[harness, model],
            cutoff=trained[model][0],
            cutoff_source=trained[model][1],
        )
        for harness, model in sorted(named, key=lambda pair: (pair[0] or '', pair[1] or ''))
    ]


def _format_prediction_line(row: MethodResult | SuiteResult) -> str:
    return f'{row.task_id} {row.prediction_sha256}{_format_attempt(row)}'


def _format_outcome_line(row: MethodResult) -> str:
    strict = 'strict' if row.success_strict else ''
    return f'{row.task_id} {row.method_id} {row.test_method} {row.outcome} {strict}{_format_attempt(row)}'


def _format_attempt(row: MethodResult | SuiteResult) -> str:
    """Nothing of a first attempt, so that its hash is that of an evaluation of it alone."""
    return '' if row.attempt == 1 else f' {row.attempt}'


def _format_suite_line(row: SuiteResult) -> str:
    passing = (test.test_method for test in row.tests if test.passes)
    maintained = (str(maintained_test.outcome) for maintained_test in row.maintained or ())
    return f'{row.task_id} {row.attempt} {row.outcome} {" ".join((*passing, *maintained))}'


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256(''.join(f'{line}\n' for line in sorted(set(lines))).encode()).hexdigest()


def _get_only_value(found: set[_Value], what: str) -> _Value:
    if len(found) != 1:
        raise Fatal(f'the results are of {len(found)} {what}; evaluate each of them apart')
    return found.pop()


def _make_track_report(rows: Rows, track: Track) -> TrackReport:
    of = filter_graded(rows)
    trouble = [row for row in rows if row.outcome is TaskOutcome.INFRA]
    module = RateVerdict.MODULE
    return TrackReport(
        track=track,
        tasks=_count_tasks(of),
        methods=len(of),
        repositories=len({row.repo for row in of}),
        infra_tasks=_count_tasks(trouble),
        infra_methods=len(trouble),
        details=_count_names([row.detail for row in rows]),
        exits=_count_names(list({row.task_id: row.exit_status for row in rows}.values())),
        macro=estimate_rates(rows, track, Average.MACRO),
        macro_by_module=estimate_rates(rows, track, Average.MACRO, module),
        micro=estimate_rates(rows, track, Average.MICRO),
        micro_by_module=estimate_rates(rows, track, Average.MICRO, module),
        fields=aggregates.compute_leaderboard_fields(rows),
        coverage=aggregates.compute_coverage_on_pass(rows),
        code_coverage=aggregates.compute_code_coverage_on_pass(rows),
        mutation=aggregates.compute_mutation_on_pass(rows),
        beyond=aggregates.compute_extra_measures(rows),
        half_years=subsets.make_half_year_subsets(rows, track),
        causes=subsets.make_cause_subsets(rows, track),
        costs=costs.summarise_costs(rows, track),
        pit=pit.summarise_pit(rows),
    )


def _count_tasks(rows: Rows) -> int:
    return len({row.task_id for row in rows})


def _count_names(names: Sequence[str | None]) -> Mapping[str, int]:
    return dict(sorted(Counter(str(name) for name in names if name is not None).items()))


# Whether the model of an evaluation may have seen its tasks: dates of these against its cutoff.
#
# A task counts as clean where it was public strictly later than the end of the cutoff's day or
# month. Neither a task without a date nor any task of a model without a cutoff ever is.


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Since when the answers to the tasks may have been public.

    first, last  ISO 8601, of those tasks of which it is known; None where of none
    unknown      tasks of which it is not known
    clean        tasks that were public only after the cutoff of the model that answered them
    cutoff       only tasks public after this day were scored; None where those of any date were
    """

    first: str | None
    last: str | None
    unknown: int
    clean: int
    cutoff: str | None


def is_clean(row: MethodResult | SuiteResult) -> bool:
    if row.contamination_date is None or row.model_cutoff is None:
        return False
    return row.contamination_date >= compute_first_clean_moment(row.model_cutoff)


def summarise_exposure(rows: Iterable[MethodResult | SuiteResult], cutoff: str | None) -> Exposure:
    tasks = {row.task_id: row for row in rows}.values()
    dates = sorted(row.contamination_date for row in tasks if row.contamination_date is not None)
    return Exposure(
        first=dates[0].isoformat() if dates else None,
        last=dates[-1].isoformat() if dates else None,
        unknown=len(tasks) - len(dates),
        clean=sum(map(is_clean, tasks)),
        cutoff=cutoff,
    )
