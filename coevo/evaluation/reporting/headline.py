"""What decides, in five lines: how many tasks, how many solved, how strictly, and how sure that is."""

from __future__ import annotations

from coevo.display import presentation
from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.families import FamilyReport
from coevo.evaluation.reporting.report import Report, TrackReport

_NAMES = ('', 'tasks', 'success', 'strict', 'vacuous', 'interval')


def format_headline(report: Report) -> str:
    """A column for each track, and for each family of suites, of which every test has to pass; the
    interval is of `success`, 95 %, over repositories."""
    columns = [_NAMES, *map(_format_track, report.tracks), *map(_format_family, report.families)]
    rows = list(zip(*columns, strict=True))
    right = [False, *[True] * (len(columns) - 1)]
    return presentation.align_columns(rows, right).rstrip('\n')


def _format_track(track: TrackReport) -> tuple[str, ...]:
    return (
        str(track.track),
        f'{track.tasks:,}',
        _format_share(track.macro.success),
        _format_share(track.beyond.success_strict),
        _format_share(track.beyond.vacuous),
        cells.format_percent(track.macro.success).plain.partition('\n')[2] or cells.DASH,
    )


def _format_family(family: FamilyReport) -> tuple[str, ...]:
    """Suites are not strict or vacuous: what they cover and kill says that. Who is to maintain a file
    succeeds if nothing was missed or done wrongly, whether or not gold lets all tests pass."""
    success = family.maintenance.done if family.maintenance else family.success
    return (
        str(family.family),
        f'{family.tasks:,}',
        _format_share(success),
        cells.DASH,
        cells.DASH,
        cells.format_percent(success).plain.partition('\n')[2] or cells.DASH,
    )


def _format_share(estimate: MeanEstimate) -> str:
    return cells.format_percent(estimate).plain.partition('\n')[0]
