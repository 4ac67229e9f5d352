"""The report `grid.json`, with the figures of each model and prompt for each family of tasks."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.records import FamilyReport, SuiteMeasure
from coevo.languages.error_classes import ErrorClass
from coevo.model.families import Family
from coevo.storage import durable

NAME = 'grid.json'
GRID_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """The figures of a model's suites with one prompt.

    prompt  None for the developers' own tests
    """

    model: str
    prompt: str | None
    families: tuple[FamilyReport, ...]


def write_grid(folder: Path, rows: Sequence[GridRow]) -> None:
    """Write `grid.json` into a folder."""
    document = {'version': GRID_VERSION, 'runs': [dataclasses.asdict(row) for row in rows]}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    durable.write_durably(folder / NAME, [f'{text}\n'.encode()])


def make_grid_tables(rows: Sequence[GridRow]) -> Iterator[Table]:
    """Yield the tables of each family: measures of suites, test smells, and compilation errors."""
    for family in Family:
        reports = [
            (row, family_report)
            for row in rows
            for family_report in row.families
            if family_report.family is family
        ]
        if reports:
            yield _make_measure_table(family, reports)
            yield _make_smell_table(family, reports)
            if any(family_report.texts.errors for _, family_report in reports):
                yield _make_error_table(family, reports)


Found = Sequence[tuple[GridRow, FamilyReport]]


def _make_measure_table(family: Family, found: Found) -> Table:
    """Return a table of measures, over all suites and, below, over those that ran, with counts."""
    names = ('Tasks', 'Builds%', 'Ran%', 'Success%', 'Lines', 'Branches', 'Methods', 'Mutants')
    table = cells.make_table(
        f'Family {family}: over all suites / over suites that ran', ('Model', 'Prompt'), names
    )
    for row, family_report in found:
        shares = (family_report.builds, family_report.ran, family_report.success)
        measures = (
            family_report.lines,
            family_report.branches,
            family_report.methods,
            family_report.mutation,
        )
        table.add_row(
            *_format_names(row),
            Text(str(family_report.tasks)),
            *(Text(cells.format_plain_percent(share)) for share in shares),
            *map(_format_averages, measures),
        )
    return table


def _format_averages(measure: SuiteMeasure) -> Text:
    averages = (measure.over_all, measure.over_ran)
    return Text(
        '\n'.join(
            f'{cells.format_plain_percent(average)} of {average.units}' for average in averages
        )
    )


def _make_smell_table(family: Family, found: Found) -> Table:
    """Return a table with the mean number of tests of a suite that have each smell."""
    names = sorted({name for _, family_report in found for name in family_report.texts.smells})
    table = cells.make_table(
        f'Family {family}: tests with each smell, over all suites / over suites that ran',
        ('Smell',),
        [' '.join(str(part) for part in _format_names(row)) for row, _ in found],
    )
    for name in names:
        table.add_row(name, *(_format_smell(family_report, name) for _, family_report in found))
    return table


def _format_smell(one: FamilyReport, name: str) -> Text:
    means = one.texts.smells.get(name)
    if means is None:
        return Text('0.00')
    return Text(f'{means.over_all.value or 0:.2f} / {means.over_ran.value or 0:.2f}')


def _make_error_table(family: Family, found: Found) -> Table:
    table = cells.make_table(
        f'Family {family}: errors by class, each once for a suite',
        ('Error',),
        [' '.join(str(part) for part in _format_names(row)) for row, _ in found],
    )
    for name in ErrorClass:
        counts = [entry.texts.errors.get(name) for _, entry in found]
        if any(counts):
            table.add_row(str(name), *(Text(str(entry.errors if entry else 0)) for entry in counts))
    return table


def _format_names(row: GridRow) -> tuple[Text, Text]:
    return Text(row.model), Text(row.prompt or cells.DASH)
