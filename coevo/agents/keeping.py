"""The folder of a run: what was asked for, and one file for each attempt that is finished.

run.json           what was asked for; another question takes another folder
attempts/ID.json   an attempt, whole or not there; a second one at the task is ID.2, here and in all others
rounds/ID.jsonl    a line for each round, also of attempts that were interrupted
logs/ID.log        the end of what the agent printed
predictions.jsonl  for `coevo evaluate`; follows from the attempts
report.json        the sums
failures/ID.json   the traceback of a bug of ours that ended an attempt
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from coevo.agents.records import Attempt
from coevo.agents.records import attempt
from coevo.agents.records import prediction_line
from coevo.model.containment import Bug
from coevo.model.errors import Fatal
from coevo.storage import bug_records
from coevo.storage import durable
from coevo.storage.beneath import beneath
from coevo.storage.builds import build
from coevo.storage.place import folder_name
from coevo.storage.places import place_of

REPORT_VERSION = 1


# A task and the number of an attempt at it.
AttemptKey = tuple[str, int]


class Keeping:
    """One process at a time; its threads may save at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def opened(self, asked: Mapping[str, object]) -> Iterator[None]:
        """Lock the folder; Fatal if it belongs to another run, or another process works there.

        asked  what decides the answers: plain JSON values
        """
        for name in ('attempts', 'rounds', 'logs'):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        with (self.folder / '.lock').open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(
                    f'another `coevo attempt` works in {self.folder}; wait for it'
                ) from None
            self._claim(asked)
            self.billed()  # what cannot be read is told before anything more is spent
            yield

    def done(self) -> dict[AttemptKey, Attempt]:
        """Finished attempts by task and number, in this order."""
        files = (self.folder / 'attempts').glob('*.json')
        found = {one.key: one for one in map(_read, sorted(files))}
        return dict(sorted(found.items()))

    def rounds(self, key: AttemptKey) -> Path:
        return beneath(self.folder, 'rounds', f'{_name(key)}.jsonl').path

    def save(self, found: Attempt, said: str) -> None:
        """The attempt last: once it is there, the task is done."""
        name = _name(found.key)
        beneath(self.folder, 'logs', f'{name}.log').write(said.encode())
        beneath(self.folder, 'attempts', f'{name}.json').write(found.text().encode())

    def save_bug(self, key: AttemptKey, bug: Bug) -> str:
        """What ended an attempt, and where it is kept; it is as if never made."""
        place, name = place_of(self.folder / 'failures'), f'{folder_name(_name(key))}.json'
        return bug_records.keep(place, name, bug, build(), {'task_id': key[0]})

    def write_predictions(self, harness: str, model: str | None) -> Path:
        """All finished attempts as predictions, by task."""
        path = self.folder / 'predictions.jsonl'
        done = self.done().values()
        durable.write(path, [prediction_line(one, harness, model).encode() for one in done])
        return path

    def write_report(self, report: Mapping[str, object]) -> None:
        text = json.dumps({'version': REPORT_VERSION, **report}, indent=1, sort_keys=True)
        durable.write(self.folder / 'report.json', [text.encode(), b'\n'])

    def billed(self) -> float:
        """US dollars of all rounds, those of interrupted attempts too; Fatal for a damaged file."""
        return sum(map(_billed, sorted((self.folder / 'rounds').glob('*.jsonl'))))

    def _claim(self, asked: Mapping[str, object]) -> None:
        path = self.folder / 'run.json'
        if not path.exists():
            durable.write(path, [json.dumps(asked, indent=1, sort_keys=True).encode(), b'\n'])
            return
        before = _question(path)
        for name in sorted(before.keys() | asked.keys()):
            if before.get(name) != asked.get(name):
                raise Fatal(
                    f'{self.folder} holds a run with {name} {before.get(name)!r}, not '
                    f'{asked.get(name)!r}; choose another folder with --out'
                )


def _name(key: AttemptKey) -> str:
    task_id, number = key
    return task_id if number == 1 else f'{task_id}.{number}'


def _question(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_text('utf-8'))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Fatal(f'{file} cannot be read; choose another folder with --out')
    return found


def _billed(file: Path) -> float:
    """US dollars of the rounds of one task; a kill may have cut the last line."""
    try:
        lines = file.read_text('utf-8').splitlines()
        return sum(json.loads(line)['cost_usd'] or 0.0 for line in lines if line.endswith('}'))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Fatal(f'{file} cannot be read; take out the line that is no round') from None


def _read(file: Path) -> Attempt:
    try:
        return attempt(file.read_text('utf-8'))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Fatal(f'{file} cannot be read; delete it, and its task is attempted again') from None
