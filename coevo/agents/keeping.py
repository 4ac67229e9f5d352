"""The folder of a run: its inputs, and one file for each finished attempt.

run.json           inputs of the run; another run needs another folder
attempts/ID.json   a finished attempt; the second at a task has the name ID.2, in all folders
rounds/ID.jsonl    one line for each round, including those of interrupted attempts
logs/ID.jsonl      requests to the model and its answers, one line for each call
logs/ID.log        the end of the agent's output
predictions.jsonl  input of `coevo evaluate`, made from the attempts
report.json        totals of the run
failures/ID.json   the traceback of a bug in coevo that ended an attempt
"""

from __future__ import annotations

import fcntl
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from coevo.agents.records import Attempt, format_prediction_line, parse_attempt
from coevo.model.errors import Bug, Fatal
from coevo.storage import documents, durable
from coevo.storage.beneath import join_beneath
from coevo.storage.bounded_reading import UnreadableContent, parse_json
from coevo.storage.documents import identify_build
from coevo.storage.place import encode_folder_name
from coevo.storage.places import open_place

# A value takes about a hundred bytes of memory. Content with more values is kept as text.
_MOST_VALUES = 200_000

MOST_BYTES = 32 << 20
"""Most bytes of a log. Later lines are only counted; a long conversation repeats itself."""


class AnswerLog:
    """The log of one attempt; safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        """Create the file of the log, or empty it if an interrupted attempt has left one."""
        self._file = file
        self._guard = threading.Lock()
        self._left, self._left_out = MOST_BYTES, 0
        file.write_bytes(b'')

    def append_request_or_answer(
        self, asked_or_said: str, content: bytes, status: int | None = None
    ) -> None:
        """Append a request or an answer, unless the log would exceed `MOST_BYTES`.

        what    `asked` for a request, `said` for an answer
        status  the HTTP status of an answer
        """
        row = {
            asked_or_said: _parse_json_or_text(content),
            **({} if status is None else {'status': status}),
        }
        line = json.dumps(row, ensure_ascii=False).encode('utf-8', 'replace') + b'\n'
        with self._guard:
            if len(line) > self._left:
                self._left_out += 1
                return
            self._left -= len(line)
            with self._file.open('ab') as file:
                file.write(line)

    def write_left_out_count(self) -> None:
        """Append a line with the number of lines that are left out, if there are any."""
        with self._guard:
            if self._left_out:
                with self._file.open('ab') as file:
                    file.write(json.dumps({'left_out': self._left_out}).encode() + b'\n')
                self._left_out = 0


def _parse_json_or_text(content: bytes) -> object:
    """Return the value of JSON, and the text of anything else, such as a stream of events."""
    try:
        return parse_json(content, most_values=_MOST_VALUES)
    except UnreadableContent:
        return content.decode('utf-8', 'replace')


REPORT_VERSION = 1


# A task's id and the number of an attempt at it.
AttemptKey = tuple[str, int]


class RunFolder:
    """The folder of a run, used by one process at a time; its threads may save concurrently."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def lock_folder(self, asked: Mapping[str, object]) -> Iterator[None]:
        """Create the folder of the run, and keep it locked while the context is open.

        asked  inputs that affect the answers, as plain JSON values
        Raises: Fatal if the folder belongs to a run with other inputs, or another process uses it.
        """
        for name in ('attempts', 'rounds', 'logs'):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        with (self.folder / '.lock').open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(
                    f'another `coevo run` is using {self.folder}; wait until it ends, or choose '
                    'another folder with --out'
                ) from None
            self._claim_folder(asked)
            self.sum_billed_usd()  # reports unreadable files before more money is spent
            yield

    def load_attempts(self) -> dict[AttemptKey, Attempt]:
        """Return the finished attempts by task and number, in this order.

        Raises: Fatal for a damaged file.
        """
        files = (self.folder / 'attempts').glob('*.json')
        attempts = {record.key: record for record in map(_load_attempt, sorted(files))}
        return dict(sorted(attempts.items()))

    def locate_rounds_file(self, key: AttemptKey) -> Path:
        """Return the path of the file with an attempt's rounds."""
        return join_beneath(self.folder, 'rounds', f'{_format_key(key)}.jsonl').path

    def open_log(self, key: AttemptKey) -> AnswerLog:
        """Return a new log for an attempt; an earlier log of the attempt is emptied."""
        return AnswerLog(join_beneath(self.folder, 'logs', f'{_format_key(key)}.jsonl').path)

    def save_attempt(self, found: Attempt, output_tail: str) -> None:
        """Save an attempt and the end of its output.

        The attempt's file is written last, since it marks the attempt as finished.
        """
        name = _format_key(found.key)
        join_beneath(self.folder, 'logs', f'{name}.log').replace_file(output_tail.encode())
        join_beneath(self.folder, 'attempts', f'{name}.json').replace_file(found.to_json().encode())

    def save_bug(self, key: AttemptKey, bug: Bug) -> str:
        """Save the traceback of a bug that ended an attempt, and return where.

        The attempt stays unfinished.
        """
        failures_place, name = (
            open_place(self.folder / 'failures'),
            f'{encode_folder_name(_format_key(key))}.json',
        )
        return documents.write_and_locate_bug_record(
            failures_place, name, bug, identify_build(), {'task_id': key[0]}
        )

    def write_predictions(self, harness: str, model: str | None) -> Path:
        """Write the predictions of all finished attempts, sorted by task, and return the path."""
        path = self.folder / 'predictions.jsonl'
        done = self.load_attempts().values()
        durable.write_durably(
            path, [format_prediction_line(record, harness, model).encode() for record in done]
        )
        return path

    def write_report(self, report: Mapping[str, object]) -> None:
        """Write `report.json`."""
        text = json.dumps({'version': REPORT_VERSION, **report}, indent=1, sort_keys=True)
        durable.write_durably(self.folder / 'report.json', [text.encode(), b'\n'])

    def sum_billed_usd(self) -> float:
        """Return the cost of all rounds in US dollars, including those of interrupted attempts.

        Raises: Fatal for a damaged file.
        """
        return sum(map(_sum_rounds_usd, sorted((self.folder / 'rounds').glob('*.jsonl'))))

    def _claim_folder(self, asked: Mapping[str, object]) -> None:
        path = self.folder / 'run.json'
        if not path.exists():
            durable.write_durably(
                path, [json.dumps(asked, indent=1, sort_keys=True).encode(), b'\n']
            )
            return
        before = _load_run_inputs(path)
        for name in sorted(before.keys() | asked.keys()):
            if _remove_loopback_port(before.get(name)) != _remove_loopback_port(asked.get(name)):
                option = ' (--endpoint)' if name == 'network' else ''
                raise Fatal(
                    f'{self.folder} holds a run with {name}{option} {before.get(name)!r}, not '
                    f'{asked.get(name)!r}; choose another folder with --out'
                )


