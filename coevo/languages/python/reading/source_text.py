"""The text of a source as Python reads it: its declared encoding (PEP 263), lines that end with a line feed."""

from __future__ import annotations

import io
import tokenize


def decode_source(source: bytes) -> str:
    """What cannot be decoded is replaced; an encoding that nobody knows is taken for UTF-8."""
    lines = source.replace(b'\r\n', b'\n').replace(b'\r', b'\n')
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
    except SyntaxError:
        encoding = 'utf-8'
    text = lines.decode(encoding, 'replace')
    return text if not text or text.endswith('\n') else f'{text}\n'
