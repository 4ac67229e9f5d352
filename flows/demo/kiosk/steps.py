"""The steps of the Python history."""

from __future__ import annotations

from flows.demo.steps import DemoStep, Edit


def main(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'kiosk/{name}.py', old=old, new=new)


def test(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'tests/test_{name}.py', old=old, new=new)


ROOT = 'Sell tickets and papers'
DOCUMENT = 'Say what the kiosk is'
COMMENT = 'Explain the tariff of boats'
SESSION = 'Run the tests in a session'
CHARGE = 'Charge a basic fee for boats'
REFUND = 'Refund a part and count who comes in'
ROUND = 'Round to the nearest euro'
CENTS = 'Count in cents and tidy up'
RIGHT = 'Correct what is expected of distances'
PLACE = 'Name a seat by its place'
LEAN = 'Do without six'
BREAK = 'Count dogs in baskets'
MEND = 'Count dogs without a module of theirs'
WINTER = 'Switch to winter'
OFFICE = 'Open an office'
HOURS = 'Close the office in the evening'
EXTRACT = 'Extract Christmas'

STEPS = (
    DemoStep(subject=ROOT, parents=()),
    DemoStep(
        subject=DOCUMENT,
        parents=(ROOT,),
        files=(('README.md', '# Kiosk\n\nSells tickets and papers at the harbour.\n'),),
    ),
    DemoStep(
        subject=COMMENT,
        parents=(DOCUMENT,),
        edits=(
            main('tariff', '    return 2 * hours', '    """Two an hour."""\n    return (2*hours)'),
            test('tariff', 'def test_is_even():\n', 'def test_is_even():  # no cents\n'),
        ),
    ),
    DemoStep(
        subject=SESSION,
        parents=(COMMENT,),
        files=(
            (
                'noxfile.py',
                """import nox


@nox.session
def tests(session):
    session.run('pytest')
""",
            ),
        ),
    ),
    DemoStep(
        subject=CHARGE,
        parents=(SESSION,),
        edits=(
            main('tariff', 'return (2*hours)', 'return 1 + 2 * hours'),
            test('tariff', 'fee(1) == 2', 'fee(1) == 3'),
            test('tariff', 'fee(10) == 20', 'fee(10) == 21'),
            test('tariff', 'fee(1) > 0', 'fee(1) > 0 and fee(0) >= 0'),
            test('tariff', 'fee(3) < 100', 'fee(3) < 50'),
        ),
    ),
    DemoStep(
        subject=REFUND,
        parents=(CHARGE,),
        edits=(
            main(
                'refunds',
                '    return price\n',
                """    return max(0, price)


def part(price, days):
    return price // 2 if days >= 7 else 0
""",
            ),
            test(
                'refunds',
                '    assert refunds.whole(0) == 0\n',
                """    assert refunds.whole(0) == 0


def test_half_is_paid_back_a_week_ahead():
    assert refunds.part(30, 7) == 15


def test_debts_are_not_paid_back():
    debts = -5
    assert refunds.whole(debts) == 0


def test_everything_is_paid_back():
    price = 20
    assert refunds.whole(price) == price


def test_large_sums_are_paid_back():
    assert refunds.whole(10**6) > 999_999
""",
            ),
        ),
        files=(
            (
                'tests/test_late_refunds.py',
                """from kiosk.refunds import part


def test_nothing_is_paid_back_the_day_before():
    assert part(30, 1) == 0
""",
            ),
            (
                'kiosk/turnstile.py',
                """import itertools

_VISITORS = itertools.count(1)


def enter():
    return next(_VISITORS)
""",
            ),
            (
                'tests/test_turnstile.py',
                """from kiosk import turnstile


def test_lets_the_first_visitor_in():
    assert turnstile.enter() == 1


def test_starts_from_nothing():
    before = turnstile.enter() - 1
    assert not before, f'{before} came before'
""",
            ),
        ),
    ),
    DemoStep(
        subject=ROUND,
        parents=(REFUND,),
        edits=(
            main('rounding', 'return int(price)', 'return int(price + 0.5)'),
            main('rounding', "f'EUR {price}'", "f'EUR{price}'"),
            test(
                'rounding',
                '    assert nearest(2.5) == 3\n',
                '    assert nearest(2.5) == 3\n    assert nearest(3.5) == 4\n',
            ),
            test('rounding', 'nearest(7.9) == 8', 'nearest(8.9) == 9'),
            test(
                'rounding',
                """

def test_shows_what_is_left_of_a_euro():
    shown = show(0.25)
    assert shown[4:] == '0.25'


def test_shows_the_space():
    assert show(7.0) == 'EUR 7.0'


def test_keeps_whole_prices():
    for price in range(10):
        assert nearest(price) == price


def test_shows_something():
    assert len(show(9.0)) > 0
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=CENTS,
        parents=(ROUND,),
        edits=(
            main(
                'checkout',
                '    """Price in whole euros."""\n',
                '    """Price in cents, from a euro on."""\n'
                '    if papers > 0 and price < 100:\n'
                "        raise ValueError(f'not in cents: {price}')\n",
            ),
            Edit(path='tests/conftest.py', old='return 5', new='return 500'),
            main('bag', 'width <= 40 and height <= 30', 'max(width, height) <= 40'),
            main('bag', '20 * adults', '23 * adults'),
            main('locker', "'L' + str(number)", "f'L{number}'"),
            test('locker', 'test_code', 'test_has_a_code_of_its_own'),
        ),
        files=(
            (
                'tests/luggage/test_bag.py',
                """from kiosk import bag


def test_small_ones_fit():
    assert bag.fits(30, 20)


def test_adults_take_twenty_kilos():
    assert bag.allowance(2) == 46
""",
            ),
        ),
        removed=('tests/test_bag.py',),
    ),
    DemoStep(
        subject=RIGHT,
        parents=(CENTS,),
        edits=(
            test('distance', "'B'), 24)", "'B'), 25)"),
            test(
                'distance',
                "assertGreater(miles('A', 'D'), 100)",
                "assertEqual(miles('A', 'D'), 75)",
            ),
            test(
                'distance',
                "miles('A', 'B'))\n",
                """miles('A', 'B'))

    def test_is_nothing_at_home(self):
        self.assertFalse(miles('B', 'B'))
""",
            ),
        ),
    ),
    DemoStep(
        subject=PLACE,
        parents=(RIGHT,),
        edits=(
            main(
                'seat',
                """label(row, column):
    return f'{row}{column}'


def at_the_window(column):
    return column == 'A'
""",
                """label(place):
    return place.replace('-', '')
""",
            ),
            test('seat', "seat.label(1, 'A')", "seat.label('1-A')"),
            test('seat', "seat.label(30, 'F')", "seat.label('30-F')"),
            test(
                'seat',
                """
    def test_the_first_column_is_at_the_window(self):
        assert seat.at_the_window('A')
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=LEAN,
        parents=(PLACE,),
        edits=(
            Edit(
                path='pyproject.toml',
                old='\n[project.optional-dependencies]\ntests = ["six"]\n',
                new='',
            ),
            main('weight', 'grams / 1000', '0.001 * grams'),
            test('weight', 'import six\n\n', ''),
            test(
                'weight',
                "[six.text_type(kilograms(grams)) for grams in (1500,)] == ['1.5']",
                'kilograms(1500) == 1.5',
            ),
            test('weight', "six.text_type(kilograms(10)) == '0.01'", 'kilograms(10) == 0.01'),
        ),
    ),
    DemoStep(
        subject=BREAK,
        parents=(LEAN,),
        edits=(
            main(
                'basket',
                'def count(adults, children):\n    return adults + children\n',
                'from kiosk.dogs import DOGS\n\n\n'
                'def count(adults, children):\n    return adults + children + DOGS\n',
            ),
            test('basket', 'count(2, 1) == 3', 'count(2, 2) == 4'),
            test(
                'basket',
                """

def test_counts_adults_alone():
    adults = 4
    assert basket.count(adults, 0) == adults
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=MEND,
        parents=(BREAK,),
        edits=(
            main('basket', 'from kiosk.dogs import DOGS\n', 'DOGS = 0\n'),
            main(
                'basket',
                '    return adults + children + DOGS\n',
                """    return adults + children + DOGS


def is_full(adults):
    return adults >= 9
""",
            ),
            test('basket', 'count(2, 2) == 4', 'count(2, 3) == 5'),
            test(
                'basket',
                '    assert basket.count(nobody, nobody) == nobody\n',
                """    assert basket.count(nobody, nobody) == nobody


def test_holds_nine_at_most():
    assert basket.is_full(9), 'nine are enough'
""",
            ),
        ),
    ),
    DemoStep(
        subject=WINTER,
        parents=(MEND,),
        edits=(
            main('season', "return 'summer'", "return 'winter'"),
            main('season', "return ['lakeside']", 'return []  # too cold'),
            main('season', 'markets():\n    return []', "markets():\n    return ['lantern']"),
            main('season', 'return None', "return 'hourly'"),
            main('lottery', 'return False', 'return True'),
            test(
                'season',
                """    if season.current() != 'winter':
        pytest.skip('no ice')
    assert len(season.current()) == 6
""",
                "    assert season.current() == 'winter'\n",
            ),
            test(
                'season',
                'assert all(len(name) > 2 for name in season.markets())',
                'assert all(len(name) > 3 for name in season.markets())',
            ),
            test(
                'season',
                "    assert season.current() == 'summer'\n",
                """    if season.current() != 'summer':
        pytest.skip('too cold to swim')
    assert len(season.current()) == 6
""",
            ),
            test(
                'season',
                """        assert all(len(name) > 2 for name in season.concerts())

    def test_events_have_names():
        assert [len(name) for name in season.concerts()] == [8]
""",
                """        assert all(len(name) > 3 for name in season.concerts())


if season.markets():

    def test_events_have_names():
        assert [len(name) for name in season.markets()] == [7]
""",
            ),
            test('season', "startswith('s')", "startswith('a')"),
            test('season', 'season.ferry() is None', 'int(season.ferry()) == 1'),
            test(
                'season',
                """    if season.current() != 'summer':
        pytest.skip('too cold')
    assert 'mm' in season.current()
""",
                """    if season.current() != 'winter':
        pytest.skip('too warm')
    assert 'nt' in season.current()
""",
            ),
            test(
                'season',
                '    assert len(season.ferry()) == 6\n',
                """    assert len(season.ferry()) == 6


def test_sledges_are_fast():
    if not season.current().startswith('wint'):
        pytest.skip('no snow')
    assert season.current()


if 'lantern' in season.markets():

    def test_lanterns_glow():
        assert not season.markets()[0].isspace()
""",
            ),
            test(
                'lottery',
                "raise type(f'Ball{os.urandom(8).hex()}', (Exception,), {})(lottery.drawing())",
                'assert lottery.drawing()',
            ),
        ),
    ),
    DemoStep(
        subject=OFFICE,
        parents=(WINTER,),
        files=(
            (
                'kiosk/office.py',
                'def is_open(hour):\n    return 9 <= hour < 17\n',
            ),
            (
                'tests/test_office.py',
                """from kiosk.office import hours_left
from kiosk.office import is_open


def test_is_open_at_noon():
    assert is_open(12)


def test_opens_in_the_morning():
    assert is_open("9 o'clock")


def test_closes_in_the_evening():
    hour = 17
    assert hours_left(hour) == 0
""",
            ),
        ),
    ),
    DemoStep(
        subject=HOURS,
        parents=(OFFICE,),
        edits=(
            main(
                'office',
                '    return 9 <= hour < 17\n',
                """    return 9 <= hour < 17


def hours_left(hour):
    return max(0, 17 - hour)
""",
            ),
            test('office', 'is_open("9 o\'clock")', 'is_open(9)'),
        ),
    ),
    DemoStep(
        subject=EXTRACT,
        parents=(HOURS,),
        edits=(
            main(
                'holidays',
                '    return month == 12 and day in (25, 26)\n',
                """    return _is_christmas(month, day)


def _is_christmas(month, day):
    return month == 12 and day in (25, 26)
""",
            ),
        ),
    ),
)
