"""What is kept of a run that a repository's trouble ended: why, and the traceback, for a person.

    STORE/failures/OWNER+NAME/STAMP-ID.json

Nothing reads these records to decide anything: the next run tries the repository again.
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
    """A run that failed: of which repository, at what, in which flow run, and how its process ended."""

    name: str
    verb: str
    run: str | None
    sentence: str
    ended: ChildExit


def write_failure(store: Root, failure: JobFailure) -> str:
    """Write it down, without any token; its name under the store."""
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
