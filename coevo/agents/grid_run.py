"""`coevo run` with the setting `grid`: attempts of all cells, their grades and one report.

A cell is a model with a prompt. Each cell becomes a plan of attempts, with a folder of its own
below --out.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table
from rich.text import Text

from coevo.agents.attempts import AttemptPlan, make_unfinished_attempts
from coevo.agents.estimate import CostEstimate, estimate_attempts
from coevo.agents.grid import HUMAN, Grid, GridCell, load_grid
from coevo.agents.keeping import RunFolder
from coevo.agents.planning import (
    build_evaluation_options,
    load_requested_prices,
    make_plan,
    select_tasks,
)
from coevo.agents.summary import RunSummary, describe_network, format_closing_lines
from coevo.display.console import open_console, show_progress
from coevo.evaluation.evaluation import evaluate, write_evaluation
from coevo.evaluation.options import EvaluationOptions, create_writable_folder
from coevo.evaluation.predictions import GOLD
from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.records import FamilyReport, SuiteMeasure
from coevo.evaluation.submission.folder import RESULTS
from coevo.languages.measures import ErrorClass
from coevo.model.errors import Fatal, Transient
from coevo.model.families import Family
from coevo.options.parser import check_clones
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


def write_grid_report(folder: Path, rows: Sequence[GridRow]) -> None:
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
            *_format_model_and_prompt(row),
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
        [' '.join(str(part) for part in _format_model_and_prompt(row)) for row, _ in found],
    )
    for name in names:
        table.add_row(
            name, *(_format_smell_means(family_report, name) for _, family_report in found)
        )
    return table


def _format_smell_means(one: FamilyReport, name: str) -> Text:
    means = one.texts.smells.get(name)
    if means is None:
        return Text('0.00')
    return Text(f'{means.over_all.value or 0:.2f} / {means.over_ran.value or 0:.2f}')


def _make_error_table(family: Family, found: Found) -> Table:
    table = cells.make_table(
        f'Family {family}: errors by class, each once for a suite',
        ('Error',),
        [' '.join(str(part) for part in _format_model_and_prompt(row)) for row, _ in found],
    )
    for name in ErrorClass:
        counts = [entry.texts.errors.get(name) for _, entry in found]
        if any(counts):
            table.add_row(str(name), *(Text(str(entry.errors if entry else 0)) for entry in counts))
    return table


def _format_model_and_prompt(row: GridRow) -> tuple[Text, Text]:
    return Text(row.model), Text(row.prompt or cells.DASH)


def attempt_and_grade_grid(arguments: argparse.Namespace) -> int:
    """Make the attempts of all cells, grade them and write the report; or only estimate the cost.

    Return status 1 after a bug in coevo, else 0. After a bug in an attempt nothing is graded.
    Raises: Transient, before anything is graded, if a task could not be attempted for now.
    """
    grid = load_requested_grid(arguments)
    if arguments.estimate:
        for name, estimate in estimate_grid(arguments, grid):
            print(f'{name}: {estimate.sentence}')
        return 0
    if arguments.grade:
        create_writable_folder(arguments.out / RESULTS, '--out')
    runs = plan_grid_runs(arguments, grid)
    for name, estimate in estimate_grid(arguments, grid):
        print(f'{name}: {estimate.sentence}', file=sys.stderr)
    summaries: list[RunSummary] = []
    for cell, plan in runs:
        print(f'{cell.name}:', file=sys.stderr)
        summaries.append(make_unfinished_attempts(plan, lambda line: print(line, file=sys.stderr)))
        print('\n'.join([f'{cell.name}:', *format_closing_lines(summaries[-1])]))
    if any(summary.troubled for summary in summaries):
        count = sum(len(summary.troubled) for summary in summaries)
        raise Transient(f'{count} tasks could not be attempted')
    bugs = any(summary.bugs for summary in summaries)
    if arguments.grade and not bugs:
        answers = [
            (cell.model.name, cell.prompt, cell.name, summary.predictions)
            for (cell, _), summary in zip(runs, summaries, strict=True)
        ]
        bugs = _grade_and_tell_if_bug(arguments, answers, human=grid.human)
    return 1 if bugs else 0


Answers = tuple[str, str, str, Path]


def _grade_and_tell_if_bug(
    arguments: argparse.Namespace, answers: list[Answers], *, human: bool
) -> bool:
    """Grade the predictions of all cells, and write and print the report.

    Return whether a bug in coevo occurred.
    """
    console, rows, bugs = open_console(), [], False
    for model, prompt, folder, options in _list_evaluations_by_model_and_prompt(
        arguments, answers, human=human
    ):
        with show_progress(console) as listener:
            evaluation = evaluate(options, listener)
        evaluation_report = write_evaluation(
            arguments.out / RESULTS / folder, evaluation
        )  # own name: one of the words of this verb
        bugs = bugs or bool(evaluation.bugs)
        rows.append(GridRow(model=model, prompt=prompt, families=tuple(evaluation_report.families)))
    write_grid_report(arguments.out / RESULTS, rows)
    for table in make_grid_tables(rows):
        console.print(table)
        console.print()
    console.print(f'{arguments.out / RESULTS / NAME}', markup=False, highlight=False)
    return bugs


def _list_evaluations_by_model_and_prompt(
    arguments: argparse.Namespace, answers: list[Answers], *, human: bool
) -> Iterator[tuple[str, str | None, str, EvaluationOptions]]:
    if human:
        yield HUMAN, None, HUMAN, build_evaluation_options(arguments, GOLD)
    for model, prompt, folder, predictions in answers:
        yield model, prompt, folder, build_evaluation_options(arguments, predictions)


# Options that a grid's file replaces.
_SAID = (
    *('agent', 'model', 'api', 'endpoint', 'key_env', 'software', 'harness'),
    *('temperature', 'max_tokens'),
)
_AGENT = 'one-shot'


def load_requested_grid(arguments: argparse.Namespace) -> Grid:
    """Return the grid of the setting `grid`.

    Raises: Fatal if its file is not valid, or other options conflict with it.
    """
    if arguments.protocol != 'once':
        raise Fatal('a grid works only with the protocol `once`; leave out the other protocol')
    for name in _SAID:
        if getattr(arguments, name) is not None:
            raise Fatal(
                'a grid file names its own models and prompts; leave out '
                f'--{name.replace("_", "-")}'
            )
    return load_grid(arguments.grid)


def plan_grid_runs(
    arguments: argparse.Namespace, grid: Grid
) -> Sequence[tuple[GridCell, AttemptPlan]]:
    """Return each cell with the plan of its attempts, and create or check the folder of each cell.

    Raises: Fatal, before the first attempt of any cell, if a cell cannot begin.
    """
    endpoints = [cell.model.resolve_endpoint() for cell in grid.cells]
    first = grid.cells[0]
    base = make_plan(
        argparse.Namespace(
            **{
                **vars(arguments),
                **dict.fromkeys(('software', 'harness'), None),
                'agent': _AGENT,
                'model': first.model.name_at_endpoint,
                'api': first.model.api,
                'endpoint': endpoints[0].url,
                'key_env': first.model.key_variable,
            }
        )
    )
    runs = []
    for cell, endpoint in zip(grid.cells, endpoints, strict=True):
        environment = {
            **base.settings.environment,
            'COEVO_API': cell.model.api,
            'COEVO_MODEL': cell.model.name_at_endpoint,
            'COEVO_MESSAGES': 'whole',
            'COEVO_SETTINGS': json.dumps(_collect_settings(cell), sort_keys=True),
        }
        settings = replace(base.settings, endpoint=endpoint, environment=environment)
        own = {
            'model': cell.model.name_at_endpoint,
            'harness': f'{_AGENT}/{cell.prompt}',
            'network': describe_network(settings),
            'settings': _collect_settings(cell),
            'template_sha256': _hash_prompt(cell),
        }
        runs.append(
            (
                cell,
                replace(
                    base,
                    out=arguments.out / cell.name,
                    settings=settings,
                    harness=f'{_AGENT}/{cell.prompt}',
                    model=cell.model.name_at_endpoint,
                    template=cell.template,
                    run_inputs={**base.run_inputs, **own},
                ),
            )
        )
    for _, plan in runs:
        with RunFolder(plan.out).lock_folder(plan.run_inputs):
            pass  # the folder is new or belongs to this run
    return runs


def estimate_grid(arguments: argparse.Namespace, grid: Grid) -> Sequence[tuple[str, CostEstimate]]:
    """Return the name and the estimated cost of each cell. No key is needed for that."""
    tasks, prices = select_tasks(arguments), load_requested_prices(arguments)
    return [
        (
            cell.name,
            estimate_attempts(
                tasks,
                attempts=arguments.attempts,
                model=cell.model.name_at_endpoint,
                clones=check_clones(arguments.clones),
                prices=prices,
                template=cell.template,
            ),
        )
        for cell in grid.cells
    ]


def _collect_settings(cell: GridCell) -> Mapping[str, float]:
    settings = {'temperature': cell.model.temperature, 'max_tokens': cell.model.max_tokens}
    return {name: value for name, value in settings.items() if value is not None}


def _hash_prompt(cell: GridCell) -> str:
    """Return the SHA-256 of a prompt and of the texts that it uses."""
    messages = [dataclasses.asdict(message) for message in cell.template.messages]
    named = cell.template.variables
    texts = {name: text for name, text in cell.template.texts.items() if name in named}
    return hashlib.sha256(json.dumps([messages, texts], sort_keys=True).encode()).hexdigest()
