"""What the relay asks of a model's API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Protocol

from coevo.agents.usage import Usage

Document = Mapping[str, Any]


class ModelApi(Protocol):
    # where it is usually found, and the variable of this machine that usually holds the key
    @property
    def ENDPOINT(self) -> str: ...
    @property
    def KEY_VARIABLE(self) -> str: ...

    # headers that carry the key
    def credentials(self, key: str) -> Mapping[str, str]: ...

    # whether an agent needs this call: all others are answered as if they were not there
    def serves(self, method: str, path: str) -> bool: ...

    # whether a model answers it, which is a round
    def is_round(self, path: str) -> bool: ...

    # why a request would let the model reach more than the task, None if it would not
    def objection(self, path: str, request: Document) -> str | None: ...

    # of an answer to a round: its documents in order, one or the events of a stream
    def usage(self, path: str, answer: Sequence[Document]) -> Usage | None: ...


def number(document: Document | None, *names: str) -> int:
    """A count of tokens somewhere in a document; 0 where there is none."""
    value: object = document
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def documents(kind: str, content: bytes) -> list[Document]:
    """The JSON objects of an answer: one, an array of them, or the events of a stream."""
    if kind.startswith('text/event-stream'):
        texts = [line[5:] for line in content.split(b'\n') if line.startswith(b'data:')]
    else:
        texts = [content]
    found: list[Document] = []
    for text in texts:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # [DONE], or the end of what broke off
            continue
        found += value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, dict)]
