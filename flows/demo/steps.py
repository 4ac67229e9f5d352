"""The steps of a demo's history: each is one commit, written as edits of the files in `project`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Put `new` where `old` stands, which must be exactly once in the file at `path`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStep:
    """One commit. A merge's tree starts as the first parent's with what the second changed."""

    subject: str
    parents: tuple[str, ...]  # their subjects
    edits: tuple[Edit, ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # written whole: path, text
    removed: tuple[str, ...] = ()
