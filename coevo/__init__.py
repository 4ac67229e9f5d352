"""coevo: executable test-maintenance tasks from the history of public repositories.

A snapshot is a folder, a .zip, or a URL of https:// or s3://. Bad input raises `coevo.model.errors.Fatal`, whose
text says what to do next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import duckdb

    from coevo.evaluation.reporting.records import Report
    from coevo.snapshots.catalogue import CatalogueEntry

__version__ = '0.1.0'


def open(
    path: Path | str,
    *more: Path | str,
    after: str | None = None,
    before: str | None = None,
    model: str | None = None,
    margin: int = 0,
    models: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the tables of snapshots as views (`coevo.snapshots.snapshot.open_snapshots`).

    `path` is a folder, a .zip, a URL, or `latest`: the last month of the catalogue that
    $COEVO_SNAPSHOTS names (./snapshots). With dates every table has what was public strictly later
    than `after` (a day or month as text), or than the cutoff of a `model`, by `margin` days at least,
    and what was public before `before` began. What has no date is left out.

    >>> open('snapshot').sql('SELECT count(*) FROM tasks').fetchall()
    [(6,)]
    >>> open('snapshot', after='2024-01-03').sql('SELECT count(*) FROM tasks').fetchall()
    [(2,)]
    """
    # only who opens one pays for the imports
    from coevo.snapshots import query, snapshot
    from coevo.snapshots.cutoffs import choose_cutoff

    cutoff = choose_cutoff(after=after, before=before, model=model, margin=margin, models=models)
    return snapshot.connect_with_conditions(
        (path, *more), dict(query.build_view_conditions(cutoff))
    )


def catalogue(place: Path | str | None = None) -> tuple[CatalogueEntry, ...]:
    """The snapshots of a folder or URL, the newest last, as `coevo query --list` lists them.

    Without a place, of what $COEVO_SNAPSHOTS names (./snapshots). Damaged if the index is none.

    >>> [(one.name, one.rows['tasks']) for one in catalogue('.')]
    [('snapshot', 6)]
    """
    from coevo.snapshots import catalogue as catalogues

    return catalogues.load_catalogue(place or catalogues.find_default_place())


def prompt(path: Path | str, task_id: str) -> str:
    """Return the prompt of a task, which is the same for all agents.

    Raises: Fatal for an unknown task.

    >>> print(prompt('snapshot', '04c13ef810a3f971').splitlines()[0])
    You are updating JUnit tests to reflect a production code change in this repository.
    """
    from coevo.snapshots.query import load_task_prompt

    return load_task_prompt(path, task_id)


def evaluate(
    path: Path | str,
    predictions: Mapping[str, str] | Path | Literal['gold'],
    *,
    out: Path | str,
    clones: Path | None = None,
    tasks: Collection[str] | None = None,
    jobs: int = 1,
    adequacy: bool = True,
) -> Report:
    """Score patches against the tasks of a snapshot, as `coevo evaluate` does.

    Writes `results.parquet`, `report.json` and `junit.xml` into `out`, and gives what the report holds.
    It takes the extra `evaluate`, Git, bubblewrap, and what the languages of the tasks are built with.

    predictions  a unified diff by task_id, a file or folder of them, or the word for the developers' own;
                 a task without a patch fails
    clones       a store or folder whose clones are used; what they lack is cloned from the tasks' URLs
    tasks        ids of those that count; None is all but leaking ones and interleaved branches
    adequacy     whether it is measured what passing tests are worth

    >>> report = evaluate('snapshot', {}, out='results')
    >>> [(str(one.track), one.tasks, one.macro.success.value) for one in report.tracks]
    [('generation', 3, 0.0), ('update', 3, 0.0)]
    """
    from coevo.evaluation.evaluation import evaluate_into_folder

    return evaluate_into_folder(
        path, predictions, Path(out), clones, tasks, jobs=jobs, adequacy=adequacy
    )  # own name: the user's
