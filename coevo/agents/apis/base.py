"""The interface of the relay to a model API, and the fields that requests may have."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from coevo.agents.costs import Usage
from coevo.storage.bounded_reading import UnreadableContent, parse_json

# The interface of the relay to a model API, and helpers to read answers.

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


# The allowed fields of requests: a shape checks a value and says what is wrong with it, and where.
#
# A field that no shape names is refused, since new fields of an API may give access to more than
# the task.

# Function from a value and its place to the reason for a refusal; None if the value is allowed.
Shape = Callable[[Any, str], str | None]

_MODEL = re.compile(r'[A-Za-z0-9._:/+-]+')
# Parts of the names of models that search the web themselves.
_SEARCHING = ('search', ':online', 'deep-research', 'sonar', 'compound')
_SHOWN = 60


def allow_anything(value: Any, place: str) -> str | None:
    """Allow any value and return None.

    It is for schemas, and for arguments and results of tools, which no endpoint interprets.
    """
    return None


def check_scalar(value: Any, place: str) -> str | None:
    """Return why a list or an object is refused; None for a text, number, boolean or null."""
    return _describe_refusal(place) if isinstance(value, (dict, list)) else None


def check_inline_url(value: Any, place: str) -> str | None:
    """Return None for a `data:` URL, which contains its data, and the refusal of anything else.

    The endpoint would fetch what other URLs name.
    """
    if isinstance(value, str) and value.startswith('data:'):
        return None
    return f'{place} names content that the endpoint would fetch; send the content itself'


def one_of(*wanted: object) -> Shape:
    """Return a check that allows only values of the same type as, and equal to, one of these."""

    def check_equals_wanted(value: Any, place: str) -> str | None:
        """Return the fault of a value that equals none of the wanted ones, else None."""
        same = any(type(value) is type(each) and value == each for each in wanted)
        return None if same else f'{place} cannot be {_shorten(value)} here'

    return check_equals_wanted


def list_of(inner: Shape) -> Shape:
    """Return a check that allows a list if the inner check allows each of its items."""

    def check_list_items(value: Any, place: str) -> str | None:
        """Return the fault of a value that is no list of the inner shape, else None."""
        if not isinstance(value, list):
            return _describe_refusal(place)
        faults = (inner(item, f'{place}[{at}]') for at, item in enumerate(value))
        return next((why for why in faults if why is not None), None)

    return check_list_items


def text_or(inner: Shape) -> Shape:
    """Return a check that allows any text, and other values if the inner check allows them."""

    def check_text_or_inner(value: Any, place: str) -> str | None:
        """Return the fault of a value that is neither text nor of the inner shape, else None."""
        return None if isinstance(value, str) else inner(value, place)

    return check_text_or_inner


def mapping_of(inner: Shape) -> Shape:
    """Return a check that allows an object with any names if the inner check allows each value."""

    def check_mapping_values(value: Any, place: str) -> str | None:
        """Return the fault of a value that is no object of such values, else None."""
        if not isinstance(value, dict):
            return _describe_refusal(place)
        faults = (
            inner(field_value, f'{place}.{_shorten(name)}') for name, field_value in value.items()
        )
        return next((why for why in faults if why is not None), None)

    return check_mapping_values


def object_of(known: Mapping[str, Shape], *needed: str) -> Shape:
    """Return a check that allows an object with fields of `known` only, and all of those `needed`.

    The value of each field must pass its own check. A null counts as a missing field.
    """

    def check_object_fields(value: Any, place: str) -> str | None:
        """Return the fault of a value that is no object with these fields, else None."""
        if not isinstance(value, dict):
            return _describe_refusal(place)
        for name in needed:
            if value.get(name) is None:
                return (
                    f'{_describe_field(place, name)} is missing; without it the endpoint '
                    'would look it up'
                )
        for name, field_value in value.items():
            if field_value is None:
                continue
            inner = known.get(name)
            why = (
                _describe_refusal(_describe_field(place, name))
                if inner is None
                else inner(field_value, _describe_field(place, name))
            )
            if why is not None:
                return why
        return None

    return check_object_fields


def object_by_type(known: Mapping[str, Shape], default: Shape | None = None) -> Shape:
    """Return a check that chooses the check of an object by its `type`; `default` is for no type.

    An object with an unknown `type`, or without one where there is no `default`, is refused.
    """

    def check_object_by_type(value: Any, place: str) -> str | None:
        """Return the fault of an object without a known `type`, or not of its shape, else None."""
        if not isinstance(value, dict):
            return _describe_refusal(place)
        kind = value.get('type')
        inner = default if kind is None else known.get(kind) if isinstance(kind, str) else None
        if inner is None:
            return (
                f'{_describe_field(place, "type")} cannot be {_shorten(kind)}, which refers to '
                'data stored at the endpoint'
            )
        return inner(
            {name: field_value for name, field_value in value.items() if name != 'type'}, place
        )

    return check_object_by_type


def check_model_name(value: Any, place: str) -> str | None:
    """Return why the name of a model is refused; None if it is allowed.

    Refused are models that search the web themselves, and texts with other characters than names
    have, such as a stored preset.
    """
    if not isinstance(value, str) or not _MODEL.fullmatch(value):
        return f'{place} is not the name of a model: {_shorten(value)}'
    if any(word in value.lower() for word in _SEARCHING):
        return f'the model {_shorten(value)} searches by itself'
    return None


def _describe_field(place: str, name: str) -> str:
    return f'{place}.{_shorten(name)}' if place else f'the field {_shorten(name)}'


def _describe_refusal(place: str) -> str:
    return f'{place or "the request"} is not forwarded to the endpoint'


def _shorten(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 1]}…'
