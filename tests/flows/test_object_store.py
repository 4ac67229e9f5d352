"""Mining into an object store gives what mining into a folder gives, whatever happens meanwhile."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.snapshots.snapshot import open_snapshots
from coevo.storage.place import Url, find_local_folder
from coevo.storage.places import open_place
from flows import pipeline
from tests.flows.mining_runs import different, gone, released, wait_until
from tests.git_server import GitBackend, serving
from tests.projects import NAME, QUICKLY, junit, options, pom, source, write
from tests.settings_files import settings

PAIRS = 2
# The command, but for the time that the lease of a killed one is waited for.
COMMAND = 'import sys; from coevo.command import main as cli; from coevo.storage import leases; leases.SECONDS = 8.0; sys.exit(cli.main())'


def step(number: int) -> dict[str, str]:
    value = f'    public static int last() {{ return {number}; }}\n'
    test = junit('TillTest', f'rings: assertEquals({number}, Till.last());')
    return {'pom.xml': pom(), **source('Till', value), **test}


def start(*words: str | Path, work: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ['env', f'COEVO_WORK={work}', sys.executable, '-c', COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*words: str | Path, work: Path) -> str:
    with start(*words, work=work) as process:
        said, complaint = process.communicate(timeout=240)
    assert process.returncode == 0, complaint
    return said


def segments(bucket: Url) -> int:
    names = [entry.name for entry in open_place(bucket).list_files('partitions')]
    return sum(name.endswith('.segment') for name in names)


def download(snapshot: Url, folder: Path) -> Path:
    place = open_place(snapshot)
    for entry in place.list_files(''):
        found = place.read(entry.name)
        assert found is not None
        (folder / entry.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / entry.name).write_bytes(found.data)
    return folder


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_resumed_run_into_a_bucket_gives_the_snapshot_of_a_run_into_a_folder(
    bucket: Url, work: Path, tmp_path: Path
) -> None:
    """Released on another machine, which has no clone yet."""
    write(tmp_path / 'git' / NAME, [step(number) for number in range(PAIRS + 1)])
    with serving(GitBackend(tmp_path / 'git')) as server:
        undisturbed = dataclasses.replace(
            options(Path(), tmp_path / 'store'), source=f'{server}/{NAME}'
        )
        assert pipeline.mine(undisturbed).executed == PAIRS

        local, elsewhere = (
            settings(tmp_path, local=tmp_path / name) for name in ('local', 'elsewhere')
        )
        there = ('--store', bucket, *local)
        mine = ('mine', undisturbed.source, '--name', NAME, '--jobs', '1', *QUICKLY, *there)
        with start(*mine, work=work) as first:
            wait_until(lambda: segments(bucket) > 0, first)
            first.kill()
        gone(work)
        left = segments(bucket)
        assert 0 < left < PAIRS
        assert f'{PAIRS - left} mined now, {left} known before' in run(*mine, work=work)
        assert segments(bucket) == 0

        snapshot = Url(f'{bucket}-2024-01')
        release = ('release', '--store', bucket, '--snapshot', snapshot)
        assert 'written' in run(*release, *elsewhere, work=work)
        assert 'already there' in run(*release, *local, work=work)
    copy = download(snapshot, tmp_path / 'copy')
    assert different(released(tmp_path / 'store'), copy) == []
    assert open_snapshots(snapshot).execute('SELECT count(*) FROM pairs').fetchone() == (PAIRS,)


def test_clones_of_a_bucket_store_lie_in_a_local_folder_of_their_own() -> None:
    assert find_local_folder(Url('s3://one/a/b')).parent.name == 'stores'
    assert find_local_folder(Url('s3://one/a/b')) != find_local_folder(Url('s3://one/a+b'))
    assert find_local_folder(Path('store')) == Path('store')
