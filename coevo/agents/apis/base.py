"""What the relay asks of a model's API."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from coevo.agents.prices import Usage
from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import UnreadableContent

# Of one answer, which may tell the probability of each token.
_MOST_VALUES = 2_000_000

Document = Mapping[str, Any]


class ModelApi(Protocol):
    # where it is usually found, and the variable of this machine that usually holds the key
    @property
    def ENDPOINT(self) -> str: ...
    @property
    def KEY_VARIABLE(self) -> str: ...

    # headers that carry the key
    def build_auth_headers(self, key: str) -> Mapping[str, str]: ...

    # whether an agent needs this call: all others are answered as if they were not there
    def accepts_call(self, method: str, path: str) -> bool: ...

    # whether a model answers it, which is a round
    def is_model_call(self, path: str) -> bool: ...

    # why a request would let the model reach more than the task, None if it would not
    def find_objection(self, path: str, request: Document) -> str | None: ...

    # of an answer to a round: its documents in order, one or the events of a stream
    def extract_usage(self, path: str, answer: Sequence[Document]) -> Usage | None: ...


def get_token_count(document: Document | None, *names: str) -> int:
    """A count of tokens somewhere in a document; 0 where there is none."""
    value: object = document
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def parse_documents(kind: str, content: bytes) -> list[Document]:
    """The JSON objects of an answer that may tell its cost: one, those of an array, or events of a stream."""
    if kind.startswith('text/event-stream'):
        # Every API calls it usage or usageMetadata: most events hold a few words of the answer, and no counts.
        lines = io.BytesIO(content)
        texts: Iterator[bytes] = (
            line[5:] for line in lines if line.startswith(b'data:') and b'usage' in line
        )
    else:
        texts = iter((content,))
    values: list[Document] = []
    for text in texts:
        try:
            value = parse_json(text, most_values=_MOST_VALUES)
        except UnreadableContent:  # [DONE], or the end of what broke off
            continue
        values += value if isinstance(value, list) else [value]
    return [document for document in values if isinstance(document, dict)]
