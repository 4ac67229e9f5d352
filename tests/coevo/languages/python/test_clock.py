"""A test process under another clock: dates are other, time passes as ever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from coevo.languages.verdicts import RunConditions
from coevo.model.words import Outcome
from coevo.sandboxes import clock
from tests.coevo.languages.python.shops import Shop, method, shop

OF_2019 = RunConditions(clock=datetime(2019, 5, 6, 7, 8, 9, tzinfo=UTC))

TESTS = """\
    import datetime
    import os
    import subprocess
    import sys
    import threading
    import time


    def test_is_of_2019():
        assert datetime.date.today() == datetime.date(2019, 5, 6)
        assert time.gmtime().tm_year == 2019
        told = subprocess.check_output([sys.executable, '-c', 'import time; print(time.time())'])
        assert time.gmtime(float(told)).tm_year == 2019


    def test_is_of_today():
        assert time.gmtime().tm_year > 2019


    def test_waits():
        start = time.monotonic()
        time.sleep(0.1)
        threading.Event().wait(0.1)
        before = time.time()
        time.sleep(0.1)
        assert 0.29 <= time.monotonic() - start < 60
        assert 0.09 <= time.time() - before < 60


    def test_files_are_older():
        assert time.gmtime(os.stat(__file__).st_mtime).tm_year == 2000
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    files = {'till.py': 'price = 1\n', 'tests/test_till.py': TESTS}
    with shop(tmp_path_factory.mktemp('clock'), files, {'README': ''}) as found:
        yield found


def outcomes(place: Shop, conditions: RunConditions) -> list[Outcome | None]:
    names = ('test_is_of_2019', 'test_is_of_today', 'test_waits', 'test_files_are_older')
    batch = place.run(*map(method, names), conditions=conditions)
    return [verdict and verdict.outcome for verdict in batch.verdicts]


def test_tests_see_the_requested_date_while_time_passes(place: Shop) -> None:
    passed, failed = Outcome.PASS, Outcome.FAIL
    assert outcomes(place, RunConditions()) == [failed, passed, passed, passed]
    assert outcomes(place, OF_2019) == [passed, failed, passed, passed]


def test_missing_faketime_library_gives_infra_outcomes(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, 'PLACES', ('/usr/lib/*/libz.so.1',))
    files = {'till.py': 'price = 1\n', 'tests/test_till.py': TESTS}
    with shop(tmp_path_factory.mktemp('none'), files, {'README': ''}) as place:
        assert outcomes(place, OF_2019) == [Outcome.INFRA] * 4
