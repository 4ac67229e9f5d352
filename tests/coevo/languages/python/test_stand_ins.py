"""Which tests of a file need a name that the code lacks, told by real runs in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import Shop, method, shop

OLD_CODE = """\
    import enum


    class Coin(enum.Enum):
        ONE = 1


    def price():
        return 1
"""
NEW_CODE = f"""{OLD_CODE}

    class Note(enum.Enum):
        FIVE = 5
        TEN = 10


    def discount():
        return 1
""".replace('ONE = 1', 'ONE = 1\n        TWO = 2')
IN_PACKAGE = """\
    from ..till import discount, price


    def test_sells():
        assert price()


    def test_discounts():
        assert discount()
"""
ATTRIBUTES = """\
    import pytest

    import shop.till as counter
    from shop.till import Coin

    CALLS = [counter.discount]


    @pytest.mark.parametrize('coin', [Coin.ONE, Coin.TWO])
    def test_coins(coin):
        assert coin.value


    @pytest.mark.parametrize('call', CALLS)
    def test_calls(call):
        assert call()


    class TestNotes:
        notes = counter.Note.FIVE, counter.Note.TEN

        def test_values(self):
            assert self.notes[0].value == 5

        def test_sells(self):
            assert counter.price()


    def test_counts_coins(kind=Coin):
        assert len(kind) == len(list(kind))
"""
HELPERS = """\
    from shop.till import discount, price


    def sell():
        return price()


    def lower():
        return discount()
"""
HELPED = """\
    from . import helpers


    def test_sells():
        assert helpers.sell()


    def test_lowers():
        assert helpers.lower()
"""
DOTTED = """\
    import shop.till
    import shop.extra


    def test_sells():
        assert shop.till.price()


    def test_extra():
        assert shop.extra.more
"""
FILES = {
    'src/shop/tests/test_inside.py': IN_PACKAGE,
    'tests/test_attributes.py': ATTRIBUTES,
    'tests/test_helped.py': HELPED,
    'tests/test_dotted.py': DOTTED,
}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    old = {'src/shop/__init__.py': '', 'src/shop/till.py': OLD_CODE}
    new = {
        'src/shop/till.py': NEW_CODE,
        'src/shop/extra.py': 'more = 1\n',
        'src/shop/tests/__init__.py': '',
        'tests/__init__.py': '',
        'tests/helpers.py': HELPERS,
        **FILES,
    }
    with shop(tmp_path_factory.mktemp('stand-ins'), old, new) as found:
        yield found


@pytest.mark.parametrize(
    ('file', 'missing_by_test'),
    [
        ('src/shop/tests/test_inside.py', {'test_sells': None, 'test_discounts': 'discount'}),
        (
            'tests/test_attributes.py',
            {
                'test_coins': 'Coin.TWO',
                'test_calls': 'discount',
                'TestNotes.test_values': 'Note.FIVE',
                'TestNotes.test_sells': None,
                'test_counts_coins': None,
            },
        ),
        ('tests/test_helped.py', {'test_sells': None, 'test_lowers': 'discount'}),
    ],
)
def test_a_name_that_the_code_lacks_breaks_only_the_tests_that_need_it(
    file: str, missing_by_test: dict[str, str | None], place: Shop
) -> None:
    cell = place.cell(place.new, place.old)
    assert file in cell.broken
    tests = [
        method(*reversed(name.split('.')), file=file.removeprefix('src/'))
        for name in missing_by_test
    ]
    tests = [replace(test, test_file=file) for test in tests]
    verdicts = [
        place.built.find_compile_verdict(cell, test) or place.verdict(test, cell) for test in tests
    ]
    assert [(verdict.outcome, verdict.signature) for verdict in verdicts] == [
        (Outcome.COMPILE_ERROR, f'missing:shop.till.{missing}') if missing else (Outcome.PASS, None)
        for missing in missing_by_test.values()
    ]


def test_a_missing_module_breaks_no_test_that_uses_another_one_of_its_package(place: Shop) -> None:
    cell = place.cell(place.new, place.old)
    file = 'tests/test_dotted.py'
    sells, extra = method('test_sells', file=file), method('test_extra', file=file)
    assert place.built.find_compile_verdict(cell, sells) is None
    assert place.verdict(sells, cell).outcome is Outcome.PASS
    found = place.built.find_compile_verdict(cell, extra)
    assert found is not None
    assert found.signature == 'missing:shop.extra'
