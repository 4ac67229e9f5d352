import pytest
from pier.season import season


def test_winter_ends_on_the_twentieth_of_march():
    assert season(1, 5) == 'winter'
    assert season(3, 19) == 'winter'
    assert season(3, 20) == 'spring'


def test_summer_begins_on_the_twenty_first_of_june():
    assert season(5, 1) == 'spring'
    assert season(6, 20) == 'spring'
    assert season(6, 21) == 'summer'


def test_autumn_begins_on_the_twenty_second_of_september():
    assert season(8, 31) == 'summer'
    assert season(9, 21) == 'summer'
    assert season(9, 22) == 'autumn'


def test_winter_begins_on_the_twenty_first_of_december():
    assert season(11, 30) == 'autumn'
    assert season(12, 20) == 'autumn'
    assert season(12, 21) == 'winter'


def test_a_thirteenth_month_is_refused():
    with pytest.raises(ValueError, match='no month 13'):
        season(13, 1)
