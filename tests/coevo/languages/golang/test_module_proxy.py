"""The module proxy of a sandbox: versions as of a day, and nothing but what the protocol has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

import pytest

from coevo.languages.golang.module_listing import DatedVersions, ModuleProxy
from coevo.languages.golang.module_store import ModuleStore, parse_proxy_path
from coevo.languages.golang.toolchains import ChecksumDatabase, GoSettings
from coevo.model.errors import Transient
from coevo.sandboxes.read_only_proxy import ProxyAnswer
from coevo.storage.fetching import Fetcher
from tests.coevo.languages.golang.module_server import MODULE, ModuleServer, module_server, packed


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleServer]:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    with module_server() as served:
        yield served


def store_of(*servers: ModuleServer) -> ModuleStore:
    return ModuleStore([server.url for server in servers], Fetcher(tries=2, pause=0.01))


def dated(server: ModuleServer, year: int) -> DatedVersions:
    return DatedVersions(store_of(server), datetime(year, 6, 1, tzinfo=UTC))


def answer(server: ModuleServer, target: str, database: str = 'sums.example') -> ProxyAnswer:
    settings = GoSettings(
        proxies=(server.url,),
        checksum_database=ChecksumDatabase(name=database, url=f'{server.url}/direct'),
        variables={},
    )
    store = store_of(server)
    proxy = ModuleProxy(store=store, dates=DatedVersions(store, None), settings=settings)
    return proxy.answer_request(target, Message())


@pytest.mark.parametrize(
    ('year', 'expected'),
    [
        (2017, []),
        (2019, ['v0.9.0', 'v0.10.0']),
        (2022, ['v0.9.0', 'v0.10.0', 'v1.0.0-rc.1', 'v1.0.0']),
    ],
)
def test_module_version_of_a_later_day_is_not_offered(
    server: ModuleServer, year: int, expected: list[str]
) -> None:
    for version, published in (
        ('v1.0.0', 2021),
        ('v0.9.0', 2018),
        ('v0.10.0', 2019),
        ('v1.0.0-rc.1', 2020),
    ):
        server.add(version, published)
    assert dated(server, year).list_versions(MODULE) == expected


def test_latest_version_is_offered_if_it_is_old_enough_or_the_list_is_empty(
    server: ModuleServer,
) -> None:
    server.add('v0.9.0', 2018)
    server.add('v1.0.0', 2024)
    server.files['b.example/none/@v/list'] = b''
    server.files['b.example/none/@latest'] = server.files[f'{MODULE}/@latest']
    assert dated(server, 2020).find_latest_info(MODULE) is None
    assert dated(server, 2020).find_latest_info('b.example/none') is not None
    assert dated(server, 2025).find_latest_info(MODULE) is not None


def test_module_younger_than_the_day_has_its_oldest_version_as_latest(server: ModuleServer) -> None:
    server.add('v0.9.0', 2018)
    server.add('v1.0.0', 2024)
    then = dated(server, 2012)
    assert then.list_versions(MODULE) == []
    assert json.loads(then.find_latest_info(MODULE) or b'{}')['Version'] == 'v0.9.0'


@pytest.mark.parametrize('info', [b'', b'[]', b'{"Time": 7}', b'[' * 100_000, b'{"Time": "soon"}'])
def test_unreadable_date_does_not_exclude_a_module_version(
    server: ModuleServer, info: bytes
) -> None:
    server.add('v1.0.0', 2018)
    server.files[f'{MODULE}/@v/v1.0.0.info'] = info
    assert dated(server, 2012).list_versions(MODULE) == ['v1.0.0']


def test_module_that_no_proxy_has_answers_404(server: ModuleServer) -> None:
    for path in (
        'gone.example/x/@v/list',
        'gone.example/x/@latest',
        'gone.example/x/@v/v1.0.0.zip',
    ):
        assert answer(server, f'/{path}').status == 404


@pytest.mark.parametrize(
    'target',
    [
        '/../../etc/passwd',
        '/%2e%2e/%2e%2e/etc/passwd',
        f'/{MODULE}/@v/../../../../x.zip',
        f'/{MODULE}/@v/v1.0.0.exe',
        f'/{MODULE}/@v/v1.0.0.zip/x',
        f'/{MODULE}/@v/v1.0.0%00.zip',
        '//etc/passwd',
        f'/{"a" * 300}/@v/v1.0.0.zip',
        f'/{"a/" * 900}b/@v/v1.0.0.zip',
        '/@v/v1.0.0.zip',
        '/http://elsewhere.example/@v/list',
        '/sumdb/other.example/latest',
        '/sumdb/sums.example',
    ],
)
def test_request_outside_the_proxy_protocol_answers_404(
    server: ModuleServer, tmp_path: Path, target: str
) -> None:
    server.add('v1.0.0', 2020)
    assert answer(server, target).status == 404
    assert not list(tmp_path.glob('**/*.zip'))


def test_module_file_is_downloaded_once_for_all_runs(server: ModuleServer) -> None:
    server.add('v1.0.0', 2020)
    for _ in range(2):
        body = answer(server, f'/{MODULE}/@v/v1.0.0.zip').body
        assert isinstance(body, Path)
        assert body.read_bytes() == server.files[f'{MODULE}/@v/v1.0.0.zip']
    assert server.asked == [f'{MODULE}/@v/v1.0.0.zip']


def test_faulty_proxy_raises_a_transient_error(server: ModuleServer) -> None:
    server.add('v1.0.0', 2020)
    server.status = 503
    for path in ('@v/list', '@latest', '@v/v1.0.0.zip', '@v/main.info'):
        with pytest.raises(Transient):
            answer(server, f'/{MODULE}/{path}')


def test_next_proxy_is_used_if_the_first_lacks_a_file_or_fails(server: ModuleServer) -> None:
    server.add('v1.0.0', 2020)
    with module_server() as empty:
        assert store_of(empty, server).fetch_text(f'{MODULE}/@v/list') == b'v1.0.0\n'
        empty.status = 500
        assert store_of(empty, server).fetch_text(f'{MODULE}/@v/list') == b'v1.0.0\n'
        with pytest.raises(Transient):
            store_of(empty, server).fetch_text('gone.example/x/@v/list')


def test_checksum_database_is_queried_directly_if_no_proxy_supports_it(
    server: ModuleServer,
) -> None:
    server.files['direct/lookup/x@v1'] = b'own'
    assert answer(server, '/sumdb/sums.example/supported').status == 200
    assert answer(server, '/sumdb/sums.example/lookup/x@v1').body == b'own'
    server.files['sumdb/sums.example/supported'] = b''
    server.files['sumdb/sums.example/lookup/x@v1'] = b'passed on'
    assert answer(server, '/sumdb/sums.example/lookup/x@v1').body == b'passed on'


def test_proxy_path_with_escaped_capital_letters_is_parsed() -> None:
    file = parse_proxy_path('github.com/!burnt!sushi/toml/@v/v1.2.0+incompatible.mod')
    assert file is not None
    assert (file.module, file.version, file.kind) == (
        *('github.com/!burnt!sushi/toml', 'v1.2.0+incompatible', 'mod'),
    )


def laid_out(server: ModuleServer, store: ModuleStore) -> tuple[Path, list[str]]:
    """Return where the module lies, and the hashes that were asked about."""
    file = parse_proxy_path(f'{MODULE}/@v/v1.0.0.zip')
    assert file is not None
    place = store.fetch_file(file)
    assert place is not None
    hashes: list[str] = []

    def is_expected(digest: str) -> bool:
        hashes.append(digest)
        return True

    store.unpack_module(MODULE, 'v1.0.0', is_expected)
    return place.parents[5] / f'{MODULE}@v1.0.0', hashes


def test_module_is_unpacked_after_its_hash_is_checked(server: ModuleServer) -> None:
    server.add('v1.0.0', 2020, extra={'deep/x_test.go': 'package deep\n'})
    folder, hashes = laid_out(server, store_of(server))
    files = {path.relative_to(folder).as_posix() for path in folder.rglob('*') if path.is_file()}
    assert files == {'go.mod', 'shelf.go', 'deep/x_test.go'}
    assert len(hashes) == 1
    assert hashes[0].startswith('h1:')


def test_module_with_an_unexpected_hash_is_not_unpacked(server: ModuleServer) -> None:
    server.add('v1.0.0', 2020)
    store = store_of(server)
    file = parse_proxy_path(f'{MODULE}/@v/v1.0.0.zip')
    assert file is not None
    place = store.fetch_file(file)
    assert place is not None
    store.unpack_module(MODULE, 'v1.0.0', lambda digest: False)
    assert not (place.parents[5] / f'{MODULE}@v1.0.0').exists()


@pytest.mark.parametrize(
    'name',
    [
        '../../../../victim',
        '/etc/victim',
        f'{MODULE}@v1.0.0/../../victim',
        f'{MODULE}@v1.0.0/{"a" * 300}',
        f'{MODULE}@v1.0.0/a\nb',
        f'{MODULE}@v1.0.1/elsewhere',
        'elsewhere',
    ],
)
def test_zip_with_a_file_name_outside_its_module_is_not_unpacked(
    server: ModuleServer, tmp_path: Path, name: str
) -> None:
    server.add('v1.0.0', 2020)
    server.files[f'{MODULE}/@v/v1.0.0.zip'] = packed(
        {f'{MODULE}@v1.0.0/go.mod': 'module x\n', name: 'x'}
    )
    folder, hashes = laid_out(server, store_of(server))
    assert (folder.exists(), hashes) == (False, [])
    assert not list(tmp_path.rglob('victim'))


@pytest.mark.parametrize('content', [b'', b'PK', b'no zip', b'\0' * 4096])
def test_invalid_zip_is_not_unpacked(server: ModuleServer, content: bytes) -> None:
    server.add('v1.0.0', 2020)
    server.files[f'{MODULE}/@v/v1.0.0.zip'] = content
    folder, hashes = laid_out(server, store_of(server))
    assert (folder.exists(), hashes) == (False, [])
