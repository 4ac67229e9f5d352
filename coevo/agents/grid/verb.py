"""`coevo attempt --grid`: all cells attempted, then all judged, then one report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from coevo.agents.attempts import attempt_all
from coevo.agents.grid import report
from coevo.agents.grid.models import HUMAN
from coevo.agents.grid.report import GridRow
from coevo.agents.grid.runs import estimates_of
from coevo.agents.grid.runs import grid_of
from coevo.agents.grid.runs import runs_of
from coevo.agents.planning import results_of
from coevo.agents.summary import Summary
from coevo.agents.summary import told
from coevo.display.console import open_console
from coevo.display.console import showing
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.folders import check
from coevo.evaluation.gold_patches import GOLD
from coevo.evaluation.options import Options
from coevo.evaluation.output import write
from coevo.model.errors import Transient


def attempt_grid(arguments: argparse.Namespace) -> int:
    """Status 1 for a bug of ours; Transient, hence 3, for trouble of ours, before anything is judged."""
    grid = grid_of(arguments)
    if arguments.estimate:
        for name, one in estimates_of(arguments, grid):
            print(f'{name}: {one.sentence}')
        return 0
    if arguments.evaluate is not None:
        check(arguments.evaluate, '--evaluate')
    runs = runs_of(arguments, grid)
    for name, one in estimates_of(arguments, grid):
        print(f'{name}: {one.sentence}', file=sys.stderr)
    made: list[Summary] = []
    for run in runs:
        print(f'{run.cell.name}:', file=sys.stderr)
        made.append(attempt_all(run.plan, lambda line: print(line, file=sys.stderr)))
        print('\n'.join([f'{run.cell.name}:', *told(made[-1])]))
    if any(summary.troubled for summary in made):
        count = sum(len(summary.troubled) for summary in made)
        raise Transient(f'{count} tasks could not be attempted')
    bugs = any(summary.bugs for summary in made)
    if arguments.evaluate is not None and not bugs:
        cells = [(run.cell.model.name, run.cell.prompt, run.cell.name) for run in runs]
        answers = [(*cell, summary.predictions) for cell, summary in zip(cells, made, strict=True)]
        bugs = _judged(arguments, answers, human=grid.human)
    return 1 if bugs else 0


Answers = tuple[str, str, str, Path]


def _judged(arguments: argparse.Namespace, answers: list[Answers], *, human: bool) -> bool:
    """Whether a bug of ours ended a judgement."""
    console, rows, bugs = open_console(), [], False
    for model, prompt, folder, options in _options(arguments, answers, human=human):
        with showing(console) as listener:
            evaluation = evaluate(options, listener)
        made = write(
            arguments.evaluate / folder, evaluation
        )  # own name: one of the words of this verb
        bugs = bugs or bool(evaluation.bugs)
        rows.append(GridRow(model=model, prompt=prompt, families=tuple(made.families)))
    report.write_grid(arguments.evaluate, rows)
    for table in report.grid_tables(rows):
        console.print(table)
        console.print()
    console.print(f'{arguments.evaluate / report.NAME}', markup=False, highlight=False)
    return bugs


def _options(
    arguments: argparse.Namespace, answers: list[Answers], *, human: bool
) -> Iterator[tuple[str, str | None, str, Options]]:
    if human:
        yield HUMAN, None, HUMAN, results_of(arguments, GOLD)
    for model, prompt, folder, predictions in answers:
        yield model, prompt, folder, results_of(arguments, predictions)
