"""Bug records: a JSON file with traceback for each bug that ended a pair, a task or an attempt.

Developers read them. They also tell which build of coevo met the bug, so that another build tries
again.
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
    """Write a bug record under a name, with secrets removed, and return its location for the user.

    about  what was being processed, as plain words by kind
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
    """Return the build in each readable bug record of a folder, by the record's file name.

    Records that are malformed are left out.
    """
    builds_by_name = {}
    for entry in place.list_files(folder):
        record = place.read(entry.name)
        try:
            builds_by_name[entry.name] = str(json.loads(record.data)['build']) if record else ''
        except (ValueError, KeyError, TypeError):
            continue
    return builds_by_name
