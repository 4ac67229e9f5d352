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
from coevo.storage.leases import LeaseLost, LeaseTaken, LeaseTerms
from coevo.storage.place import StoragePlace
from coevo.storage.places import open_place

NAME = 'claims/example+ferry'
ONE, OTHER = LeaseTerms(owner='one'), LeaseTerms(owner='other')


@pytest.fixture(params=['folder', 'bucket'])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StoragePlace:
    there = tmp_path / 'store'
    return open_place(there if request.param == 'folder' else request.getfixturevalue('bucket'))


def test_lease_has_one_holder_and_is_free_after_release(place: StoragePlace) -> None:
    with leases.take_lease(place, NAME, ONE) as lease:
        lease.confirm_held()
        with pytest.raises(LeaseTaken, match='held by one, last heard of'):
            leases.take_lease(place, NAME, OTHER)
        (standing,) = leases.list_unreleased_lease_states(place, 'claims')
        assert (standing.name, standing.holder.owner) == (NAME, 'one')
        assert standing.seconds_left > 0
    assert leases.list_unreleased_lease_states(place, 'claims') == ()
    with leases.take_lease(place, NAME, OTHER):
        pass
    assert [entry.name for entry in place.list_files('claims')] == [NAME]


def test_one_of_many_simultaneous_takers_gets_the_lease(place: StoragePlace) -> None:
    got, ready = [], threading.Barrier(6)

    def run(number: int) -> None:
        ready.wait()
        try:
            got.append(leases.take_lease(place, NAME, LeaseTerms(owner=str(number))))
        except LeaseTaken:
            return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_live_holder_keeps_its_lease_beyond_the_lease_time(place: StoragePlace) -> None:
    with leases.take_lease(place, NAME, LeaseTerms(owner='one', seconds=4)) as lease:
        time.sleep(6)
        lease.check_held()
        with pytest.raises(LeaseTaken):
            leases.take_lease_unless_renewed(place, NAME, OTHER)


HOLD = """
import sys, time
from coevo.storage.leases import LeaseLost, LeaseTerms, take_lease
from coevo.storage.place import parse_root; from coevo.storage.places import open_place

with take_lease(open_place(parse_root(sys.argv[1])), sys.argv[2], LeaseTerms(owner='child', seconds=4)) as lease:
    print('held', flush=True)
    sys.stdin.readline()
    try:
        lease.confirm_held()
    except LeaseLost as error:
        print(error, flush=True)
"""


def holding(place: StoragePlace) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, '-c', HOLD, place.describe(), NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == 'held\n'
    return child


def test_lease_of_a_killed_process_expires_after_its_lease_time(place: StoragePlace) -> None:
    with holding(place) as child:
        child.kill()
    with pytest.raises(LeaseTaken, match='held by child'):
        leases.take_lease(place, NAME, ONE)
    with leases.take_lease_unless_renewed(place, NAME, ONE) as lease:
        lease.confirm_held()


def test_process_suspended_too_long_notices_its_lost_lease(place: StoragePlace) -> None:
    """A machine that slept must not write over what another one did meanwhile."""
    with holding(place) as child:
        os.kill(child.pid, signal.SIGSTOP)
        with leases.take_lease_unless_renewed(place, NAME, ONE) as lease:
            os.kill(child.pid, signal.SIGCONT)
            said, _ = child.communicate('go on\n')
            assert 'no longer held' in said
            lease.confirm_held()
            (standing,) = leases.list_unreleased_lease_states(place, 'claims')
            assert standing.holder.owner == 'one'


def test_holder_of_a_removed_lease_notices_the_loss_at_next_renewal(place: StoragePlace) -> None:
    with leases.take_lease(place, NAME, ONE) as lease:
        place.remove_files([NAME])
        with pytest.raises(LeaseLost, match='took it over'):
            lease.confirm_held()
        with pytest.raises(LeaseLost):
            lease.check_held()
    assert place.read(NAME) is None
