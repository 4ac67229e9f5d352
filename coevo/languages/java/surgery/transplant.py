"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.pieces import JavaOutline
from coevo.languages.java.surgery.start_state import JavaCutPlan, check_start_file, find_declaration
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

    used_elsewhere  names by which other files may use what is not private in the old file
    """
    file = JavaOutline(old)
    targets, inserted = [], []
    for graft in grafts:
        original = OriginalTest(method=graft.new, source=new)
        old_method = graft.old or _find_same_method(file, graft.new)
        if old_method is None:
            inserted.append(original)
        else:
            targets.append(StartTarget(method=old_method, original=original))
    members_by_target = {target: find_declaration(file, target.method) for target in targets}
    result = JavaCutPlan(file, [], members_by_target, used_elsewhere, inserted).apply_cuts()
    check_start_file(file, JavaOutline(result), members_by_target)
    return result


def _find_same_method(file: JavaOutline, method: TestMethod) -> TestMethod | None:
    """A method of the same name that was no test, or was not seen to be one."""
    type_ = file.types.get(method.test_class)
    for member in type_.members if type_ else ():
        same = (member.name, member.parameters) == (method.test_method, method.parameters)
        if member.kind == 'method' and same and not is_fixture(member):
            return method
    return None
