"""The default rule on submitted files, for languages that restrict none."""

from __future__ import annotations

from collections.abc import Sequence


def accept_any_file(source: bytes, own: Sequence[bytes]) -> str | None:
    """Return None: every file is accepted, since its behaviour is observed instead."""
    return None
