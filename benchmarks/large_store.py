"""What it takes to see what is due in a store of many repositories: requests, bytes, CPU seconds, memory.

    python -m benchmarks.large_store folder COUNT FOLDER OUT.csv      a store in a folder
    python -m benchmarks.large_store bucket COUNT OUT.csv             a store in a bucket on loopback (moto)

Repositories are made up: each was crawled, validated and mined by the present code, with 40 pairs of some
3 kB, and nothing was pushed since. `spread` is what a scheduled run reads to choose its work, `status` what
`coevo pipeline status` reads. Each is asked in a process of its own. The column `states` says whether each
partition has its `state.json`; without them every walk and every segment is read, as before November 2026.
Requests to a folder are system calls that read, to a bucket HTTP requests.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import psutil

from benchmarks.refusals import print_fatal
from benchmarks.tables import append_rows
from coevo.model import codec
from coevo.model.words import Walk
from coevo.storage import archive
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store, WalkRecord
from flows.batches.batch import Verb
from flows.eligibility import find_due_repositories
from flows.segment_keys import compute_mining_code_digest
from flows.status import survey_store
from tests import buckets, segments
from tests.flows.crawling import row, validated, write_rows

_CRAWL = datetime(2024, 2, 1, tzinfo=UTC)
_PUSHED = datetime(2024, 1, 20, tzinfo=UTC)
_PAIRS = 40

_SURVEYS: dict[str, Callable[[Root], int]] = {
    'spread': lambda root: len(find_due_repositories(root, Verb.MINE).unchanged),
    'status': lambda root: len(survey_store(Store(root)).states),
}


def write_store(root: Root, count: int) -> None:
    """Write a store of so many repositories, each mined completely."""
    names = [f'many/r{number:05}' for number in range(count)]
    write_rows(
        root, _CRAWL, *(row(name, at, _CRAWL, pushed_at=_PUSHED) for at, name in enumerate(names))
    )
    store = Store(root)
    numbers = tuple(range(1, _PAIRS + 1))
    keys = tuple((segments.pair_id(number), f'key-{number}') for number in numbers)
    pieces = {
        f'{pair_id}.{key}': archive.pack_piece(
            codec.encode_record(segments.segment(number, key=key))
        )
        for number, (pair_id, key) in zip(numbers, keys, strict=True)
    }
    merged = archive.encode_archive(pieces)  # surveys do not look into segments
    code = compute_mining_code_digest('java').digest
    for number, name in enumerate(names):
        validated(root, name)
        partition = Partition(repo=name, language='java', walk=Walk.PARENTS)
        walk = WalkRecord(
            repository=segments.repository(repo=name, engine_version=code),
            pairs=tuple((segments.rev(number), segments.pair_id(number)) for number in numbers),
            keys=keys,
            reached=_PUSHED,
            pushed=_PUSHED,
        )
        store.merge_walk_into_stored(partition, walk)
        store.storage.write_file(f'partitions/{partition.path.as_posix()}/segments.coevo', merged)
        store.record_state(partition)
        if number % 500 == 0:
            print(f'{number:,} of {count:,} written', flush=True)


def measure_surveys(
    root: Root, count: int, requests: Callable[[], int]
) -> Iterator[dict[str, object]]:
    """Yield a row of figures for each survey, with states and without."""
    for states in (True, False):
        if not states:
            store = Store(root)
            entries = store.storage.list_files('partitions')
            store.storage.remove_files(e.name for e in entries if e.name.endswith('/state.json'))
        for name in _SURVEYS:
            before = requests()
            with multiprocessing.get_context('spawn').Pool(1) as pool:
                row = pool.apply(_measure_survey, (name, root))
            if isinstance(root, str):
                row |= {'requests': requests() - before, 'bytes': ''}
            answer = row.pop('repositories')
            assert answer == count, f'{name} says {answer} of {count} repositories'
            yield {
                'place': 'bucket' if isinstance(root, str) else 'folder',
                'repositories': count,
                'asked': name,
                'states': 'yes' if states else 'no',
                **row,
            }


def _measure_survey(name: str, root: Root) -> dict[str, object]:
    """Ask once, and return the figures of this process."""
    with tempfile.TemporaryDirectory() as empty:
        _SURVEYS[name](Path(empty))  # what is loaded once
        compute_mining_code_digest('java')
    process = psutil.Process()
    io, cpu, began = process.io_counters(), os.times(), time.monotonic()
    answer = _SURVEYS[name](root)
    now, after = process.io_counters(), os.times()
    return {
        'repositories': answer,
        'requests': now.read_count - io.read_count,
        'bytes': now.read_chars - io.read_chars,
        'cpu_seconds': round(after.user + after.system - cpu.user - cpu.system, 2),
        'seconds': round(time.monotonic() - began, 1),
        'peak_mib': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


@contextmanager
def _serve_bucket(counted: Counter[str]) -> Iterator[Root]:
    def count(method: str, path: str) -> bool:
        counted[method] += 1
        return False

    logging.getLogger('werkzeug').setLevel(logging.WARNING)
    with buckets.serving(refused=count) as endpoint:
        os.environ |= {**buckets.KEYS, 'AWS_ENDPOINT_URL': endpoint, 'AWS_ALLOW_HTTP': 'true'}
        yield buckets.new_bucket()


def main() -> None:
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    places = parser.add_subparsers(dest='place', required=True)
    for name in ('folder', 'bucket'):
        place = places.add_parser(name)
        place.add_argument('count', type=int)
        if name == 'folder':
            place.add_argument('folder', type=Path)
        place.add_argument('out', type=Path)
    words = parser.parse_args()
    counted: Counter[str] = Counter()
    if words.place == 'folder':
        shutil.rmtree(words.folder, ignore_errors=True)
        opened: AbstractContextManager[Root] = nullcontext(words.folder.absolute())
    else:
        opened = _serve_bucket(counted)
    with print_fatal('large_store'), opened as root:
        write_store(root, words.count)
        for figures in measure_surveys(root, words.count, counted.total):
            print(figures, flush=True)
            append_rows(words.out, [figures])


if __name__ == '__main__':
    main()
