"""`grid.json`: what each model made of each prompt, a family of tasks each, for those who compare."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.families import FamilyReport
from coevo.evaluation.reporting.families import SuiteMeasure
from coevo.languages.error_classes import ErrorClass
from coevo.model.families import Family
from coevo.storage import durable

NAME = 'grid.json'
GRID_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """A model with a prompt, None of the developers' own tests, and the figures of their suites."""

    model: str
    prompt: str | None
    families: tuple[FamilyReport, ...]


def write_grid(folder: Path, rows: Sequence[GridRow]) -> None:
    found = {'version': GRID_VERSION, 'runs': [dataclasses.asdict(one) for one in rows]}
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    durable.write(folder / NAME, [f'{text}\n'.encode()])


def grid_tables(rows: Sequence[GridRow]) -> Iterator[Table]:
    """Of each family: what suites are worth by both averages, their smells, and why they do not compile."""
    for family in Family:
        found = [(row, one) for row in rows for one in row.families if one.family is family]
        if found:
            yield _worth(family, found)
            yield _smells(family, found)
            if any(one.texts.errors for _, one in found):
                yield _errors(family, found)


Found = Sequence[tuple[GridRow, FamilyReport]]


def _worth(family: Family, found: Found) -> Table:
    """Each measure over all suites, and below that over those that ran, with the number of each."""
    names = ('Tasks', 'Builds%', 'Ran%', 'Success%', 'Lines', 'Branches', 'Methods', 'Mutants')
    table = cells.table(
        f'Family {family}: over all / over those that ran', ('Model', 'Prompt'), names
    )
    for row, one in found:
        shares = (one.builds, one.ran, one.success)
        measures = (one.lines, one.branches, one.methods, one.mutation)
        table.add_row(
            *_named(row),
            Text(str(one.tasks)),
            *(Text(cells.plain_percent(share)) for share in shares),
            *map(_both, measures),
        )
    return table


def _both(measure: SuiteMeasure) -> Text:
    averages = (measure.over_all, measure.over_ran)
    return Text('\n'.join(f'{cells.plain_percent(one)} of {one.units}' for one in averages))


def _smells(family: Family, found: Found) -> Table:
    """Tests of a suite with each smell, as a mean over those that ran."""
    names = sorted({name for _, one in found for name in one.texts.smells})
    table = cells.table(
        f'Family {family}: tests of a suite with each smell, over all / over those that ran',
        ('Smell',),
        [' '.join(str(part) for part in _named(row)) for row, _ in found],
    )
    for name in names:
        table.add_row(name, *(_smell(one, name) for _, one in found))
    return table


def _smell(one: FamilyReport, name: str) -> Text:
    means = one.texts.smells.get(name)
    if means is None:
        return Text('0.00')
    return Text(f'{means.over_all.value or 0:.2f} / {means.over_ran.value or 0:.2f}')


def _errors(family: Family, found: Found) -> Table:
    table = cells.table(
        f'Family {family}: errors by class, each once for a suite',
        ('Error',),
        [' '.join(str(part) for part in _named(row)) for row, _ in found],
    )
    for name in ErrorClass:
        counts = [one.texts.errors.get(name) for _, one in found]
        if any(counts):
            table.add_row(str(name), *(Text(str(one.errors if one else 0)) for one in counts))
    return table


def _named(row: GridRow) -> tuple[Text, Text]:
    return Text(row.model), Text(row.prompt or cells.DASH)
