"""The interface of the relay to a model API, and helpers to read answers."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from coevo.agents.costs import Usage
from coevo.storage.bounded_reading import UnreadableContent, parse_json

# Most JSON values of one answer, which may contain the probability of each token.
_MOST_VALUES = 2_000_000

Document = Mapping[str, Any]


class ModelApi(Protocol):
    """A model API; the modules of this package implement it."""

    @property
    def ENDPOINT(self) -> str:
        """The address of the API's maker."""

    @property
    def KEY_VARIABLE(self) -> str:
        """The usual environment variable with the key."""

    def build_auth_headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""

    def accepts_call(self, method: str, path: str) -> bool:
        """Return whether an agent needs this call; the relay answers 404 to all others."""

    def is_model_call(self, path: str) -> bool:
        """Return whether a model answers this call, so that it counts as a round."""

    def find_objection(self, path: str, request: Document) -> str | None:
        """Return why a request would let the model reach more than the task, or None."""

    def extract_usage(self, path: str, answer: Sequence[Document]) -> Usage | None:
        """Return the usage that the answer to a round states; None if it states none.

        answer  the JSON documents of the answer, in order: one, or the events of a stream
        """


def get_token_count_at_path(document: Document | None, *path: str) -> int:
    """Return a token count at a path of names in a document; 0 if there is none."""
    value: object = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def parse_usage_documents(content_type: str, content: bytes) -> list[Document]:
    """Return the JSON objects of an answer that may state its usage; none if it is not JSON.

    An answer is an object, an array of objects, or a stream of events. Of a stream, only events
    that contain the word `usage` are read.
    kind  the content type of the answer
    """
    if content_type.startswith('text/event-stream'):
        # All APIs call it usage or usageMetadata. Other events hold a few words of the answer and
        # no counts.
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
        except UnreadableContent:  # the [DONE] of a stream, or an event that was cut off
            continue
        values += value if isinstance(value, list) else [value]
    return [document for document in values if isinstance(document, dict)]
