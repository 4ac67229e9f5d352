"""Repositories of a batch, each in a process of its own: what goes wrong in one stays there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from coevo.command.main import main
from coevo.model import codec
from coevo.model.listener import Listener
from coevo.storage import leases
from coevo.storage.places import open_place
from flows.batches import batch
from flows.batches.batch import BatchJob, JobOutcome, JobResult, Verb, run_job
from flows.batches.contained import BatchLimits
from tests.projects import NAME, junit, pom, source, write
from tests.repos import commit, damage, init

AMPLE = BatchLimits(seconds=280, memory_gib=4)
SECRET = 'ghp_neverKeepThisOne0123456789'


def job(repository: Path, store: Path) -> BatchJob:
    return BatchJob(
        verb=Verb.MINE, source=str(repository), store=str(store), profile='quick', repo=NAME
    )


def steps(first: int, end: int) -> Iterator[dict[str, str | bytes | None]]:
    for number in range(first, end):
        value = f'    public static int last() {{ return {number}; }}\n'
        test = junit('TillTest', f'rings: assertEquals({number}, Till.last());')
        yield {'pom.xml': pom(), **source('Till', value), **test}


def jobs_at_work() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if _is_job(child)]


def _is_job(process: psutil.Process) -> bool:
    try:
        return 'flows.batches.job_process' in process.cmdline()
    except psutil.NoSuchProcess:  # it has ended; a zombie of another test is no job either
        return False


def kept(store: Path, result: JobResult) -> dict[str, object]:
    """The record of a failure, after which nobody is left at work, and nobody holds the claim."""
    assert not jobs_at_work()
    assert not leases.list_unreleased_lease_states(open_place(store), 'claims/repositories')
    assert result.failure is not None
    found: dict[str, object] = json.loads((store / result.failure).read_text())
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path.with_name(f'{tmp_path.name}-source'), list(steps(0, 3)))


@pytest.mark.slow
@pytest.mark.jvm
def test_only_the_pairs_of_new_commits_are_executed(repository: Path, tmp_path: Path) -> None:
    asked = job(repository, tmp_path / 'store')
    first, again = run_job(asked, AMPLE), run_job(asked, AMPLE)
    same = '    public static int last() { return 2; }\n'
    words = (source('Till', f'{same}    // {number} more words\n') for number in range(8))
    for number, files in enumerate((*words, *steps(3, 5))):
        commit(repository, f'new {number}', files, date=f'2024-02-01T{number:02}:00:00Z')
    after_ten_commits = run_job(asked, AMPLE)
    counts = [
        (one.outcome, one.mined.pairs, one.mined.executed, one.mined.reused)
        for one in (first, again, after_ten_commits)
        if one.mined is not None
    ]
    assert counts == [
        (JobOutcome.DONE, 2, 2, 0),
        (JobOutcome.DONE, 2, 0, 2),
        (JobOutcome.DONE, 12, 10, 2),
    ]


def test_job_over_its_time_limit_is_ended(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its record leads to the flow run, which has the log and the artifacts."""
    asked = replace(job(repository, tmp_path), run='the-flow-run')
    result = run_job(asked, BatchLimits(seconds=0.1, memory_gib=4))
    assert (result.outcome, result.sentence) == (JobOutcome.FAILED, 'not done after 0 s')
    found = kept(tmp_path, result)
    assert (found['stopped_for'], found['flow_run']) == ('time', 'the-flow-run')
    assert main(['pipeline', 'status', '--store', str(tmp_path), NAME]) == 0
    assert f'{result.failure}, flow run the-flow-run)' in capsys.readouterr().out


def test_job_over_its_memory_limit_is_ended(repository: Path, tmp_path: Path) -> None:
    result = run_job(job(repository, tmp_path), BatchLimits(seconds=60, memory_gib=0.01))
    assert (result.outcome, result.sentence) == (
        JobOutcome.FAILED,
        'took more than 0.01 GiB of memory',
    )
    assert kept(tmp_path, result)['stopped_for'] == 'memory'


def test_job_killed_by_the_kernel_is_a_failure(repository: Path, tmp_path: Path) -> None:
    """As it does where memory runs out."""

    def kill(step: str, done: int, total: int) -> None:
        for child in jobs_at_work():
            child.kill()

    result = run_job(job(repository, tmp_path), AMPLE, Listener(step=kill))
    assert (result.outcome, result.sentence) == (JobOutcome.FAILED, 'was killed by SIGKILL')
    assert kept(tmp_path, result)['status'] == -9


def test_failure_record_of_a_bug_has_a_traceback_without_tokens(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the folder of segments is a file, of a name that shows a token."""
    monkeypatch.setenv('GITHUB_TOKEN', SECRET)
    store = tmp_path / SECRET
    store.mkdir()
    (store / 'store.json').write_text('{"coevo-store": 2}\n')
    (store / 'partitions').write_text('no folder')
    result = run_job(job(repository, store), AMPLE)
    record = kept(store, result)
    assert result.outcome is JobOutcome.FAILED
    assert 'Traceback (most recent call last)' in str(record['complaint'])
    assert 'NotADirectoryError' in result.sentence
    assert SECRET not in json.dumps(record)
    assert SECRET not in result.sentence


@pytest.mark.slow
def test_damaged_repository_is_refused(tmp_path: Path) -> None:
    broken = init(tmp_path / 'broken')
    damage(broken, commit(broken, 'only', {'pom.xml': pom()}))
    result = run_job(job(broken, tmp_path / 'store'), AMPLE)
    assert result.outcome is JobOutcome.REFUSED
    assert kept(tmp_path / 'store', result)['status'] == 2


def test_repository_claimed_by_another_run_is_left_alone(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told by the renewals of the other one, for which one has to wait."""
    monkeypatch.setattr(leases, 'SECONDS', 2.0)
    place = open_place(tmp_path)
    with leases.take_lease(
        place, batch.name_repository_claim(NAME), leases.LeaseTerms(owner='somebody')
    ):
        result = run_job(job(repository, tmp_path), AMPLE)
    assert result.outcome is JobOutcome.CLAIMED
    assert 'held by somebody' in result.sentence
    assert not (tmp_path / 'clones').exists()


def test_job_process_ends_with_its_parent_process(repository: Path, tmp_path: Path) -> None:
    """Its standard input ends with that one, even where that was killed."""
    command = [sys.executable, '-m', 'flows.batches.job_process']
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(codec.encode_record(job(repository, tmp_path)) + b'\n')
        process.stdin.flush()
        assert process.stdout.readline()  # it is at work
        process.stdin.close()
        assert process.wait(timeout=600) == -signal.SIGKILL


def test_silent_run_is_distinguished_from_an_ended_run(tmp_path: Path) -> None:
    """The first holds its lease until that is over, the other has given it back."""
    place = open_place(tmp_path)
    short = leases.LeaseTerms(seconds=0.1)
    leases.take_lease(place, batch.name_run_claim('silent'), short)  # nobody renews it
    with leases.take_lease(place, batch.name_run_claim('ended'), short):
        pass
    with leases.take_lease(place, batch.name_run_claim('living'), leases.LeaseTerms(seconds=600)):
        deadline = time.monotonic() + 60
        while 'silent' in batch.list_living_runs(tmp_path):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert batch.list_runs_with_expired_lease(tmp_path) == {'silent'}
        assert batch.list_living_runs(tmp_path) == {'living'}
