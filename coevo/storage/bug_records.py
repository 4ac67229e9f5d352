"""What is kept of each bug that ended a pair, a task or an attempt: a JSON file with its traceback.

It is there for a person, and to tell which build of coevo has met it: any other one tries again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from datetime import datetime

from coevo.display.redaction import redact
from coevo.model.containment import Bug
from coevo.storage.place import Place


def keep(place: Place, name: str, bug: Bug, build: str, about: Mapping[str, str]) -> str:
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
    place.write(name, json.dumps(record, indent=2).encode() + b'\n')
    return place.shown(name)


def builds(place: Place, folder: str) -> dict[str, str]:
    """The build that met each bug of a folder, by the record's name; what cannot be read is left out."""
    found = {}
    for entry in place.entries(folder):
        record = place.read(entry.name)
        try:
            found[entry.name] = str(json.loads(record.data)['build']) if record else ''
        except (ValueError, KeyError, TypeError):
            continue
    return found
