"""Predictions in JSON lines, Parquet or a folder of files; each is one attempt at one task."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.records import Prediction
from coevo.model.errors import Fatal

if TYPE_CHECKING:
    from coevo.evaluation.assignments import Assignment

# A limit far above the number of attempts that anyone makes.
MOST_ATTEMPTS = 1000


def check_attempt_numbers(
    place: Path | str, found: Sequence[Prediction], most: int | None = None
) -> None:
    """Check that the attempts at tasks can be counted together.

    place  the file or folder of the predictions, for messages
    most   the attempts at each task that count; None for all

    Raises: Fatal if a number occurs twice or is missing, or if there are several protocols. Also if
    tasks have unequal numbers of attempts, unless under `feedback`, where the last attempt may come
    early.
    """
    protocols = sorted({str(prediction.protocol) for prediction in found})
    if len(protocols) > 1:
        raise Fatal(
            f'{place} has attempts of several protocols ({", ".join(protocols)}); evaluate '
            'each protocol by itself'
        )
    numbers: dict[str, list[int]] = {}
    for prediction in found:
        numbers.setdefault(prediction.task_id, []).append(prediction.attempt)
    for task_id, attempts in numbers.items():
        _check_numbering(place, task_id, sorted(attempts))
    if numbers and protocols != [AttemptProtocol.FEEDBACK]:
        counts = {task_id: len(attempts) for task_id, attempts in numbers.items()}
        _check_equal_counts(
            place, {task: min(count, most or count) for task, count in counts.items()}
        )


def _check_numbering(place: Path | str, task_id: str, attempts: Sequence[int]) -> None:
    for number, attempt in enumerate(attempts, 1):
        if attempt < number:
            which = '' if len(set(attempts)) == 1 and attempt == 1 else f', in attempt {attempt}'
            raise Fatal(
                f'{place} answers {task_id} twice{which}; keep one prediction for each task, '
                'or number its attempts from 1'
            )
        if attempt > number:
            raise Fatal(
                f'{place} answers {task_id} in attempt {attempt} but not in attempt {number}; '
                'number attempts from 1 without gaps, and give a failed attempt a null patch'
            )


def _check_equal_counts(place: Path | str, counts: Mapping[str, int]) -> None:
    fewest, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    if counts[fewest] != counts[most]:
        raise Fatal(
            f'{place} answers {most} {counts[most]} times and {fewest} {counts[fewest]} '
            'times; answer each task equally often, giving a failed attempt a null patch, or '
            'take only the first K with --only-attempts K'
        )


# At least one of these columns exists; if both do, a row has at most one value.
ANSWERS = ('patch', 'file')
TEXTS = ('model', 'harness', 'exit_status')
NUMBERS = ('cost_usd', 'tokens', 'seconds')
COLUMNS = ('task_id', *ANSWERS, 'attempt', 'seed', 'protocol', *TEXTS, *NUMBERS)

# The limit of dollars, tokens and seconds, far above any real value.
MOST = 10**15

PATCHES, FILE = ('.patch', '.diff'), '.file'

Row = Mapping[str, Any]


def load_predictions(
    path: Path, known_task_ids: Collection[str], most_attempts: int | None = None
) -> tuple[Prediction, ...]:
    """Return the predictions of a file or folder, sorted by task and attempt.

    A file of JSON lines (.jsonl) or Parquet has the columns `task_id` and `patch`, or `file` (the
    whole test file) instead of `patch`; null means that there is none. It may have `attempt`,
    `seed`, `protocol`, `model`, `harness`, `exit_status`, `cost_usd`, `tokens` and `seconds`. A
    folder has a file `TASK_ID.patch`, `TASK_ID.diff` or `TASK_ID.file` for each task, and
    `TASK_ID.2.patch` for a second attempt.

    known     the ids of all tasks of the snapshot
    attempts  only the first attempts at each task, this many; None for all

    Raises: Fatal for a bad file.
    """
    if path.is_dir():
        predictions = list(_load_folder(path))
    elif not path.exists():
        raise Fatal(f'{path} does not exist; name a .jsonl, a .parquet or a folder of patches')
    elif path.suffix == '.parquet':
        predictions = [
            _parse_prediction(row, f'{path}, row {n}')
            for n, row in enumerate(_load_parquet(path), 1)
        ]
    else:
        predictions = [
            _parse_prediction(row, location)
            for location, row in _read_json_lines_with_location(path)
        ]
    if not predictions:
        raise Fatal(
            f'{path} has no predictions; add one for each task, since a task without one fails'
        )
    return check_and_select_predictions(path, predictions, known_task_ids, most_attempts)


def check_and_select_predictions(
    path: Path | str,
    found: Sequence[Prediction],
    known_task_ids: Collection[str],
    most_attempts: int | None = None,
) -> tuple[Prediction, ...]:
    """Check predictions, and return the first attempts at each task, sorted by task and attempt.

    path      the file or folder of the predictions, for messages
    known     the ids of all tasks of the snapshot
    attempts  only the first attempts at each task, this many; None for all

    Raises: Fatal for an unknown task, or for attempts that do not fit together.
    """
    for prediction in found:
        if prediction.task_id not in known_task_ids:
            raise Fatal(
                f'{path} answers {prediction.task_id!r}, which is not a task of the snapshot; '
                'remove it, or name the snapshot that the predictions are for'
            )
    check_attempt_numbers(path, found, most_attempts)
    taken = (
        prediction
        for prediction in found
        if most_attempts is None or prediction.attempt <= most_attempts
    )
    return tuple(sorted(taken, key=lambda one: (one.task_id, one.attempt)))


# -- files and folders ---------------------------------------------------------------------------


def _load_folder(path: Path) -> Iterator[Prediction]:
    files = sorted(file for file in path.iterdir() if not file.name.startswith('.'))
    if not files:
        raise Fatal(f'{path} is empty; put one TASK_ID.patch for each task into it')
    for file in files:
        if file.suffix not in (*PATCHES, FILE) or not file.is_file():
            raise Fatal(
                f'{file} is not a patch; name each file TASK_ID.patch or TASK_ID.diff, a '
                'whole test file TASK_ID.file, and a second attempt TASK_ID.2.patch'
            )
        task_id, attempt = _parse_file_name(file)
        is_file, content = file.suffix == FILE, _read_bytes(file)
        yield Prediction(
            task_id=task_id,
            patch=None if is_file else content,
            file=content if is_file else None,
            attempt=attempt,
        )


def _parse_file_name(file: Path) -> tuple[str, int]:
    """Return the task and the attempt that the name of a file in a folder states."""
    task_id, _, number = file.stem.rpartition('.')
    if not task_id or re.fullmatch(r'\d{1,9}', number, re.ASCII) is None:
        return file.stem, 1
    return task_id, _parse_attempt(int(number), str(file))


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Fatal(f'{file} cannot be read: {error.strerror}') from None


def _load_parquet(path: Path) -> list[Row]:
    try:
        names = pq.read_schema(path).names
        _check_columns(names, str(path))
        wanted = [name for name in COLUMNS if name in names]
        table = pq.read_table(path, columns=wanted, partitioning=None)
        return list(table.to_pylist())
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        (first_line, *_) = str(error).splitlines() or ['']
        raise Fatal(f'{path} cannot be read as Parquet: {first_line}') from None


def _read_json_lines_with_location(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        text = _read_bytes(path).decode('utf-8-sig')
    except UnicodeDecodeError:
        raise Fatal(f'{path} is not UTF-8; write JSON lines (.jsonl) or Parquet') from None
    for number, line in enumerate(text.split('\n'), start=1):
        if not line.strip():
            continue
        location = f'{path}, line {number}'
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise Fatal(f'{location} is not valid JSON; write one object on each line') from None
        if not isinstance(row, dict):
            raise Fatal(f'{location} is not a JSON object; write one with task_id and patch')
        _check_columns(row, location)
        yield location, row


def _check_columns(names: Iterable[str], place: str) -> None:
    columns = set(names)
    missing = 'task_id' if 'task_id' not in columns else None if columns & set(ANSWERS) else 'patch'
    if missing:
        raise Fatal(
            f'{place} has no {missing!r}; a prediction needs task_id and patch (or file, the whole '
            'test file instead)'
        )


# -- fields --------------------------------------------------------------------------------------


def _parse_prediction(row: Row, place: str) -> Prediction:
    task_id = row['task_id']
    if not isinstance(task_id, str):
        raise Fatal(f'{place} has a task_id that is not text: {task_id!r}')
    patch, file = (_parse_content(row, name, place) for name in ANSWERS)
    if patch is not None and file is not None:
        raise Fatal(f'{place} has both a patch and a file; keep one and set the other to null')
    return Prediction(
        task_id=task_id,
        patch=patch,
        file=file,
        attempt=_parse_attempt(row.get('attempt'), place),
        seed=_parse_seed(row, place),
        protocol=_parse_protocol(row, place),
        model=_parse_text(row, 'model', place),
        harness=_parse_text(row, 'harness', place),
        exit_status=_parse_text(row, 'exit_status', place),
        cost_usd=_parse_number(row, 'cost_usd', place),
        tokens=_round_number(_parse_number(row, 'tokens', place)),
        seconds=_parse_number(row, 'seconds', place),
    )


def _parse_content(row: Row, name: str, place: str) -> bytes | None:
    """Return the bytes of a patch or file in a row; None if there is none.

    Lone surrogates, which UTF-8 cannot encode, are kept as bytes: such a patch just does not apply.
    Raises: Fatal if it is neither text nor bytes.
    """
    value = row.get(name)
    if value is None or isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise Fatal(f'{place} has a {name} that is not text')
    try:
        return value.encode('utf-8', 'surrogateescape')
    except UnicodeEncodeError:
        return value.encode('utf-8', 'surrogatepass')


def _parse_attempt(value: object, place: str) -> int:
    if value is None:
        return 1
    if not _is_int(value) or not 1 <= value <= MOST_ATTEMPTS:
        raise Fatal(
            f'{place} has an impossible attempt: {value!r}; number attempts from 1 to '
            f'{MOST_ATTEMPTS}'
        )
    return value


def _parse_seed(row: Row, place: str) -> int | None:
    value = row.get('seed')
    if value is None:
        return None
    if not _is_int(value) or not -(2**63) <= value < 2**63:
        raise Fatal(f'{place} has a seed that is not a whole number of 64 bits: {value!r}')
    return value


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _parse_protocol(row: Row, place: str) -> AttemptProtocol:
    value = row.get('protocol')
    if value is None:
        return AttemptProtocol.ONCE
    if value not in [str(protocol) for protocol in AttemptProtocol]:
        raise Fatal(
            f'{place} has an unknown protocol: {value!r}; write one of {", ".join(AttemptProtocol)}'
        )
    return AttemptProtocol(value)


def _parse_text(row: Row, name: str, place: str) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    if name == 'exit_status' and isinstance(value, int):
        return str(value)
    if not isinstance(value, str) or not _is_valid_unicode(value):
        raise Fatal(f'{place} has a {name} that is not text: {value!r}')
    return value


def _is_valid_unicode(text: str) -> bool:
    """Return whether a text can be encoded; half of a surrogate pair, as in JSON, cannot."""
    return not any('\ud800' <= letter <= '\udfff' for letter in text)


def _parse_number(row: Row, name: str, place: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise Fatal(f'{place} has a {name} that is not a number: {value!r}')
    if not 0 <= value <= MOST:
        raise Fatal(f'{place} has a {name} with an impossible value: {value!r}')
    return float(value)


def _round_number(value: float | None) -> int | None:
    return None if value is None else round(value)


# The word that users write for gold in the place of a file of predictions.
GOLD: Final = 'gold'


def make_gold_predictions(wanted: Iterable[Assignment]) -> tuple[Prediction, ...]:
    """Return the developers' own patch of each task as a prediction, with `gold` as its harness."""
    return tuple(
        Prediction(
            task_id=assignment.task_id,
            patch=assignment.task.gold_patch.encode('utf-8', 'surrogateescape'),
            harness=GOLD,
        )
        for assignment in wanted
    )
