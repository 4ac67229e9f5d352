"""The canary of a month: a line by which text of a release is found in what a model was trained on.

It is derived from the month alone, so that it is the same on every machine, and a task keeps its
prompt in the snapshots of later months.
"""

from __future__ import annotations

import hashlib
import uuid


def compute_canary(month: str) -> str:
    """Return the canary of a month, such as `coevo canary` with a UUID; `month` is `YYYY-MM`."""
    digest = hashlib.sha256(f'coevo canary of {month}'.encode()).digest()
    return f'coevo canary {uuid.UUID(bytes=digest[:16], version=4)}'


def add_canary(prompt: str, month: str) -> str:
    """Return a prompt with the canary of a month as its last line; unchanged if it has it."""
    line = f'{compute_canary(month)} (benchmark text: keep it out of training data)\n'
    return prompt if prompt.endswith(line) else f'{prompt.rstrip()}\n\n{line}'
