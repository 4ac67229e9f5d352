"""What counts as only refactored, of real differences that RefactoringMiner is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.refactorings.miner import RefactoringMiner
from coevo.languages.refactorings import Refactorings, RefactoringStatus, RefactoringsUnknown
from miners.diffs.refactored import Declaration, are_all_only_refactored, is_only_refactored

pytestmark = pytest.mark.jvm

Files = Mapping[str, str]

BASKET = """
package harbour;

public class Basket {
    private int total = 0;

    /** Adds goods. */
    public int add(int price, int pieces) {
        int sum = price * pieces;
        System.out.println("price " + price);
        System.out.println("pieces " + pieces);
        total += sum;
        return total;
    }

    public int addOne(int price) {
        return add(price, 1);
    }

    public int total() {
        return total;
    }
}
"""
TEST = """
package harbour;

class BasketTest {
    @Test
    void adds() {
        Basket basket = new Basket();
        basket.add(2, 3);
        assertEquals(6, basket.total());
    }
}
"""
OLD = {'src/main/java/harbour/Basket.java': BASKET, 'src/test/java/harbour/BasketTest.java': TEST}
UNKNOWN = Refactorings(status=RefactoringStatus.UNKNOWN, why=RefactoringsUnknown.TIMEOUT)


@pytest.fixture(scope='module')
def miner() -> Iterator[RefactoringMiner]:
    with RefactoringMiner() as opened:
        yield opened


@dataclass(frozen=True)
class Pair:
    old: Files
    new: Files
    refactorings: Refactorings

    def verdict(self, old: str | None, new: str | None) -> bool | None:
        return is_only_refactored(
            self.refactorings, _declaration(self.old, old), _declaration(self.new, new)
        )

    @property
    def types(self) -> list[str]:
        return [one.type for one in self.refactorings.refactorings]


def _declaration(files: Files, name: str | None) -> Declaration | None:
    """The method or field of that name, of whatever file."""
    for path, text in files.items():
        for type_ in parse(text.encode()).types:
            for member in type_.members:
                if member.name == name:
                    return Declaration(
                        file=path,
                        start_line=member.start_line,
                        end_line=member.end_line,
                        source=member.source,
                    )
    assert name is None, f'{name} stands nowhere'
    return None


def changed(miner: RefactoringMiner, old: Files, *edits: tuple[str, str]) -> Pair:
    """A pair whose new end is the old one with texts replaced, in paths and contents."""
    new = dict(old)
    for before, after in edits:
        assert any(before in text for text in (*new, *new.values())), before
        new = {k.replace(before, after): v.replace(before, after) for k, v in new.items()}
    return between(miner, old, new)


def between(miner: RefactoringMiner, old: Files, new: Files) -> Pair:
    refactorings = miner.compare(
        {path: text.encode() for path, text in old.items() if new.get(path) != text},
        {path: text.encode() for path, text in new.items() if old.get(path) != text},
    )
    assert refactorings.status is RefactoringStatus.FOUND
    return Pair(old, new, refactorings)


def test_renamed_method_and_its_callers_are_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('))
    assert 'Rename Method' in pair.types
    assert pair.verdict('add', 'put') is True
    assert pair.verdict('addOne', 'addOne') is True
    assert pair.verdict('adds', 'adds') is True
    # Where the names differ too much for a match, the refactoring says where each belongs.
    assert pair.verdict(None, 'put') is True
    assert pair.verdict('add', None) is True
    assert pair.verdict(None, 'addOne') is False  # that was there before


def test_changed_literal_beside_a_rename_is_not_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('), ('put(price, 1)', 'put(price, 2)'))
    assert pair.verdict('add', 'put') is True
    assert pair.verdict('addOne', 'addOne') is False


def test_edited_renamed_method_is_not_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('), ('price * pieces', 'price + pieces'))
    assert 'Rename Method' in pair.types
    assert pair.verdict('add', 'put') is False
    assert pair.verdict(None, 'put') is False
    assert pair.verdict('add', None) is False
    assert pair.verdict('adds', 'adds') is True


def test_changed_assertion_beside_a_rename_is_not_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('), ('assertEquals(6', 'assertEquals(7'))
    assert pair.verdict('adds', 'adds') is False


def test_call_of_another_method_beside_a_rename_is_not_only_refactored(
    miner: RefactoringMiner,
) -> None:
    pair = changed(miner, OLD, ('add(', 'put('), ('basket.total()', 'basket.addOne(0)'))
    assert pair.verdict('adds', 'adds') is False


LOCAL = (('int sum', 'int worth'), ('+= sum', '+= worth'))


def test_rename_with_new_visibility_and_renamed_local_is_only_refactored(
    miner: RefactoringMiner,
) -> None:
    pair = changed(miner, OLD, ('public int add(', 'int put('), ('add(', 'put('), *LOCAL)
    assert {'Rename Method', 'Change Method Access Modifier', 'Rename Variable'} <= set(pair.types)
    assert pair.verdict('add', 'put') is True
    assert pair.verdict(None, 'put') is True
    assert pair.verdict('add', None) is True
    assert pair.verdict('adds', 'adds') is True


def test_visibility_change_alone_is_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('public int add(', 'protected int add('))
    assert pair.types == ['Change Method Access Modifier']
    assert pair.verdict('add', 'add') is True
    assert pair.verdict('addOne', 'add') is False


def test_visibility_change_beside_an_extraction_is_only_refactored(miner: RefactoringMiner) -> None:
    lines = '        System.out.println("price " + price);\n        System.out.println("pieces " + pieces);\n'
    method = (
        f'    private void show(int price, int pieces) {{\n{lines}    }}\n\n    public int addOne'
    )
    edits = ((lines, '        show(price, pieces);\n'), ('    public int addOne', method))
    pair = changed(miner, OLD, ('public int add(', 'int add('), *edits)
    assert 'Change Method Access Modifier' in pair.types
    assert pair.verdict('add', 'add') is True
    more = changed(
        miner, pair.new, ('total += sum', 'total -= sum'), ('int add(', 'private int add(')
    )
    assert more.verdict('add', 'add') is False


@pytest.mark.parametrize(
    'edit',
    [
        ('price * pieces', 'price + pieces'),
        ('int put(', 'static int put('),
        ('int put(', 'final int put('),
        ('int put(', 'long put('),
    ],
)
def test_edit_beside_a_visibility_change_is_not_only_refactored(
    miner: RefactoringMiner, edit: tuple[str, str]
) -> None:
    pair = changed(miner, OLD, ('public int add(', 'int put('), ('add(', 'put('), *LOCAL, edit)
    assert pair.verdict('add', 'put') is False


def test_visibility_refactoring_of_one_method_does_not_cover_another_method(
    miner: RefactoringMiner,
) -> None:
    """What refactorings list of `add` says nothing of `addOne`."""
    pair = changed(miner, OLD, ('public int add(', 'int add('))
    edited = {path: text.replace('public int addOne', 'int addOne') for path, text in OLD.items()}
    assert Pair(OLD, edited, pair.refactorings).verdict('addOne', 'addOne') is False


def test_rename_to_a_name_that_was_called_before_is_not_only_refactored(
    miner: RefactoringMiner,
) -> None:
    """Both of two calls end as one name: what the second one calls has changed."""
    test = TEST.replace('basket.add(2, 3);', 'basket.add(2, 3); basket.put(2, 3);')
    old = {**OLD, 'src/test/java/harbour/BasketTest.java': test}
    pair = changed(miner, old, ('int add(', 'int put('), ('return add(', 'return put('))
    assert 'Rename Method' in pair.types
    new = {**pair.new, 'src/test/java/harbour/BasketTest.java': test.replace('add(', 'put(')}
    assert Pair(old, new, pair.refactorings).verdict('adds', 'adds') is False


def test_renamed_class_is_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('Basket', 'Trolley'))
    assert 'Rename Class' in pair.types
    assert pair.verdict('adds', 'adds') is True
    assert pair.verdict('add', 'add') is True
    edited = changed(miner, OLD, ('Basket', 'Trolley'), ('assertEquals(6', 'assertEquals(7'))
    assert 'Rename Class' in edited.types
    assert edited.verdict('adds', 'adds') is False


def test_class_moved_to_another_package_is_only_refactored_with_its_members(
    miner: RefactoringMiner,
) -> None:
    test = TEST.replace('new Basket()', 'new harbour.Basket()')
    old = {**OLD, 'src/test/java/harbour/BasketTest.java': test}
    pair = changed(
        miner,
        old,
        ('src/main/java/harbour/', 'src/main/java/quay/'),
        ('package harbour;\n\npublic', 'package quay;\n\npublic'),
        ('new harbour.', 'new quay.'),
    )
    assert pair.verdict('adds', 'adds') is True
    assert pair.verdict(None, 'add') is True
    assert pair.verdict('add', None) is True
    assert pair.verdict('add', 'add') is True


def test_renamed_variables_parameters_and_fields_are_only_refactored(
    miner: RefactoringMiner,
) -> None:
    edits = (
        ('int price, int pieces', 'int cost, int pieces'),
        ('price * pieces', 'cost * pieces'),
        ('"price " + price', '"price " + cost'),
        ('int sum', 'int worth'),
        ('+= sum', '+= worth'),
    )
    pair = changed(miner, OLD, *edits)
    assert {'Rename Parameter', 'Rename Variable'} <= set(pair.types)
    assert pair.verdict('add', 'add') is True
    swapped = changed(miner, OLD, *edits, ('cost * pieces', 'cost * cost'))
    assert swapped.verdict('add', 'add') is False
    field = changed(
        miner, OLD, ('int total =', 'int sumTotal ='), ('total +=', 'sumTotal +='),
        ('return total', 'return sumTotal'),
    )  # fmt: skip
    assert 'Rename Attribute' in field.types
    assert field.verdict('add', 'add') is True
    assert field.verdict('total', 'sumTotal') is True
    assert field.verdict(None, 'sumTotal') is True


def test_variable_rename_applies_only_in_its_own_method(miner: RefactoringMiner) -> None:
    pair = changed(
        miner,
        OLD,
        (
            'int addOne(int price) {\n        return add(price',
            'int addOne(int p) {\n        return add(p',
        ),
        ('int sum = price * pieces', 'int sum = p * pieces'),
    )
    assert pair.verdict('addOne', 'addOne') is True
    assert pair.verdict('add', 'add') is False


PRINTS = """        System.out.println("price " + price);
        System.out.println("pieces " + pieces);
