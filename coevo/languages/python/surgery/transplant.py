"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.pieces import PythonOutline, make_outline, strip_module_name
from coevo.languages.python.surgery.start_state import PythonCutPlan, check_start_file
from coevo.languages.surgery import Graft, OriginalTest, StartTarget
from coevo.model.records import TestMethod


def transplant_tests(
    old: bytes,
    new: bytes,
    grafts: Sequence[Graft],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes:
    """The old file with tests of the new one; StartStateInvalid where that makes no file.

    used_elsewhere  names by which other files may use what the old file declares
    """
    file = make_outline(old)
    targets, inserted = [], []
    for graft in grafts:
        original = OriginalTest(method=graft.new, source=new)
        target_method = graft.old or _find_namesake(file, graft.new)
        if target_method is None:
            inserted.append(original)
        else:
            targets.append(StartTarget(method=target_method, original=original))
    member_by_target = {target: file.find_method(target.method, 'old') for target in targets}
    transplanted = PythonCutPlan(file, [], member_by_target, used_elsewhere, inserted).apply()
    check_start_file(file, PythonOutline(transplanted), member_by_target)
    return transplanted


def _find_namesake(file: PythonOutline, method: TestMethod) -> TestMethod | None:
    """A function of the same name that was no test, or was not seen to be one."""
    type_ = file.types.get(strip_module_name(method.test_class))
    for member in type_.members if type_ else ():
        same = member.name == method.test_method
        if member.kind == 'method' and same and not is_fixture(member):
            return method
    return None
