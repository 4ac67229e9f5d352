from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.flows.mining_runs import (
    PAIRS,
    different,
    disturb,
    gone,
    of_java,
    released,
    start,
    wait_until,
)
from tests.projects import NAME, mined


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of Java's: its pairs take long enough to be met at work, whatever the machine."""
    return of_java(tmp_path_factory.mktemp('shop'))


@pytest.fixture(scope='module')
def undisturbed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of a run that nothing happened to."""
    folder = tmp_path_factory.mktemp('undisturbed')
    found = mined(repository, folder / 'store')
    assert found.report.executed == PAIRS
    return released(folder / 'store')


@pytest.mark.jvm
@pytest.mark.parametrize(
    'moment', [pytest.param(moment, marks=pytest.mark.slow) for moment in (0, 1, 2)]
)
def test_a_run_after_a_killed_run_gives_the_same_bytes(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path, moment: int
) -> None:
    store = tmp_path / 'store'
    with start(repository, store, work) as process:
        disturb(process, moment, store, work, signal.SIGKILL)
    gone(work)
    with start(repository, store, work) as again:
        again.communicate(timeout=600)
    assert again.returncode == 0
    assert different(released(store), undisturbed) == []
    assert not list(work.iterdir())  # also what the killed run left there


@pytest.mark.jvm
@pytest.mark.parametrize(
    ('moment', 'what'),
    [
        pytest.param(1, signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(2, signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(0, signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_leaves_a_store_that_a_later_run_completes(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path, moment: int, what: int
) -> None:
    store = tmp_path / 'store'
    with start(repository, store, work) as process:
        if moment == 0:
            wait_until(lambda: store.exists(), process)
        disturb(process, moment, store, work, what)
        assert process.stderr is not None
        complaint = process.stderr.read()
    assert process.returncode == 128 + what, complaint
    assert (
        complaint
        == 'coevo: interrupted; finished work is kept; run the same command again to continue\n'
    )
    gone(work)
    assert not list(work.iterdir())
    assert mined(repository, store).report.executed >= PAIRS - 1 - moment
    assert different(released(store), undisturbed) == []


@pytest.mark.jvm
@pytest.mark.slow
def test_the_second_of_two_simultaneous_runs_is_refused(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path
) -> None:
    """Whichever comes first to the partition mines it; the other says so and touches nothing."""
    store = tmp_path / 'store'
    with start(repository, store, work) as one, start(repository, store, work) as other:
        complaints = [process.communicate(timeout=600)[1] for process in (one, other)]
    assert sorted((one.returncode, other.returncode)) == [0, 2]
    quiet, told = sorted(complaints)
    assert not quiet
    assert told == (
        f'coevo: {NAME} (parents) is being mined into {store} by another process: '
        'wait until it ends, or use another --store\n'
    )
    assert different(released(store), undisturbed) == []
