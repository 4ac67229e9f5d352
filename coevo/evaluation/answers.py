"""Answers that a program holds, scored as those of a file are."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.folders import check
from coevo.evaluation.options import Options
from coevo.evaluation.output import write
from coevo.evaluation.records import Prediction
from coevo.evaluation.reporting.report import Report


def scored(
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
    check(out, '`out`')
    options = Options(
        snapshot=place,
        predictions=_predictions(predictions),
        store=store,
        tasks=None if tasks is None else frozenset(tasks),
        jobs=jobs,
        adequacy=adequacy,
    )
    return write(out, evaluate(options))


def _predictions(
    given: Mapping[str, str] | Path | Literal['gold'],
) -> Sequence[Prediction] | Path | Literal['gold']:
    if not isinstance(given, Mapping):
        return given
    return [
        Prediction(task_id=task_id, patch=patch.encode('utf-8', 'surrogateescape'))
        for task_id, patch in sorted(given.items())
    ]
