"""Crawls where a kill comes in between, and in an object store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows.crawling.crawls import list_stamps, load_latest_candidates, load_repositories
from flows.discovery import crawl
from tests import buckets
from tests.flows.crawling import SECRET, contents, crawled, github, many, options
from tests.github_server import Fault

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 2, 1, 3, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize('path', ['/search', '/graphql'])
def test_a_killed_crawl_leaves_no_partial_crawl(tmp_path: Path, path: str) -> None:
    store, reached = tmp_path / 'store', threading.Event()
    with github(*many(5)) as server:
        undisturbed = crawled(server, tmp_path / 'calm', now=NOW)
        server.faults.append(Fault(kind='hang', path=path, seconds=60))
        server.after_fault = reached.set
        environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'GITHUB_TOKEN': f'{SECRET}1'}
        command = [
            Path(sys.executable).parent / 'coevo',
            'pipeline',
            'crawl',
            '--store',
            str(store),
        ]
        with subprocess.Popen([*command, '--api', server.api], env=environment) as process:
            assert reached.wait(timeout=60)
            process.send_signal(signal.SIGKILL)
        assert load_latest_candidates(store) == ()
        report = crawled(server, store, now=NOW)
    assert contents(report.folder) == contents(undisturbed.folder)


def test_crawl_tables_without_their_completion_mark_are_ignored(tmp_path: Path) -> None:
    with github(*many(2)) as server:
        report = crawled(server, tmp_path, now=NOW)
        (Path(report.folder) / 'crawl.json').unlink()
        assert (list_stamps(tmp_path), load_latest_candidates(tmp_path)) == ((), ())
        again = crawled(server, tmp_path, now=NOW)
    assert again.stamp == report.stamp
    assert len(load_latest_candidates(tmp_path)) == 2


def test_a_crawl_is_written_to_and_read_from_an_object_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with buckets.serving() as endpoint, github(*many(2)) as server:
        buckets.connect(endpoint, monkeypatch)
        bucket = buckets.new_bucket()
        first = crawl(options(server, bucket))
        server.world[2].stars = 7
        second = crawl(options(server, bucket))
        assert list_stamps(bucket) == (first.stamp, second.stamp)
        assert second.folder == f'{bucket}/crawls/{second.stamp}'
        assert [one.github_id for one in load_latest_candidates(bucket)] == [1]
        assert len(load_repositories(bucket, second.stamp)) == 2
