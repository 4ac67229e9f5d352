from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from coevo.storage import leases
from coevo.storage.leases import LeaseLost
from coevo.storage.leases import Taken
from coevo.storage.leases import Terms
from coevo.storage.place import Place
from coevo.storage.places import place_of

NAME = 'claims/example+ferry'
ONE, OTHER = Terms(owner='one'), Terms(owner='other')


@pytest.fixture(params=['folder', 'bucket'])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    there = tmp_path / 'store'
    return place_of(there if request.param == 'folder' else request.getfixturevalue('bucket'))


def test_one_at_a_time_and_free_when_given_back(place: Place) -> None:
    with leases.take(place, NAME, ONE) as lease:
        lease.confirm()
        with pytest.raises(Taken, match='held by one, last heard of'):
            leases.take(place, NAME, OTHER)
        (standing,) = leases.standings(place, 'claims')
        assert (standing.name, standing.holder.owner) == (NAME, 'one')
        assert standing.left > 0
    assert leases.standings(place, 'claims') == ()
    with leases.take(place, NAME, OTHER):
        pass
    assert [entry.name for entry in place.entries('claims')] == [NAME]


def test_of_many_at_once_one_gets_it(place: Place) -> None:
    got, ready = [], threading.Barrier(6)

    def run(number: int) -> None:
        ready.wait()
        try:
            got.append(leases.take(place, NAME, Terms(owner=str(number))))
        except Taken:
            return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_a_holder_that_lives_keeps_it_beyond_its_time(place: Place) -> None:
    with leases.take(place, NAME, Terms(owner='one', seconds=4)) as lease:
        time.sleep(6)
        lease.check()
        with pytest.raises(Taken):
            leases.take_when_over(place, NAME, OTHER)


HOLD = """
import sys, time
from coevo.storage.leases import LeaseLost, Terms, take
from coevo.storage.place import root_of; from coevo.storage.places import place_of

with take(place_of(root_of(sys.argv[1])), sys.argv[2], Terms(owner='child', seconds=4)) as lease:
    print('held', flush=True)
    sys.stdin.readline()
    try:
        lease.confirm()
    except LeaseLost as error:
        print(error, flush=True)
"""


def holding(place: Place) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, '-c', HOLD, place.shown(), NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == 'held\n'
    return child


def test_the_lease_of_a_killed_process_is_over_in_its_time(place: Place) -> None:
    with holding(place) as child:
        child.kill()
    with pytest.raises(Taken, match='held by child'):
        leases.take(place, NAME, ONE)
    with leases.take_when_over(place, NAME, ONE) as lease:
        lease.confirm()


def test_a_process_that_was_stopped_too_long_knows_that_it_lost(place: Place) -> None:
    """A machine that slept must not write over what another one did meanwhile."""
    with holding(place) as child:
        os.kill(child.pid, signal.SIGSTOP)
        with leases.take_when_over(place, NAME, ONE) as lease:
            os.kill(child.pid, signal.SIGCONT)
            said, _ = child.communicate('go on\n')
            assert 'no longer held' in said
            lease.confirm()
            (standing,) = leases.standings(place, 'claims')
            assert standing.holder.owner == 'one'


def test_who_was_robbed_learns_it_at_the_next_renewal(place: Place) -> None:
    with leases.take(place, NAME, ONE) as lease:
        place.remove([NAME])
        with pytest.raises(LeaseLost, match='took it over'):
            lease.confirm()
        with pytest.raises(LeaseLost):
            lease.check()
    assert place.read(NAME) is None
