"""Threads of a run that is broken off: they end, and only then goes what they work in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from coevo.engine.workers import BuilderPool, run_in_parallel
from coevo.git.repository import Repository
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Transient
from coevo.model.records import Pair
from coevo.model.segment import Segment
from tests.miners.pairs_of import diffed


def test_worker_threads_end_before_their_folder_is_removed(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread goes on until the run is halted, and still writes for a while."""
    monkeypatch.setenv('COEVO_WORK', str(work))
    waits, written = threading.Event(), threading.Event()

    def mine(pair: Pair, open_builder: Callable[[], Builder]) -> Segment:
        if pair is quick:
            waits.wait()
            raise Transient('not now')
        open_builder()
        waits.set()
        wait_until_halted(builders)
        (folder,) = work.iterdir()
        for number in range(20):
            (folder / 'built' / str(number)).mkdir(parents=True)
            time.sleep(0.02)
        written.set()
        raise Transient('it was halted')

    slow, quick = (
        diffed(tmp_path / name, {'A': 'class A {}'}, {'A': f'class A {{ int {name}; }}'}).pair
        for name in ('slow', 'quick')
    )
    repository = Repository(tmp_path / 'slow' / 'repository' / '.git')
    around = RunSettings(repository=repository, sandbox='bubblewrap')
    with (
        BuilderPool(LANGUAGES['java'], around, [slow, quick]) as builders,
        closing(run_in_parallel(mine, [slow, quick], builders, jobs=2)) as results,
    ):
        assert next(results)[0] is quick
    assert written.is_set()
    assert not list(work.iterdir())
    with pytest.raises(Transient):
        builders.open_builder()


def wait_until_halted(builders: BuilderPool) -> None:
    with suppress(Transient):
        while True:
            builders.open_builder()
