from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.git_server import Fault, GitBackend, serving
from tests.repos import CLEAN, commit, git, init


@pytest.fixture
def backend(tmp_path: Path) -> GitBackend:
    source = init(tmp_path / 'work')
    commit(source, 'first', {'big.bin': b''.join(b'%064d' % (i**9) for i in range(20_000))})
    (tmp_path / 'hosted' / 'octo').mkdir(parents=True)
    git(source, 'clone', '-q', '--mirror', '.', str(tmp_path / 'hosted/octo/cat.git'))
    return GitBackend(tmp_path / 'hosted')


@pytest.fixture
def url(backend: GitBackend) -> Iterator[str]:
    with serving(backend) as url:
        yield url


def clone(url: str, target: Path, *options: str) -> str:
    """Git's complaints; empty if there are none."""
    command = ['git', *options, 'clone', '-q', '--bare', url, str(target)]
    done = subprocess.run(command, capture_output=True, env=CLEAN, check=False, text=True)
    return done.stderr if done.returncode else ''


def test_a_repository_is_cloned_with_and_without_its_suffix(url: str, tmp_path: Path) -> None:
    for name in ('cat', 'cat.git'):
        assert not clone(f'{url}/octo/{name}', tmp_path / name)
        git(tmp_path / name, 'fsck', '--full', '--strict')
    assert 'not found' in clone(f'{url}/octo/dog', tmp_path / 'dog')


def test_server_accepts_compressed_and_chunked_requests_with_many_refs(
    backend: GitBackend, url: str, tmp_path: Path
) -> None:
    hosted = backend.folder / 'octo/cat.git'
    rev = git(hosted, 'rev-parse', 'HEAD')
    tree = git(hosted, 'rev-parse', 'HEAD^{tree}')
    stream = b''.join(
        b'commit refs/heads/b%d\ncommitter A <a@b.c> %d +0000\ndata 0\nfrom %s\nM 040000 %s \n\n'
        % (i, i, rev.encode(), tree.encode())
        for i in range(1500)
    )
    git(hosted, 'fast-import', '--quiet', stdin=stream)
    assert not clone(f'{url}/octo/cat', tmp_path / 'zipped')
    assert not clone(f'{url}/octo/cat', tmp_path / 'chunked', '-c', 'http.postBuffer=66000')
    for name in ('zipped', 'chunked'):
        assert git(tmp_path / name, 'for-each-ref') == git(hosted, 'for-each-ref')


@pytest.mark.parametrize('status', [403, 404, 503])
def test_server_refuses_with_the_status_of_an_injected_fault(
    backend: GitBackend, url: str, tmp_path: Path, status: int
) -> None:
    backend.faults.append(Fault(path='POST', status=status))
    assert str(status) in clone(f'{url}/octo/cat', tmp_path / 'refused')
    assert not clone(f'{url}/octo/cat', tmp_path / 'next')


def test_server_breaks_off_or_hangs_after_the_bytes_of_an_injected_fault(
    backend: GitBackend, url: str, tmp_path: Path
) -> None:
    backend.faults += [Fault(path='POST', after=50_000)]
    assert clone(f'{url}/octo/cat', tmp_path / 'cut')
    assert backend.sent < 50_500
    backend.faults += [Fault(path='POST', after=50_000, hang=True)]
    impatient = ('-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=1')
    assert clone(f'{url}/octo/cat', tmp_path / 'hung', *impatient)
    assert not clone(f'{url}/octo/cat', tmp_path / 'whole')


def test_another_server_mounts_the_git_backend_under_a_prefix(
    backend: GitBackend, tmp_path: Path
) -> None:
    backend.prefix = '/git'

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:
            assert backend.answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            at = f'http://127.0.0.1:{server.server_port}/git/octo/cat.git'
            assert not clone(at, tmp_path / 'mounted')
        finally:
            server.shutdown()