"""
EXTRACTED = (
    (PRINTS, '        print(price, pieces);\n'),
    (
        '    public int addOne',
        f'    void print(int price, int pieces) {{\n{PRINTS}    }}\n\n    public int addOne',
    ),
)


def test_extracted_method_is_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, *EXTRACTED)
    assert 'Extract Method' in pair.types
    assert pair.verdict('add', 'add') is True
    assert pair.verdict(None, 'print') is True


def test_extracted_method_beside_an_edit_is_not_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, *EXTRACTED, ('total += sum', 'total -= sum'))
    assert 'Extract Method' in pair.types
    assert pair.verdict('add', 'add') is False
    assert pair.verdict(None, 'print') is False


def test_edited_extracted_method_is_not_only_refactored(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, *EXTRACTED, ('"pieces " + pieces', '"pieces " + (pieces + 1)'))
    assert 'Extract Method' in pair.types
    assert pair.verdict('add', 'add') is False
    assert pair.verdict(None, 'print') is False


@pytest.mark.parametrize(
    'edit',
    [('"pieces " + pieces', '"pieces " + pieces + 1'), (f'{{\n{PRINTS}', f'{{\n{PRINTS[:46]}')],
)
def test_impure_extraction_called_pure_by_the_miner_is_not_only_refactored(
    miner: RefactoringMiner, edit: tuple[str, str]
) -> None:
    pair = changed(miner, OLD, *EXTRACTED, edit)
    assert [one.pure for one in pair.refactorings.refactorings if one.type == 'Extract Method'] == [
        True
    ]
    assert pair.verdict('add', 'add') is False


def test_extracted_expression_is_only_refactored(miner: RefactoringMiner) -> None:
    method = '    int times(int a, int b) {\n        return a * b;\n    }\n\n'
    edits = (
        ('price * pieces', 'times(price, pieces)'),
        ('    public int addOne', f'{method}    public int addOne'),
    )
    pair = changed(miner, OLD, *edits)
    assert 'Extract Method' in pair.types
    assert pair.verdict('add', 'add') is True
    assert pair.verdict(None, 'times') is True
    other = changed(miner, OLD, *edits, ('return a * b', 'return a + b'))
    assert other.verdict('add', 'add') is False
    assert other.verdict(None, 'times') is False
    for call in ('times(pieces, price)', 'times(pieces, pieces)', '1 + times(price, pieces)'):
        another = changed(miner, OLD, *edits, ('times(price, pieces)', call))
        assert another.verdict('add', 'add') is False


def test_extracted_expression_assigned_elsewhere_is_not_only_refactored(
    miner: RefactoringMiner,
) -> None:
    method = '    int twice() {\n        return total * 2 + total;\n    }\n\n'
    before = {
        'Basket.java': BASKET.replace(
            'total += sum;', 'total = total * 2 + total;\n        int k = 0;'
        )
    }
    edits = (
        ('total * 2 + total', 'twice()'),
        ('    public int addOne', f'{method}    public int addOne'),
    )
    pair = changed(miner, before, *edits)
    assert 'Extract Method' in pair.types
    assert pair.verdict('add', 'add') is True
    assert (
        changed(miner, before, *edits, ('total = twice()', 'sum = twice()')).verdict('add', 'add')
        is False
    )


def test_inlined_method_is_only_refactored(miner: RefactoringMiner) -> None:
    old = changed(miner, OLD, *EXTRACTED).new
    pair = between(miner, old, OLD)
    assert 'Inline Method' in pair.types
    assert pair.verdict('add', 'add') is True
    assert pair.verdict('print', None) is True
    edited = changed(miner, OLD, ('total += sum', 'total -= sum')).new
    assert between(miner, old, edited).verdict('add', 'add') is False


def test_moved_method_with_an_equal_body_is_only_refactored(miner: RefactoringMiner) -> None:
    body = '    static int twice(int number) {\n        return number * 2 + Math.max(number, 7);\n    }\n'
    here = f'package harbour;\n\nclass Sums {{\n    int one = 1;\n{body}}}\n'
    there = 'package harbour;\n\nclass Numbers {\n    int two = 2;\n}\n'
    old = {'src/main/java/harbour/Sums.java': here, 'src/main/java/harbour/Numbers.java': there}
    new = {
        'src/main/java/harbour/Sums.java': here.replace(body, ''),
        'src/main/java/harbour/Numbers.java': there.replace('= 2;\n', f'= 2;\n{body}'),
    }
    pair = between(miner, old, new)
    assert pair.types == ['Move Method']
    assert pair.verdict('twice', 'twice') is True
    assert pair.verdict(None, 'twice') is True
    assert pair.verdict('twice', None) is True


def test_format_change_is_only_refactored_even_if_refactorings_are_unknown() -> None:
    old, new = (
        _declaration(OLD, 'add'),
        _declaration({'Basket.java': BASKET.replace('        ', '\t')}, 'add'),
    )
    assert is_only_refactored(UNKNOWN, old, new) is True


def test_unknown_refactorings_give_no_verdict_instead_of_false(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('))
    ends = _declaration(pair.old, 'add'), _declaration(pair.new, 'put')
    assert is_only_refactored(UNKNOWN, *ends) is None
    assert is_only_refactored(UNKNOWN, None, ends[1]) is None
    assert is_only_refactored(UNKNOWN, ends[0], None) is None
    assert are_all_only_refactored(UNKNOWN, [ends]) is None


def test_set_of_declarations_is_only_refactored_if_every_member_is(miner: RefactoringMiner) -> None:
    pair = changed(miner, OLD, ('add(', 'put('), ('put(price, 1)', 'put(price, 2)'))
    refactored = _declaration(pair.old, 'add'), _declaration(pair.new, 'put')
    edited = _declaration(pair.old, 'addOne'), _declaration(pair.new, 'addOne')
    assert are_all_only_refactored(pair.refactorings, [refactored]) is True
    assert are_all_only_refactored(pair.refactorings, [refactored, edited]) is False
    assert are_all_only_refactored(pair.refactorings, []) is False
