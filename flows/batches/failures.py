"""Keep records of failed runs of repositories for a person: the reason and the traceback.

    STORE/failures/OWNER+NAME/STAMP-ID.json

No decision depends on these records: the next run tries the repository again.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from coevo.display.redaction import redact
from coevo.languages.table import list_engine_versions
from coevo.storage.place import Root, encode_folder_name
from coevo.storage.places import open_place
from flows.batches.contained import ChildExit

FOLDER = 'failures'


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """A failed run: its repository, verb and flow run, and how its process ended."""

    name: str
    verb: str
    run: str | None
    sentence: str
    ended: ChildExit


def write_failure(store: Root, failure: JobFailure) -> str:
    """Write a record without any token; return its name in the store."""
    now = datetime.now(tz=UTC)
    name = f'{FOLDER}/{encode_folder_name(redact(failure.name))}/{now:%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}.json'
    record = {
        'name': redact(failure.name),
        'verb': failure.verb,
        'flow_run': failure.run,
        'sentence': redact(failure.sentence),
        'status': failure.ended.status,
        'stopped_for': failure.ended.stop,
        'complaint': redact(failure.ended.complaint),
        'engine_versions': list_engine_versions(),
        'at': now.isoformat(timespec='seconds'),
    }
    open_place(store).write_file(name, json.dumps(record, indent=2).encode() + b'\n')
    return name
