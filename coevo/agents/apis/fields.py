"""What a request may hold, field by field: a shape says what is wrong with a value, and where.

Whatever a maker adds to an API may reach more than the task, so what no shape names is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

# Why a value at a place is not passed on; None if it is.
Shape = Callable[[Any, str], str | None]

_MODEL = re.compile(r'[A-Za-z0-9._:/+-]+')
# Of models that search the web by themselves, wherever it stands in their name.
_SEARCHING = ('search', ':online', 'deep-research', 'sonar', 'compound')
_SHOWN = 60


def free(value: Any, place: str) -> str | None:
    """Anything: schemas of tools, what a tool is given and answers. No endpoint looks into it."""
    return None


def plain(value: Any, place: str) -> str | None:
    """A text, number or truth."""
    return _refused(place) if isinstance(value, (dict, list)) else None


def inline(value: Any, place: str) -> str | None:
    """A URL that holds what it is of."""
    if isinstance(value, str) and value.startswith('data:'):
        return None
    return f'{place} is fetched by the endpoint'


def one_of(*wanted: object) -> Shape:
    def shape(value: Any, place: str) -> str | None:
        same = any(type(value) is type(each) and value == each for each in wanted)
        return None if same else f'{place} cannot be {_short(value)} here'

    return shape


def each(inner: Shape) -> Shape:
    """A list of such."""

    def shape(value: Any, place: str) -> str | None:
        if not isinstance(value, list):
            return _refused(place)
        found = (inner(one, f'{place}[{at}]') for at, one in enumerate(value))
        return next((why for why in found if why is not None), None)

    return shape


def texts_of(inner: Shape) -> Shape:
    """A text, or such a value."""

    def shape(value: Any, place: str) -> str | None:
        return None if isinstance(value, str) else inner(value, place)

    return shape


def values(inner: Shape) -> Shape:
    """An object with names of the agent's own."""

    def shape(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _refused(place)
        found = (inner(one, f'{place}.{_short(name)}') for name, one in value.items())
        return next((why for why in found if why is not None), None)

    return shape


def record(known: Mapping[str, Shape], *needed: str) -> Shape:
    """An object with these fields alone; null is as good as no field."""

    def shape(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _refused(place)
        for name in needed:
            if value.get(name) is None:
                return f'{_in(place, name)} is missing, and the endpoint would look it up'
        for name, one in value.items():
            if one is None:
                continue
            inner = known.get(name)
            why = _refused(_in(place, name)) if inner is None else inner(one, _in(place, name))
            if why is not None:
                return why
        return None

    return shape


def kinds(known: Mapping[str, Shape], default: Shape | None = None) -> Shape:
    """An object whose `type` says which; `default` where it has none."""

    def shape(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _refused(place)
        kind = value.get('type')
        inner = default if kind is None else known.get(kind) if isinstance(kind, str) else None
        if inner is None:
            return f'{_in(place, "type")} cannot be {_short(kind)}: that is at the endpoint'
        return inner({name: one for name, one in value.items() if name != 'type'}, place)

    return shape


def model(value: Any, place: str) -> str | None:
    """A model by its name, one that does not search by itself; not a preset that somebody stored."""
    if not isinstance(value, str) or not _MODEL.fullmatch(value):
        return f'{place} is no name of a model: {_short(value)}'
    if any(word in value.lower() for word in _SEARCHING):
        return f'the model {_short(value)} searches by itself'
    return None


def _in(place: str, name: str) -> str:
    return f'{place}.{_short(name)}' if place else f'the field {_short(name)}'


def _refused(place: str) -> str:
    return f'{place or "the request"} is not relayed'


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 1]}…'
