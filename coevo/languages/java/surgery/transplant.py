"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.pieces import JavaOutline
from coevo.languages.java.surgery.start_state import JavaCutPlan
from coevo.languages.java.surgery.start_state import check
from coevo.languages.java.surgery.start_state import find
from coevo.languages.surgery import Graft
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartTarget
from coevo.model.records import TestMethod


def transplant(
    old: bytes,
    new: bytes,
    grafts: Sequence[Graft],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes:
    """The old file with tests of the new one; StartStateInvalid where that makes no file.

    used_elsewhere  names by which other files may use what is not private in the old file
    """
    file = JavaOutline(old)
    targets, inserted = [], []
    for graft in grafts:
        original = Original(method=graft.new, source=new)
        place = graft.old or _alike(file, graft.new)
        if place is None:
            inserted.append(original)
        else:
            targets.append(StartTarget(method=place, original=original))
    found = {target: find(file, target.method) for target in targets}
    made = JavaCutPlan(file, [], found, used_elsewhere, inserted).carry_out()
    check(file, JavaOutline(made), found)
    return made


def _alike(file: JavaOutline, method: TestMethod) -> TestMethod | None:
    """A method of the same name that was no test, or was not seen to be one."""
    type_ = file.types.get(method.test_class)
    for member in type_.members if type_ else ():
        same = (member.name, member.parameters) == (method.test_method, method.parameters)
        if member.kind == 'method' and same and not is_fixture(member):
            return method
    return None
