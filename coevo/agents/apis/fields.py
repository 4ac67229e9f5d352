"""What a request may hold, field by field: a shape says what is wrong with a value, and where.

Whatever a maker adds to an API may reach more than the task, so what no shape names is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

# Why a value at a place is not passed on; None if it is.
Shape = Callable[[Any, str], str | None]

_MODEL = re.compile(r'[A-Za-z0-9._:/+-]+')
# Of models that search the web by themselves, wherever it stands in their name.
_SEARCHING = ('search', ':online', 'deep-research', 'sonar', 'compound')
_SHOWN = 60


def allow_anything(value: Any, place: str) -> str | None:
    """Anything: schemas of tools, what a tool is given and answers. No endpoint looks into it."""
    return None


def check_scalar(value: Any, place: str) -> str | None:
    """A text, number or truth."""
    return _describe_refusal(place) if isinstance(value, (dict, list)) else None


def check_inline_url(value: Any, place: str) -> str | None:
    """A URL that holds what it is of."""
    if isinstance(value, str) and value.startswith('data:'):
        return None
    return f'{place} is fetched by the endpoint'


def one_of(*wanted: object) -> Shape:
    def check(value: Any, place: str) -> str | None:
        same = any(type(value) is type(each) and value == each for each in wanted)
        return None if same else f'{place} cannot be {_shorten(value)} here'

    return check


def list_of(inner: Shape) -> Shape:
    """A list of such."""

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, list):
            return _describe_refusal(place)
        faults = (inner(item, f'{place}[{at}]') for at, item in enumerate(value))
        return next((why for why in faults if why is not None), None)

    return check


def text_or(inner: Shape) -> Shape:
    """A text, or such a value."""

    def check(value: Any, place: str) -> str | None:
        return None if isinstance(value, str) else inner(value, place)

    return check


def mapping_of(inner: Shape) -> Shape:
    """An object with names of the agent's own."""

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _describe_refusal(place)
        faults = (
            inner(field_value, f'{place}.{_shorten(name)}') for name, field_value in value.items()
        )
        return next((why for why in faults if why is not None), None)

    return check


def object_of(known: Mapping[str, Shape], *needed: str) -> Shape:
    """An object with these fields alone; null is as good as no field."""

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _describe_refusal(place)
        for name in needed:
            if value.get(name) is None:
                return (
                    f'{_describe_field(place, name)} is missing, and the endpoint would look it up'
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

    return check


def object_by_type(known: Mapping[str, Shape], default: Shape | None = None) -> Shape:
    """An object whose `type` says which; `default` where it has none."""

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _describe_refusal(place)
        kind = value.get('type')
        inner = default if kind is None else known.get(kind) if isinstance(kind, str) else None
        if inner is None:
            return f'{_describe_field(place, "type")} cannot be {_shorten(kind)}: that is at the endpoint'
        return inner(
            {name: field_value for name, field_value in value.items() if name != 'type'}, place
        )

    return check


def check_model_name(value: Any, place: str) -> str | None:
    """A model by its name, one that does not search by itself; not a preset that somebody stored."""
    if not isinstance(value, str) or not _MODEL.fullmatch(value):
        return f'{place} is no name of a model: {_shorten(value)}'
    if any(word in value.lower() for word in _SEARCHING):
        return f'the model {_shorten(value)} searches by itself'
    return None


def _describe_field(place: str, name: str) -> str:
    return f'{place}.{_shorten(name)}' if place else f'the field {_shorten(name)}'


def _describe_refusal(place: str) -> str:
    return f'{place or "the request"} is not relayed'


def _shorten(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 1]}…'
