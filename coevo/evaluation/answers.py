"""Answers that a program holds, scored as those of a file are."""

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
    store: Path | None,
    tasks: Collection[str] | None,
    *,
    jobs: int,
    adequacy: bool,
) -> Report:
    """Evaluate, and write into `out` what `coevo evaluate` writes."""
    check_writable(out, '`out`')
    options = EvaluationOptions(
        snapshot=place,
        predictions=_convert_predictions(predictions),
        store=store,
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