_OWN_PORT = re.compile(r'^(https?://(?:localhost|127\.[0-9.]+|\[::1\])):[0-9]+')


def _remove_loopback_port(value: object) -> object:
    """Return an input of a run without the port of an endpoint on this machine.

    A server that is started again may get another port, and answers as before.
    """
    return _OWN_PORT.sub(r'\1', value) if isinstance(value, str) else value


def _format_key(key: AttemptKey) -> str:
    task_id, number = key
    return task_id if number == 1 else f'{task_id}.{number}'


def _load_run_inputs(file: Path) -> dict[str, object]:
    try:
        inputs = json.loads(file.read_text('utf-8'))
    except (ValueError, RecursionError):
        inputs = None
    if not isinstance(inputs, dict):
        raise Fatal(f'{file} cannot be read; choose another folder with --out')
    return inputs


def _sum_rounds_usd(file: Path) -> float:
    """Return the cost of one attempt's rounds in US dollars; an incomplete last line is ignored.

    Raises: Fatal if another line is damaged.
    """
    try:
        lines = file.read_text('utf-8').splitlines()
        return sum(json.loads(line)['cost_usd'] or 0.0 for line in lines if line.endswith('}'))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Fatal(f'{file} cannot be read; remove the damaged line') from None


def _load_attempt(file: Path) -> Attempt:
    try:
        return parse_attempt(file.read_text('utf-8'))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Fatal(
            f'{file} cannot be read; delete it, and coevo attempts its task again'
        ) from None
