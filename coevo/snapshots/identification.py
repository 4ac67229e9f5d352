"""`coevo report identification`: count and export the label sets of test-update identification.

`queries/identification.sql` defines the classes (TestEvo-Bench, appendix C).
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.model.errors import Fatal
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.query import build_view_conditions, describe_rows_left_out
from coevo.snapshots.snapshot import OpenedSnapshots
from coevo.storage import durable

if TYPE_CHECKING:
    import duckdb

LABELLINGS = ('static', 'dynamic')
SPLITS = ('train', 'validation', 'test')

# As in the paper, a task is all methods of one label in one test file of one pair.
COUNTS = """\
SELECT labelling, class, count(DISTINCT repo) AS repositories,
    count(DISTINCT (pair_id, test_file, label)) AS tasks, count(*) AS methods
FROM (
    UNPIVOT identification ON static, dynamic, left_out INTO NAME labelling VALUE class)
GROUP BY labelling, class
ORDER BY list_position(['static', 'dynamic', 'left_out'], labelling), class = 'negative', class"""

WEIGHTED = """\
CREATE TEMP TABLE identification AS
SELECT answer.*, split,
    CASE WHEN answer.change IN ('unchanged', 'context_changed') THEN weight ELSE 1 END AS weight
FROM answer JOIN splits USING (family)
    LEFT JOIN draws ON draws.pair_id = answer.pair_id AND draws.walk = $walk
        AND draws.change = answer.change
ORDER BY method_id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentificationStudy:
    """The options of `coevo report identification`.

    cutoff  limits the study to methods that became public in this time
    export  a new folder for both label sets
    format  of the exported files: parquet or csv
    split   percent of repositories for training, validation and test
    seed    assigns families of repositories to parts; the same seed gives the same assignment
    """

    cutoff: Cutoff | None = None
    walk: Walk = Walk.PARENTS
    export: Path | None = None
    format: str = 'parquet'
    split: tuple[int, int, int] = (80, 10, 10)
    seed: int = 0


def print_and_export_identification(path: Path, study: IdentificationStudy) -> None:
    """Print the number of methods, tasks and repositories of each class, and write the label sets.

    Raises: Fatal if the folder to export to exists.
    """
    if study.export is not None and study.export.exists():
        raise Fatal(f'{study.export} is there already: name a new folder')
    with snapshot.translate_read_errors((path,)):
        opened = snapshot.attach_snapshots((path,))
        for line in describe_rows_left_out(opened, study.cutoff) if study.cutoff else ():
            print(line, file=sys.stderr)
        connection = create_identification_tables(opened, study)
    if study.export is not None:
        _export_label_sets(connection, study, study.export)
    for line in _describe_draw(connection, study):
        print(line, file=sys.stderr)
    sys.stdout.write(presentation.render_answer(connection.sql(COUNTS), 'table').decode())


def create_identification_tables(
    opened: OpenedSnapshots, study: IdentificationStudy
) -> duckdb.DuckDBPyConnection:
    """Create the tables `identification` and `draws` in a snapshot's connection, and return it.

    `identification` is the query's answer with the columns `split` and `weight`.
    """
    connection = opened.connection
    # The draws cover everything that was drawn, so they are read before the views apply the cutoff.
    draws = _load_query('draws')
    for name in ('methods', 'drops', 'pairs'):
        draws = draws.replace(f'${name}', opened.rows[name])
    connection.execute(f'CREATE TEMP TABLE draws AS {draws}')
    snapshot.create_views(opened, dict(build_view_conditions(study.cutoff)))
    answer = _load_query('identification')
    connection.execute(f'CREATE TEMP TABLE answer AS {answer}', {'walk': str(study.walk)})
    connection.execute('CREATE TEMP TABLE splits (family VARCHAR, split VARCHAR)')
    families = connection.execute('SELECT DISTINCT family FROM answer').fetchall()
    for (family,) in families:
        connection.execute(
            'INSERT INTO splits VALUES (?, ?)', [family, choose_split(family, study)]
        )
    connection.execute(WEIGHTED, {'walk': str(study.walk)})
    return connection


def _load_query(name: str) -> str:
    path = files('coevo.snapshots').joinpath('queries', f'{name}.sql')
    return path.read_text(encoding='utf-8')


def _describe_draw(
    connection: duckdb.DuckDBPyConnection, study: IdentificationStudy
) -> Iterator[str]:
    sql = """SELECT change, sum(drawn), sum(population) FROM draws
        WHERE walk = $walk GROUP BY change ORDER BY change DESC"""
    for change, drawn, population in connection.execute(sql, {'walk': str(study.walk)}).fetchall():
        if change == 'unchanged' or drawn < population:
            yield (
                f'of {population} {change.replace("_", "-")} tests of pairs that were run, {drawn} were '
                'drawn; `weight` says how many each of them stands for'
            )


def choose_split(family: str, study: IdentificationStudy) -> str:
    """Return the part of the data that a family of repositories belongs to.

    The part does not depend on which other families there are. A family is assigned as a whole
    because forks share tests: a test in training whose copy is in the test set would reveal the
    answer.
    """
    digest = hashlib.sha256(f'{study.seed}\0{family}'.encode()).digest()
    percent = int.from_bytes(digest[:8]) * 100 / 2**64
    train, validation, _ = study.split
    if percent < train:
        return 'train'
    return 'validation' if percent < train + validation else 'test'


def parse_split(text: str) -> tuple[int, int, int]:
    """Parse a split such as `80/10/10`.

    Raises: Fatal if it is not three whole percentages that add up to 100.
    """
    parts = text.split('/')
    if len(parts) == len(SPLITS) and all(part.isdecimal() for part in parts):
        train, validation, test = map(int, parts)
        if train + validation + test == 100:
            return train, validation, test
    raise Fatal(f'{text!r} is no split: write three percentages that add up to 100, 80/10/10')


def _export_label_sets(
    connection: duckdb.DuckDBPyConnection, study: IdentificationStudy, target: Path
) -> None:
    """Write all files, then give their folder its final name: an export is complete or absent.

    Raises: Fatal if the folder above `target` does not exist.
    """
    parent = target.absolute().parent
    if not parent.is_dir():
        raise Fatal(f'{target} cannot be written: its folder does not exist')
    with tempfile.TemporaryDirectory(prefix=f'.{target.name}.new-', dir=parent) as folder:
        new_folder = Path(folder) / 'made'
        new_folder.mkdir()
        for name, content in _render_files(connection, study):
            durable.write_durably(new_folder / name, [content])  # own name: one of the splits
        new_folder.rename(target.absolute())
    durable.sync_to_disk(parent)


def _render_files(
    connection: duckdb.DuckDBPyConnection, study: IdentificationStudy
) -> Iterator[tuple[str, bytes]]:
    for labelling in LABELLINGS:
        sql = f"""SELECT split, {labelling} AS class, * EXCLUDE (split, static, dynamic, left_out)
            FROM identification WHERE {labelling} IS NOT NULL ORDER BY method_id"""
        yield (
            f'{labelling}.{study.format}',
            presentation.render_answer(connection.sql(sql), study.format),
        )
    yield 'counts.csv', presentation.render_answer(connection.sql(COUNTS), 'csv')
