"""The rules of mechanical fixes, and what they read of a failing test."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.model.choices import Choice


class FixRule(Choice):
    """The rule by which a test file was fixed."""

    PACKAGE = 'package', 'it got the package clause of its folder'
    IMPORT_ADDED = (
        'import_added',
        'an import was added, as other files have it or of the file that declares the name',
    )
    IMPORT_CORRECTED = (
        'import_corrected',
        'an import of something absent was replaced by one of the file that declares the name',
    )
    IMPORT_REMOVED = (
        'import_removed',
        'an import that Go refuses, since nothing uses it, was removed',
    )
    BRACKETS = 'brackets', 'brackets were closed at the end, or one too many was removed'


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFailure:
    """The message of a run or compiler about a test that does not pass."""

    __test__ = False

    signature: str
    message: str = ''
