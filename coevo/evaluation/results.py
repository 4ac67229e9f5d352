"""`results.parquet`: the rows of an evaluation, from which every figure of a report follows."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from coevo import durable
from coevo.codec import records
from coevo.errors import Fatal
from coevo.evaluation.records import MethodResult
from coevo.schema import table

# Raised when a column is lost or changes its meaning.
RESULTS_VERSION = 2

NAME = 'results.parquet'

_VERSION = b'coevo.results_version'


def write_results(folder: Path, rows: Sequence[MethodResult]) -> Path:
    """Write the rows sorted by their key; the same rows give the same bytes."""
    ordered = sorted(rows, key=lambda row: row.key)
    content = table(MethodResult, ordered).replace_schema_metadata(
        {_VERSION: str(RESULTS_VERSION).encode()}
    )
    sink = io.BytesIO()
    pq.write_table(content, sink, compression='zstd')
    path = folder / NAME
    durable.write(path, [sink.getvalue()])
    return path


def read_results(folder: Path) -> tuple[MethodResult, ...]:
    """The rows of a folder of results; Fatal where there are none, or of another version."""
    path = folder / NAME
    try:
        content = pq.read_table(path)
    except FileNotFoundError:
        raise Fatal(f'{folder} has no {NAME}; name the --out of a `coevo evaluate`') from None
    except (OSError, pa.ArrowInvalid) as error:
        raise Fatal(f'{path} cannot be read ({error}); evaluate again') from None
    version = (content.schema.metadata or {}).get(_VERSION, b'?').decode()
    if version != str(RESULTS_VERSION):
        raise Fatal(
            f'{path} has results of version {version}, this coevo reads {RESULTS_VERSION}; '
            'evaluate again'
        )
    return records(MethodResult, content)
