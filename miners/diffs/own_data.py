"""Tables and constants of a test's own file that only this test reads: they belong to its body.

A test whose table changed is changed, although its own text stays as it is. A table that a fixture,
a helper or another test reads, too, surrounds the test instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from miners.diffs.contexts import Test, TestTree, TreeUnit

_FieldKey = tuple[str, str]


def has_own_data_changed(ends: tuple[TestTree, TestTree], old: Test, new: Test) -> bool:
    """Return whether a table or constant changed that only this test reads, at both ends.

    ends  the test trees at old and at new
    """
    fields = [_list_fields(tree, test) for tree, test in zip(ends, (old, new), strict=True)]
    changed = {
        key
        for key in fields[0].keys() & fields[1].keys()
        if fields[0][key].content_key != fields[1][key].content_key
    }
    for tree, test, own in zip(ends, (old, new), fields, strict=True):
        if changed:
            changed &= _find_own_data(tree, test, own).keys()
    return bool(changed)


def _find_own_data(
    tree: TestTree, test: Test, fields: Mapping[_FieldKey, TreeUnit]
) -> dict[_FieldKey, TreeUnit]:
    """Return those of a test's fields that nothing but the test reads, directly or through others.

    fields  the fields of its file that the test uses, see `_list_fields`
    """
    own = dict(fields)
    while True:
        readers = {test.unit, *own.values()}
        shared = [key for key, unit in own.items() if _has_other_reader(tree, unit, readers)]
        if not shared:
            return own
        for key in shared:
            del own[key]


def _list_fields(tree: TestTree, test: Test) -> dict[_FieldKey, TreeUnit]:
    """Return the fields of a test's own file that it uses, by their type and name."""
    return {
        (unit.type.name, unit.member.name): unit
        for unit in tree.compute_closure(test)
        if unit.member is not None
        and unit.member.kind == 'field'
        and unit.path == test.unit.path
        and not tree.reading.is_run_by_framework(unit.member)
    }


def _has_other_reader(tree: TestTree, unit: TreeUnit, readers: set[TreeUnit]) -> bool:
    """Return whether a unit of the test tree that is not in `readers` refers to a field."""
    assert unit.member is not None
    name = unit.member.name
    return any(
        (name in other.names or name in other.strings)
        and other not in readers
        and unit in tree.list_used_units(other)
        for other in tree.list_all_units()
    )
