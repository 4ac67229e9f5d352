"""Snapshots broken at random: values, columns, rows, files, links, manifests, checksums."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tests.fuzz.bytes_of import broken
from tests.fuzz.values import WORDS, odd

_JSON_WORDS = (
    *(b'{', b'}', b'[', b']', b'"', b',', b':', b'null', b'NaN', b'Infinity', b'1e999', b'true'),
    *(b'-1', b'"data/x/../y"', b'"files"', b'\xff', b'\xef\xbb\xbf', b'[' * 3000, b'\\ud800'),
    *(b'9' * 5000, b'"../x"', b'"\\u0000"'),
)
_OTHERS: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 10**30, 1.5, '', 'x', '../x', '\x1b[2J', '\udc80', '2024-13'),
    *([], {}, [None], {'x': None}, [[[]]], 'a' * 10_000),
)
_NAMES = (
    *('README.md', 'croissant.json', 'x', '.hidden', 'data/x.parquet', 'data/other/part-0.parquet'),
    *('data/tasks/part-9.parquet', 'data/tasks/*.parquet', 'data/methods/[a].parquet'),
    *('data/methods/walk=x.parquet', "data/cells/'.parquet", 'data/cells/\x1b[2J.parquet'),
    *('data/methods/part-0.parquet.tmp', 'data/methods/x/part-0.parquet', 'data/\udc80.parquet'),
    *('data/pairs/\udcff.parquet', 'data/timings/x.parquet', 'failures/x.json', 'store.json'),
)
_TARGETS = ('../canary/methods.parquet', '../canary', '.', '/nowhere', '/dev/null', '/etc/passwd')


def write(seed: int, base: Path, target: Path) -> Path:
    """A copy of a sound snapshot with one to three changes; most fit their manifest again."""
    random = Random(seed)
    shutil.copytree(base, target)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_CHANGES)(random, target)
    if random.random() < 0.8:
        _reseal(target, counted=random.random() < 0.8)
    return target


# -- tables --------------------------------------------------------------------------------------


def _change_values(random: Random, snapshot: Path) -> None:
    file, table = _some_table(random, snapshot)
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(table.schema))
        field, values = table.schema.field(at), table.column(at).to_pylist()
        places = range(len(values)) if random.random() < 0.3 else [random.randrange(len(values))]
        for place in places:
            values[place] = odd(random, field.type, values[place], values)
        table = table.set_column(at, field, pa.array(values, type=field.type))
    _write(table, file)


def _change_rows(random: Random, snapshot: Path) -> None:
    file, table = _some_table(random, snapshot)
    rows = list(range(table.num_rows))
    at = random.randrange(len(rows))
    del rows[at : at + random.choice((1, len(rows)))]
    rows += [at] * random.choice((0, 1, 2))
    _write(table.take(pa.array(rows, pa.int64())), file)


def _change_columns(random: Random, snapshot: Path) -> None:
    file, table = _some_table(random, snapshot)
    at = random.randrange(len(table.schema))
    field, column = table.schema.field(at), table.column(at)
    change = random.randrange(7)
    if change == 0:
        table = table.remove_column(at)
    elif change == 1:
        names = [*table.column_names]
        names[at] = random.choice((names[at].upper(), 'x', '', names[at - 1], 'a"b', 'snapshot'))
        table = table.rename_columns(names)
    elif change == 2:
        table = table.append_column(random.choice(('x', field.name, 'snapshot', '')), column)
    elif change == 3:
        table = table.set_column(at, field.name, pa.nulls(table.num_rows))
    elif change == 4:
        table = table.select(table.column_names[::-1])
    elif change == 5:
        table = table.set_column(at, field.with_nullable(not field.nullable), column)
    else:
        table = table.set_column(at, field.name, _of_another_type(random, column))
    _write(table, file)


def _write(table: pa.Table, file: Path) -> None:
    """The table, with columns that may be null where its own do not take what they hold."""
    try:
        pq.write_table(table, file)
    except pa.ArrowInvalid:
        loose = pa.schema(pa.field(field.name, _loose(field.type)) for field in table.schema)
        columns = [
            pa.array(column.to_pylist(), field.type)
            for column, field in zip(table.columns, loose, strict=True)
        ]
        pq.write_table(pa.Table.from_arrays(columns, schema=loose), file)


def _loose(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(pa.field('element', _loose(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _loose(field.type)) for field in kind])
    return kind


def _of_another_type(random: Random, column: pa.ChunkedArray) -> pa.Array:
    texts = [str(value) for value in column.to_pylist()]
    kind = random.randrange(6)
    if kind == 0:
        return pa.array(texts)
    if kind == 1:
        return pa.array([text.encode() + b'\xff' for text in texts])
    if kind == 2:  # text that is no UTF-8
        raw = pa.array([b'\xff' + text.encode() for text in texts])
        return pa.StringArray.from_buffers(len(raw), *raw.buffers()[1:])
    if kind == 3:
        return pa.array([[text] for text in texts])
    if kind == 4:
        return pa.array([{'x': 1, 'y': text} for text in texts])
    return pa.array([random.choice((1, -1, 2**52)) for _ in texts], random.choice(_NUMBERS))


_NUMBERS = (pa.int64(), pa.float64(), pa.decimal128(38, 2), pa.timestamp('ns'), pa.time64('us'))


def _some_table(random: Random, snapshot: Path) -> tuple[Path, pa.Table]:
    """One that has rows, and can be read still; methods and tasks are what most is done with."""
    files = [file for file in _files(snapshot) if file.suffix == '.parquet']
    files += [file for file in files if file.parent.name in ('methods', 'tasks')] * 3
    random.shuffle(files)
    for file in files:
        try:
            table = pq.read_table(file, partitioning=None)
        except (OSError, pa.ArrowException):
            continue
        if table.num_rows and table.num_columns:
            return file, table
    return snapshot / 'data' / 'x.parquet', pa.table({'x': [1]})


# -- files ---------------------------------------------------------------------------------------


def _change_bytes(random: Random, snapshot: Path) -> None:
    file = random.choice(_files(snapshot))
    data = file.read_bytes()
    words = (b'PAR1', b'\0' * 8, b'\xff' * 4, data[:64], *_JSON_WORDS)
    if random.random() < 0.6:
        file.write_bytes(broken(random, data, words))
    else:
        file.write_bytes(random.choice((b'', b'PAR1', b'PAR1' * 3, data[:-1], data * 2, _csv())))


def _csv() -> bytes:
    sink = io.BytesIO()
    pa_csv.write_csv(pa.table({'method_id': ['0' * 16]}), sink)
    return sink.getvalue()


def _change_file(random: Random, snapshot: Path) -> None:
    file = random.choice(_files(snapshot))
    change = random.randrange(6)
    if change == 0:
        file.write_bytes(random.choice(_files(snapshot)).read_bytes())
        return
    content = file.read_bytes()
    if change == 1:
        _put(random, snapshot, content)
        return
    file.unlink()
    if change == 2:
        file.mkdir()
    elif change == 3:
        file.symlink_to(random.choice(_TARGETS))
    elif change == 4:
        os.mkfifo(file)


def _put(random: Random, snapshot: Path, content: bytes) -> None:
    """One more file, or a link where a folder would be."""
    file = snapshot / random.choice(_NAMES)
    if not file.parent.exists() and random.random() < 0.5:
        file.parent.symlink_to(random.choice(_TARGETS))
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if random.random() < 0.3 and not file.exists():
        file.symlink_to(random.choice(_TARGETS))
    else:
        file.write_bytes(content)


def _files(snapshot: Path) -> list[Path]:
    found = sorted(file for file in snapshot.rglob('*') if file.is_file() and not file.is_symlink())
    return found + [file for file in found if file.name == 'manifest.json'] * 2


# -- the manifest --------------------------------------------------------------------------------


def _change_manifest(random: Random, snapshot: Path) -> None:
    content = _manifest(snapshot)
    if content is None:
        return
    inner: Any = content
    while True:
        key = random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        if isinstance(inner[key], dict | list) and inner[key] and random.random() < 0.7:
            inner = inner[key]
            continue
        break
    if isinstance(inner, dict) and random.random() < 0.25:
        inner[random.choice((*WORDS, *_NAMES))] = inner.pop(key)
    elif random.random() < 0.25:
        del inner[key]
    else:
        inner[key] = random.choice((*_OTHERS, inner[key] if inner is content else [inner[key]]))
    (snapshot / 'manifest.json').write_text(json.dumps(content))


def _manifest(snapshot: Path) -> dict[str, Any] | None:
    if not (snapshot / 'manifest.json').is_file():  # a pipe would be waited for
        return None
    try:
        found = json.loads((snapshot / 'manifest.json').read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def _reseal(snapshot: Path, *, counted: bool) -> None:
    """Let the manifest fit what the files say now, as far as it still is one."""
    content = _manifest(snapshot)
    listed = (content or {}).get('files')
    if content is None or not isinstance(listed, dict):
        return
    for name in list(listed):
        file = snapshot / name.replace('\0', '')
        if file.is_file() and file.resolve().is_relative_to(snapshot.resolve()):
            data = file.read_bytes()
            listed[name] = {'sha256': hashlib.sha256(data).hexdigest(), 'size': len(data)}
    if counted and isinstance(content.get('rows'), dict):
        content['rows'] |= {name: _rows(snapshot, name) for name in content['rows']}
    (snapshot / 'manifest.json').write_text(json.dumps(content))


def _rows(snapshot: Path, table: str) -> int:
    rows = 0
    for file in sorted((snapshot / 'data').rglob('*.parquet')):
        if file.parent.name == table and file.is_file():
            try:
                rows += pq.read_metadata(file).num_rows
            except (OSError, UnicodeError, pa.ArrowException):
                continue
    return rows


_CHANGES: Sequence[Callable[[Random, Path], None]] = (
    *(_change_values,) * 8,
    *(_change_columns, _change_columns, _change_rows, _change_bytes, _change_bytes),
    *(_change_file, _change_file, _change_manifest, _change_manifest),
)
