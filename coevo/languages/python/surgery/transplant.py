"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.pieces import PythonOutline
from coevo.languages.python.surgery.pieces import outline
from coevo.languages.python.surgery.pieces import within_module
from coevo.languages.python.surgery.start_state import PythonCutPlan
from coevo.languages.python.surgery.start_state import check
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

    used_elsewhere  names by which other files may use what the old file declares
    """
    file = outline(old)
    targets, inserted = [], []
    for graft in grafts:
        original = Original(method=graft.new, source=new)
        place = graft.old or _alike(file, graft.new)
        if place is None:
            inserted.append(original)
        else:
            targets.append(StartTarget(method=place, original=original))
    found = {target: file.find(target.method, 'old') for target in targets}
    made = PythonCutPlan(file, [], found, used_elsewhere, inserted).carry_out()
    check(file, PythonOutline(made), found)
    return made


def _alike(file: PythonOutline, method: TestMethod) -> TestMethod | None:
    """A function of the same name that was no test, or was not seen to be one."""
    type_ = file.types.get(within_module(method.test_class))
    for member in type_.members if type_ else ():
        same = member.name == method.test_method
        if member.kind == 'method' and same and not is_fixture(member):
            return method
    return None
