"""What a language that can break tests answers: texts of a test file with one defect each.

The kinds are those of TAM-Eval's repairs, whose defects a model wrote. Ours are made by rule, and whether
one is what it is meant to be is found out by a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from coevo.languages.declarations import Member
from coevo.model.families import Defect
from coevo.model.words import Outcome


class DefectInsertion(Protocol):
    """A module beside a language's surgery."""

    # how tests end that name or call what there is not, one of these at least: a compiler tells before
    # they are run, an interpreter while they are
    @property
    def UNRESOLVED(self) -> frozenset[Outcome]: ...

    # texts of a test file, each with a defect of a kind in one test, in the order of the tests; none
    # where there is no place for one
    def insert_defects(
        self, kind: Defect, source: bytes, tests: Sequence[Member]
    ) -> Iterator[bytes]: ...
