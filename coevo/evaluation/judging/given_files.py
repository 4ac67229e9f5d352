"""The files of a start state as JSON text, for editions that withhold the patches which lead there."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable

from coevo.starts.isolated_cells import Files
from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import UnreadableContent

_BYTES = 'base64'
_MOST_VALUES = 100_000


def encode_files(files: Iterable[tuple[str, bytes | None]]) -> str:
    """Return files as JSON: the text of each path, null for an absent file, or its bytes."""
    return json.dumps({path: _encode(content) for path, content in files}, sort_keys=True)


def _encode(content: bytes | None) -> object:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {_BYTES: base64.b64encode(content).decode()}


def decode_files(text: str) -> Files:
    """Return the files that `encode_files` encoded, sorted by path; None is an absent file.

    Raises: ValueError if the text is not in that form.
    """
    try:
        found = parse_json(text.encode(), most_values=_MOST_VALUES)
    except UnreadableContent:
        found = None
    if not isinstance(found, dict):
        raise ValueError('they are no JSON object')  # noqa: TRY004  of the form, not of a type
    return tuple(sorted((path, _decode(value)) for path, value in found.items()))


def _decode(value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and set(value) == {_BYTES} and isinstance(value[_BYTES], str):
        try:
            return base64.b64decode(value[_BYTES], validate=True)
        except binascii.Error:
            pass
    raise ValueError('a file is neither text nor base64')
