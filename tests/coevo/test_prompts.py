from __future__ import annotations

from coevo.prompts import dependency_lines
from coevo.records import Dependency
from coevo.records import Revised

STATUS = 'core/src/main/java/p/Status.java'


def dependency(name: str, declaration: str, revised: Revised, rank: int) -> Dependency:
    return Dependency(
        name=name,
        declaration=declaration,
        file=STATUS,
        start_line=1,
        end_line=2,
        revised=revised,
        rank=rank,
    )


def test_changed_methods_are_listed_once_and_in_a_stable_order() -> None:
    text = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 1)
    made = dependency('p.Status#Status(int)', 'Status(int code)', Revised.INSERTED, 2)
    again = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 3)
    rest = dependency('p.Status', 'class Status', Revised.MODIFIED, 4)
    assert dependency_lines([text, made, again, rest]) == (
        f'- inserted `Status(int code)` in `{STATUS}`',
        f'- modified `public String toString()` in `{STATUS}`',
    )
