"""What is kept of each bug that ended a pair, a task or an attempt: a JSON file with its traceback.

It is there for a person, and to tell which build of coevo has met it: any other one tries again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from coevo.display.redaction import redact
from coevo.model.containment import Bug
from coevo.storage.place import StoragePlace


def write_bug_record(
    place: StoragePlace, name: str, bug: Bug, build: str, about: Mapping[str, str]
) -> str:
    """Write it down under a name, without any token, and say where that is.

    about  what was in hand: plain words, by what they are
    """
    record = {
        **about,
        'sentence': redact(bug.sentence),
        'traceback': redact(bug.traceback),
        'build': build,
        'at': datetime.now(tz=UTC).isoformat(timespec='seconds'),
    }
    place.write_file(name, json.dumps(record, indent=2).encode() + b'\n')
    return place.describe(name)


def load_builds_by_record(place: StoragePlace, folder: str) -> dict[str, str]:
    """The build that met each bug of a folder, by the record's name; what cannot be read is left out."""
    builds_by_name = {}
    for entry in place.list_files(folder):
        record = place.read(entry.name)
        try:
            builds_by_name[entry.name] = str(json.loads(record.data)['build']) if record else ''
        except (ValueError, KeyError, TypeError):
            continue
    return builds_by_name
