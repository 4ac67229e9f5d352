import pytest

from kiosk import season


def test_skating_starts():
    if season.current() != 'winter':
        pytest.skip('no ice')
    assert len(season.current()) == 6


if season.markets():

    def test_markets_have_names():
        assert all(len(name) > 2 for name in season.markets())


def test_swimming_starts():
    assert season.current() == 'summer'


if season.concerts():

    def test_concerts_have_names():
        assert all(len(name) > 2 for name in season.concerts())

    def test_events_have_names():
        assert [len(name) for name in season.concerts()] == [8]


def test_has_a_name():
    assert season.current().startswith('s')


def test_ferry_runs():
    assert season.ferry() is None


def test_hats_are_worn():
    if season.current() != 'summer':
        pytest.skip('too cold')
    assert 'mm' in season.current()


def test_winter_has_come():
    assert season.current() == 'winter'


def test_ferry_is_hourly():
    assert len(season.ferry()) == 6
