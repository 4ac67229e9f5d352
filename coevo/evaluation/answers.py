"""Evaluation of answers that a program passes as objects, graded like those in a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.folders import check_writable
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.output import write_evaluation
from coevo.evaluation.records import Prediction
from coevo.evaluation.reporting.records import Report


def evaluate_into_folder(
    place: Path | str,
    predictions: Mapping[str, str] | Path | Literal['gold'],
    out: Path,
    clones: Path | None,
    tasks: Collection[str] | None,
    *,
    jobs: int,
    adequacy: bool,
) -> Report:
    """Evaluate answers, and write into `out` what `coevo evaluate` writes.

    predictions  patches by task id, a file or folder of predictions, or the word `gold`
    tasks        ids of the tasks to score; None for all

    Raises: Fatal for a bad file, snapshot or task id, or if `out` cannot be written to.
    """
    check_writable(out, '`out`')
    options = EvaluationOptions(
        snapshot=place,
        predictions=_convert_predictions(predictions),
        clones=clones,
        tasks=None if tasks is None else frozenset(tasks),
        jobs=jobs,
        adequacy=adequacy,
    )
    return write_evaluation(out, evaluate(options))


def _convert_predictions(
    given: Mapping[str, str] | Path | Literal['gold'],
) -> Sequence[Prediction] | Path | Literal['gold']:
    if not isinstance(given, Mapping):
        return given
    return [
        Prediction(task_id=task_id, patch=patch.encode('utf-8', 'surrogateescape'))
        for task_id, patch in sorted(given.items())
    ]
