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
from coevo.agents.grid.runs import estimate_grid, load_requested_grid, plan_grid_runs
from coevo.agents.planning import build_evaluation_options
from coevo.agents.summary import RunSummary, format_closing_lines
from coevo.display.console import open_console, show_progress
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.folders import check_writable
from coevo.evaluation.gold_patches import GOLD
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.output import write_evaluation
from coevo.model.errors import Transient


def attempt_grid(arguments: argparse.Namespace) -> int:
    """Status 1 for a bug of ours; Transient, hence 3, for trouble of ours, before anything is judged."""
    grid = load_requested_grid(arguments)
    if arguments.estimate:
        for name, estimate in estimate_grid(arguments, grid):
            print(f'{name}: {estimate.sentence}')
        return 0
    if arguments.evaluate is not None:
        check_writable(arguments.evaluate, '--evaluate')
    runs = plan_grid_runs(arguments, grid)
    for name, estimate in estimate_grid(arguments, grid):
        print(f'{name}: {estimate.sentence}', file=sys.stderr)
    summaries: list[RunSummary] = []
    for run in runs:
        print(f'{run.cell.name}:', file=sys.stderr)
        summaries.append(attempt_all(run.plan, lambda line: print(line, file=sys.stderr)))
        print('\n'.join([f'{run.cell.name}:', *format_closing_lines(summaries[-1])]))
    if any(summary.troubled for summary in summaries):
        count = sum(len(summary.troubled) for summary in summaries)
        raise Transient(f'{count} tasks could not be attempted')
    bugs = any(summary.bugs for summary in summaries)
    if arguments.evaluate is not None and not bugs:
        cells = [(run.cell.model.name, run.cell.prompt, run.cell.name) for run in runs]
        answers = [
            (*cell, summary.predictions) for cell, summary in zip(cells, summaries, strict=True)
        ]
        bugs = _grade_submissions(arguments, answers, human=grid.human)
    return 1 if bugs else 0


Answers = tuple[str, str, str, Path]


def _grade_submissions(
    arguments: argparse.Namespace, answers: list[Answers], *, human: bool
) -> bool:
    """Whether a bug of ours ended a judgement."""
    console, rows, bugs = open_console(), [], False
    for model, prompt, folder, options in _list_evaluations(arguments, answers, human=human):
        with show_progress(console) as listener:
            evaluation = evaluate(options, listener)
        evaluation_report = write_evaluation(
            arguments.evaluate / folder, evaluation
        )  # own name: one of the words of this verb
        bugs = bugs or bool(evaluation.bugs)
        rows.append(GridRow(model=model, prompt=prompt, families=tuple(evaluation_report.families)))
    report.write_grid(arguments.evaluate, rows)
    for table in report.make_grid_tables(rows):
        console.print(table)
        console.print()
    console.print(f'{arguments.evaluate / report.NAME}', markup=False, highlight=False)
    return bugs


def _list_evaluations(
    arguments: argparse.Namespace, answers: list[Answers], *, human: bool
) -> Iterator[tuple[str, str | None, str, EvaluationOptions]]:
    if human:
        yield HUMAN, None, HUMAN, build_evaluation_options(arguments, GOLD)
    for model, prompt, folder, predictions in answers:
        yield model, prompt, folder, build_evaluation_options(arguments, predictions)
