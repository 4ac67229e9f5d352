"""Decode a source as Python does: declared encoding (PEP 263), line feeds as line ends."""

from __future__ import annotations

import io
import tokenize


def decode_source(source: bytes) -> str:
    """Return the text of a source, decoded as it declares, with line feeds as line ends.

    Undecodable bytes are replaced; an unknown encoding is read as UTF-8. A missing line end at the
    end is added.
    """
    lines = source.replace(b'\r\n', b'\n').replace(b'\r', b'\n')
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
    except SyntaxError:
        encoding = 'utf-8'
    text = lines.decode(encoding, 'replace')
    return text if not text or text.endswith('\n') else f'{text}\n'
