"""Implementing a change: the tests that tell whether the code of a change was written.

A task of the family `implement` starts with the old code and one test file of the change as its
developers left it. The code that makes its new tests pass is to be written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.choices import Choice
from coevo.model.column import Column


class TestRole(Choice):
    """The role of a test in the grading of code."""

    __test__ = False  # pytest would collect the class as a test

    TARGET = 'target', 'it is shown, fails with the old code, and has to pass'
    KEPT = 'kept', 'it passes with the old code and with gold, and has to pass still'
    SIBLING = 'sibling', 'it is a target of another test file of the change, which is not shown'
    VARIANT = (
        'variant',
        'it is a target with another literal, not shown: it has to end as it ends with gold',
    )

    @property
    def is_shown(self) -> bool:
        """True if the start state shows the test."""
        return self in (TestRole.TARGET, TestRole.KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandedTest:
    """A labelled test by which code is graded: a target, or a sibling that is not shown."""

    method_id: Annotated[str, Column('The `method_id` of its row.')]
    test_file: Annotated[str, Column('The path of its file in the repository.')]
    test_method: Annotated[str, Column('The test, as `Container#method`.')]
    role: Annotated[TestRole, Column('What it is asked for: `target` or `sibling`.')]
