"""New tests put into the old version of their file, as whole texts."""

from __future__ import annotations

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery import transplant_tests_into_old
from coevo.languages.surgery import Graft, StartStateInvalid
from tests.coevo.languages.java.surgery.test_start_state import SIBLING, java, method

SELLS = '    @Test public void sells() { assertTrue(Shop.sells(one())); }\n'
ONE = '    private int one() { return 1; }\n'


def grafted(old: str, new: str, *grafts: Graft) -> str:
    made = transplant_tests_into_old(old.encode(), new.encode(), grafts)
    assert not parse(made).has_error
    return made.decode()


def same(name: str) -> Graft:
    return Graft(new=method(name), old=method(name))


def fresh(name: str, owner: str = 'p.ShopTest') -> Graft:
    return Graft(new=method(name, owner))


def test_changed_test_replaces_the_old_test_with_its_helpers_and_imports() -> None:
    old = java(f'{SIBLING}{SELLS}\n{ONE}')
    changed = SELLS.replace('one()', 'two(List.of())')
    two = '    private int two(List<?> list) { return 2; }\n'
    new = java(
        f'{SIBLING}{changed}\n{two}', imports='import java.util.List;\nimport java.util.Map;\n'
    )
    assert grafted(old, new, same('sells')) == java(
        f'{SIBLING}{changed}\n{two}', imports='import java.util.List;\n'
    )


def test_inserted_test_follows_its_neighbour_and_old_tests_stay() -> None:
    old = java(f'{SIBLING}{SELLS}\n{ONE}')
    more = (
        '    /** Why. */\n'
        '    @Test public void opens() { assertTrue(Shop.open(LIMIT, new Kit())); }\n'
    )
    limit = '    private static final int LIMIT = 3;\n'
    new = java(
        f'{SIBLING}{SELLS.replace("one()", "7")}\n{more}\n'
        f'    @Test public void others() {{ }}\n{limit}    static class Kit {{ }}\n'
    )
    assert grafted(old, new, fresh('opens')) == java(
        f'{SIBLING}{SELLS}\n{more}{limit}    static class Kit {{ }}\n\n{ONE}'
    )


def test_inserted_nested_class_is_transplanted_as_a_whole() -> None:
    nested = '    @Nested class Deep {\n        @Test void deep() { }\n    }\n'
    new = java(f'{SIBLING}{nested}', imports='import org.junit.jupiter.api.Nested;\n')
    assert grafted(java(SIBLING), new, fresh('deep', 'p.ShopTest$Deep')) == new


def test_old_method_that_was_not_a_test_is_replaced_by_the_new_test() -> None:
    old = java(f'{SIBLING}    public void sells() {{ }}\n')
    new = java(f'{SIBLING}{SELLS}{ONE}')
    assert grafted(old, new, fresh('sells')) == new


def test_shared_helper_stays_old_if_another_test_uses_it() -> None:
    old = java(f'{SELLS}    @Test public void buys() {{ one(); }}\n{ONE}')
    changed = SELLS.replace('Shop.sells', 'Shop.vends')
    new = java(
        f'{changed}    @Test public void buys() {{ one(); }}\n{ONE.replace("return 1", "return 2")}'
    )
    assert grafted(old, new, same('sells')) == old.replace('Shop.sells', 'Shop.vends')
    alone = java(f'{SIBLING}{SELLS}{ONE}')
    assert grafted(alone, new, same('sells')) == alone.replace('Shop.sells', 'Shop.vends').replace(
        'return 1', 'return 2'
    )


def test_test_of_a_class_missing_from_the_new_file_raises_an_error() -> None:
    with pytest.raises(StartStateInvalid, match='is not in the file'):
        transplant_tests_into_old(
            java(SIBLING).encode(), java(SELLS).encode(), [fresh('sells', 'p.Other')]
        )
