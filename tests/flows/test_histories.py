"""Searches of several clones at once: what one process finds after another, and nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.prints import make_body_prints_by_hash
from coevo.languages.table import get_reading, name_parser_version
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener
from coevo.storage import dates
from coevo.storage.dates import WantedBodies, WantedBody
from coevo.storage.store import Store
from flows.histories import search_histories
from miners.cloning.mirror_git import list_clone_refs
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import load_wanted_prints
from tests.miners.dates.test_clone_search import day, java, lose, members
from tests.repos import commit, init

CRAWLED = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ('some/first', 'some/second', 'some/third')


def join(tokens: object) -> str:
    assert isinstance(tokens, tuple | list)
    return b' '.join(tokens).decode('latin-1')


def want(store: Store, *bodies: str) -> None:
    """Write down that the first repository's rows want these test bodies."""
    prints = dict(
        pair
        for member in members(*bodies)
        for pair in make_body_prints_by_hash(get_reading('java').LEXIS, member)
    )
    wanted = tuple(
        WantedBody(
            body=body,
            words=join(sorted(each.words)),
            spelled=join(sorted(each.spelled)),
            segments=tuple(map(join, each.segments)),
            result=join(each.result),
        )
        for body, each in sorted(prints.items())
    )
    dates.write_wanted_bodies(
        store.storage,
        NAMES[0],
        'java',
        WantedBodies(version=name_parser_version('java'), rows=(), bodies=wanted),
    )


def open_clone(folder: Path, repo: str) -> SearchedClone:
    repository = Repository(folder / repo / '.git')
    return SearchedClone(
        repository=repository, crawled_at=CRAWLED, refs=list_clone_refs(repository)
    )


def search(store: Store, folder: Path, processes: int, listener: Listener = SILENT) -> None:
    """Search the three repositories in a folder for the bodies that a store wants."""
    wanted = load_wanted_prints(store)
    search_histories(
        store, NAMES, wanted, lambda repo: open_clone(folder, repo), processes, listener
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three repositories; each adds another of the wanted bodies, and all add `two(2)`."""
    for place, repo in enumerate(NAMES):
        (tmp_path / repo).mkdir(parents=True)
        folder = init(tmp_path / repo)
        commit(folder, 'root', {'README.md': ''}, date=day(1 + place))
        for number in range(3):
            body = f'two({number});' if number == 2 else f'one({place});'
            files = {f'A{number}.java': java(body)}
            commit(folder, f'{number}', files, date=day(5 + 3 * number + place))
    return tmp_path


def load_results(store: Store) -> Mapping[str, bytes]:
    return {
        entry.name: store.storage.load_files([entry.name])[0].data  # type: ignore[union-attr]
        for entry in store.storage.list_files(dates.FOLDER)
        if entry.name.endswith('.seen')
    }


def open_store(folder: Path) -> Store:
    store = Store(folder)
    want(store, 'one(0);', 'one(1);', 'one(2);', 'two(2);', 'nowhere();')
    return store


@pytest.mark.parametrize('processes', [2, 8])
def test_processes_find_what_one_process_finds(folder: Path, processes: int) -> None:
    alone, several = open_store(folder / 'alone'), open_store(folder / 'several')
    steps: list[tuple[str, int, int]] = []
    search(alone, folder, 1)
    search(several, folder, processes, Listener(step=lambda *step: steps.append(step)))
    assert len(load_results(alone)) == len(NAMES)
    assert load_results(several) == load_results(alone)
    assert steps == [('histories', done, 3) for done in (0, 1, 2, 3, 3)]


def test_an_unreadable_clone_ends_the_searches_with_its_sentence(folder: Path) -> None:
    store = open_store(folder / 'store')
    lose(folder / NAMES[1], 'A0.java')
    with pytest.raises(Fatal, match='is missing or corrupt in the clone'):
        search(store, folder, 2)


def test_searches_end_with_a_killed_main_process(folder: Path) -> None:
    """A process that waits for a job would otherwise wait for ever."""
    store = open_store(folder / 'store')
    program = f"""
import os, time
from pathlib import Path
from coevo.model.listener import Listener
from coevo.storage.store import Store
from tests.flows.test_histories import search

def wait(name, done, total):
    if done == 1:
        print(flush=True)
        time.sleep(600)

if __name__ == '__main__':
    search(Store(Path({str(store.root)!r})), Path({str(folder)!r}), 2, Listener(step=wait))
"""
    (folder / 'program.py').write_text(program)
    environment = {**os.environ, 'PYTHONPATH': str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, str(folder / 'program.py')], env=environment, stdout=subprocess.PIPE
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == b'\n'
        children = Path(f'/proc/{main.pid}/task/{main.pid}/children').read_text().split()
        assert len(children) >= 2
        main.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(Path('/proc', child).exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
