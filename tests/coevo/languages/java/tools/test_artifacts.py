"""The artifact proxy between a client on its socket and repositories on the loopback."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from coevo.languages.java.tools.artifacts import (
    ArtifactKind,
    ArtifactProxy,
    Upstream,
    list_upstreams,
    parse_request_path,
)
from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.upstreams import parse_upstreams
from coevo.model.errors import Fatal
from coevo.sandboxes.read_only_proxy import shorten_address
from coevo.sandboxes.sandbox import Job, Limits, Mount, open_sandbox

JAR = '/org/example/lib/1.0/lib-1.0.jar'
METADATA = '/org/example/lib/maven-metadata.xml'


@dataclass
class Repository:
    """A package repository: what it has, how it misbehaves first, what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)  # statuses; 0: a cut body
    asked: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ''

    def add(self, path: str, body: bytes) -> None:
        self.files[path] = body
        self.files[f'{path}.sha1'] = hashlib.sha1(body).hexdigest().encode() + b'  lib\n'

    @property
    def upstream(self) -> Upstream:
        return Upstream(self.url)


def handler(repository: Repository) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:
            repository.asked.append(self.path)
            body = repository.files.get(self.path)
            faults = repository.faults.get(self.path)
            status = faults.pop(0) if faults else 200 if body is not None else 404
            self.send_response(status or 200)
            self.send_header('Content-Length', str(len(body or b'')))
            for name, value in repository.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if body is not None:
                self.wfile.write(body if status else body[: len(body) // 2])
            self.close_connection = not status

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    return Handler


def serve(repository: Repository, stack: ExitStack) -> Repository:
    server = ThreadingHTTPServer(('127.0.0.1', 0), handler(repository))
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    repository.url = f'http://127.0.0.1:{server.server_port}'
    return repository


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def repository(stack: ExitStack) -> Repository:
    found = serve(Repository(), stack)
    found.add(JAR, b'jar')
    return found


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__('proxy', timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        with shorten_address(self._path) as address:
            self.sock.connect(address)  # waits for its turn, as it would not with a timeout
        self.sock.settimeout(60)


def proxy_to(stack: ExitStack, folder: Path, *repositories: Repository) -> ArtifactProxy:
    name = f'socket-{len(list(folder.glob("socket-*")))}'
    found = [repository.upstream for repository in repositories]
    return stack.enter_context(ArtifactProxy(found, folder / 'shared', folder / name, pause=0.001))


@pytest.fixture
def proxy(stack: ExitStack, folder: Path, repository: Repository) -> ArtifactProxy:
    return proxy_to(stack, folder, repository)


def ask(proxy: ArtifactProxy, path: str, method: str = 'GET') -> tuple[int, bytes]:
    connection = Connection(proxy.socket)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def stored(folder: Path) -> list[str]:
    shared = folder / 'shared'
    return sorted(str(path.relative_to(shared)) for path in shared.rglob('*') if path.is_file())


# -- what is served ------------------------------------------------------------------------------


def test_release_is_fetched_once_and_stored(
    stack: ExitStack, folder: Path, repository: Repository, proxy: ArtifactProxy
) -> None:
    assert ask(proxy, JAR) == (200, b'jar')
    assert stored(folder) == [JAR[1:]]
    repository.add(JAR, b'other')
    assert ask(proxy, JAR) == (200, b'jar')
    assert ask(proxy_to(stack, folder, repository), JAR) == (200, b'jar')
    assert repository.asked == [JAR, f'{JAR}.sha1']
    assert proxy.trouble == 0


def test_proxy_folder_may_have_a_longer_path_than_a_socket_address(
    stack: ExitStack, folder: Path, repository: Repository
) -> None:
    deep = folder / ('x' * 120)
    deep.mkdir()
    assert ask(proxy_to(stack, deep, repository), JAR) == (200, b'jar')


def test_stored_release_is_readable_by_every_user(folder: Path, proxy: ArtifactProxy) -> None:
    before = os.umask(0o077)
    try:
        ask(proxy, JAR)
    finally:
        os.umask(before)
    file = folder / 'shared' / JAR[1:]
    assert file.stat().st_mode & 0o777 == 0o644
    assert {parent.stat().st_mode & 0o777 for parent in list(file.parents)[:4]} == {0o755}


def test_proxy_knows_the_sha256_of_served_releases(proxy: ArtifactProxy) -> None:
    ask(proxy, JAR)
    digest = hashlib.sha256(b'jar').hexdigest()
    assert proxy.sha256_of_served_releases == {JAR[1:]: digest}
    assert proxy.get_sha256(JAR[1:]) == digest
    with pytest.raises(Fatal, match='not among the stored artifacts'):
        proxy.get_sha256('org/example/lib/2.0/lib-2.0.jar')


@pytest.mark.parametrize('algorithm', ['md5', 'sha1', 'sha256', 'sha512'])
def test_served_checksum_matches_the_served_file(proxy: ArtifactProxy, algorithm: str) -> None:
    expected = hashlib.new(algorithm, b'jar').hexdigest().encode()
    assert ask(proxy, f'{JAR}.{algorithm}') == (200, expected)
    assert ask(proxy, JAR) == (200, b'jar')


def test_head_request_gets_no_body(proxy: ArtifactProxy) -> None:
    connection = Connection(proxy.socket)
    for method, body in (('HEAD', b''), ('GET', b'jar')):
        connection.request(method, JAR)
        response = connection.getresponse()
        assert (response.status, response.headers['Content-Length']) == (200, '3')
        assert response.read() == body
    connection.close()


def test_repositories_are_asked_in_order(
    stack: ExitStack, folder: Path, repository: Repository
) -> None:
    second = serve(Repository(), stack)
    second.add(JAR, b'of the second')
    only = '/org/example/only/1/only-1.pom'
    second.add(only, b'pom')
    proxy = proxy_to(stack, folder, repository, second)
    assert ask(proxy, JAR) == (200, b'jar')
    assert ask(proxy, only) == (200, b'pom')
    assert repository.asked == [JAR, f'{JAR}.sha1', only]
    assert second.asked == [only, f'{only}.sha1']


def test_repository_below_a_path_with_a_password_is_used(
    stack: ExitStack, folder: Path, repository: Repository
) -> None:
    repository.add(f'/deep/er{JAR}', b'deep')
    upstream = Upstream(repository.url.replace('//', '//user:secret@') + '/deep/er')
    proxy = stack.enter_context(ArtifactProxy([upstream], folder / 'shared', folder / 'socket'))
    assert ask(proxy, JAR) == (200, b'deep')


def test_absent_artifact_is_requested_only_once(
    repository: Repository, proxy: ArtifactProxy
) -> None:
    missing = '/org/example/lib/2.0/lib-2.0.jar'
    assert [ask(proxy, missing)[0] for _ in range(3)] == [404] * 3
    assert repository.asked == [missing]
    assert proxy.trouble == 0


def test_metadata_is_fresh_for_each_run_and_never_stored(
    stack: ExitStack, folder: Path, repository: Repository, proxy: ArtifactProxy
) -> None:
    repository.add(METADATA, b'<one/>')
    assert ask(proxy, METADATA) == (200, b'<one/>')
    repository.add(METADATA, b'<two/>')
    assert ask(proxy, METADATA) == (200, b'<one/>')
    assert ask(proxy, f'{METADATA}.sha1')[1] == hashlib.sha1(b'<one/>').hexdigest().encode()
    assert ask(proxy_to(stack, folder, repository), METADATA) == (200, b'<two/>')
    assert stored(folder) == []


def test_snapshot_artifacts_are_refused_and_recorded(
    repository: Repository, proxy: ArtifactProxy
) -> None:
    folder = 'org/example/lib/1.1-SNAPSHOT'
    paths = (f'{folder}/maven-metadata.xml', f'{folder}/lib-1.1-20200101.101010-1.jar')
    for path in paths:
        repository.add(f'/{path}', b'snapshot')
        assert ask(proxy, f'/{path}')[0] == 404
    assert proxy.refused_snapshot_paths == frozenset(paths)
    assert repository.asked == []


# -- trouble -------------------------------------------------------------------------------------


def test_temporary_trouble_is_retried(repository: Repository, proxy: ArtifactProxy) -> None:
    repository.faults[JAR] = [503, 429, 0]
    assert ask(proxy, JAR) == (200, b'jar')
    assert proxy.trouble == 0


@pytest.mark.parametrize('status', [500, 403, 0])
def test_lasting_trouble_is_counted_and_nothing_is_stored(
    repository: Repository, proxy: ArtifactProxy, folder: Path, status: int
) -> None:
    repository.faults[JAR] = [status] * 4
    assert ask(proxy, JAR)[0] == 504
    assert proxy.trouble == 1
    assert stored(folder) == []
    assert ask(proxy, JAR) == (200, b'jar')  # trouble is not remembered as absence


def test_artifact_with_a_wrong_checksum_is_not_stored_and_counts_as_trouble(
    repository: Repository, proxy: ArtifactProxy, folder: Path
) -> None:
    repository.files[f'{JAR}.sha1'] = b'0' * 40
    assert ask(proxy, JAR)[0] == 504
    assert (proxy.trouble, stored(folder)) == (1, [])


def test_checksum_in_the_response_header_saves_a_request(
    repository: Repository, proxy: ArtifactProxy
) -> None:
    repository.headers['X-Checksum-SHA1'] = hashlib.sha1(b'jar').hexdigest()
    assert ask(proxy, JAR) == (200, b'jar')
    assert repository.asked == [JAR]
    repository.add('/g/a/1/a-1.jar', b'other')
    assert ask(proxy, '/g/a/1/a-1.jar')[0] == 504


def test_artifact_of_a_repository_without_checksums_is_served(
    repository: Repository, proxy: ArtifactProxy
) -> None:
    del repository.files[f'{JAR}.sha1']
    assert ask(proxy, JAR) == (200, b'jar')


def test_unreachable_repository_is_trouble_unless_another_has_the_artifact(
    stack: ExitStack, folder: Path, repository: Repository
) -> None:
    with socket.create_server(('127.0.0.1', 0)) as closed:
        nobody = Repository(url=f'http://127.0.0.1:{closed.getsockname()[1]}')
    proxy = proxy_to(stack, folder, nobody, repository)
    assert ask(proxy, JAR) == (200, b'jar')
    assert proxy.trouble == 0
    assert ask(proxy, '/org/example/lib/2.0/lib-2.0.jar')[0] == 504
    assert proxy.trouble == 1


def test_http_proxy_of_a_repository_is_used(
    stack: ExitStack, folder: Path, repository: Repository
) -> None:
    """A proxy is asked for the whole URL, of a host that only it knows."""
    repository.files[f'http://nowhere.invalid{JAR}'] = b'jar'
    upstream = Upstream('http://nowhere.invalid', proxy=repository.url)
    proxy = stack.enter_context(
        ArtifactProxy([upstream], folder / 'shared', folder / 'socket', pause=0.001)
    )
    assert ask(proxy, JAR) == (200, b'jar')


# -- clients that misbehave, many clients --------------------------------------------------------


@pytest.mark.parametrize(
    'path',
    [
        '/../secret',
        '/org/example/../../lib/1.0/lib-1.0.jar',
        '/org/example/%2e%2e/lib/1.0/lib-1.0.jar',
        '/org/example%2flib/1.0//lib-1.0.jar',
        '/org/example/lib/1.0/lib-1.0.jar?x=1',
        '/org/example/lib/1.0/other-1.0.jar',
        '/org/example/lib/1.0/',
        '/lib-1.0.jar',
        '/.coevo/lib/1.0/lib-1.0.jar',
        '/org/example/lib/1.0/lib-1.0.jar%00',
        '/org/example/lib/1.0/lib-1.0.jar%0d%0aX:y',
        'http://elsewhere.invalid/org/example/lib/1.0/lib-1.0.jar',
        '/' + 'a/' * 600 + 'a/1/a-1.jar',
    ],
)
def test_unclean_request_path_is_rejected(
    repository: Repository, proxy: ArtifactProxy, path: str
) -> None:
    assert ask(proxy, path)[0] == 400
    assert repository.asked == []


@pytest.mark.parametrize('method', ['PUT', 'POST', 'DELETE', 'CONNECT'])
def test_writing_request_method_is_rejected(
    repository: Repository, proxy: ArtifactProxy, method: str
) -> None:
    assert ask(proxy, JAR, method)[0] == 501
    assert repository.asked == []


def test_request_path_tells_the_kind_of_artifact() -> None:
    for path, kind in (
        ('/a/1/a-1.jar', None),
        ('/g/a/1/a-1.jar', ArtifactKind.RELEASE),
        ('/g/h/a_2.13/1.0+b~c/a_2.13-1.0+b~c-tests.tar.gz.asc', ArtifactKind.RELEASE),
        ('/g/a/1.0%2Bb/a-1.0%2Bb.pom', ArtifactKind.RELEASE),
        ('/g/maven-metadata.xml', ArtifactKind.METADATA),
        ('/g/a/1-SNAPSHOT/a-1-SNAPSHOT.pom', ArtifactKind.SNAPSHOT),
    ):
        resource = parse_request_path(path)
        assert (resource.kind if resource else None) == kind


def test_many_clients_share_one_download(repository: Repository, proxy: ArtifactProxy) -> None:
    body = os.urandom(1 << 20)
    repository.add(JAR, body)
    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda _: ask(proxy, JAR), range(100)))
    assert answers == [(200, body)] * 100
    assert repository.asked == [JAR, f'{JAR}.sha1']


def test_two_proxies_share_a_folder(
    stack: ExitStack, folder: Path, repository: Repository, proxy: ArtifactProxy
) -> None:
    other = proxy_to(stack, folder, repository)
    paths = [f'/org/example/lib/{n}/lib-{n}.jar' for n in range(20)]
    for path in paths:
        repository.add(path, path.encode())
    with ThreadPoolExecutor(8) as clients:
        asked = [(one, path) for path in paths for one in (proxy, other)]
        answers = list(clients.map(lambda pair: ask(*pair), asked))
    assert answers == [(200, path.encode()) for _, path in asked]
    assert stored(folder) == sorted(path[1:] for path in paths)


def test_disconnected_clients_do_not_block_the_proxy(proxy: ArtifactProxy) -> None:
    for _ in range(100):  # more than the proxy serves at a time
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(proxy.socket))
            client.sendall(b'GET / HT')
    assert ask(proxy, JAR) == (200, b'jar')


# -- Maven's own repositories --------------------------------------------------------------------

MODEL = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<repositories>
  <repository><id>inner</id><url>https://inner.invalid/a/</url></repository>
  <repository><id>central</id><url>https://central.invalid</url></repository>
  <repository><id>plain</id><url>http://plain.invalid</url></repository>
  <repository><id>nightly</id><url>https://nightly.invalid</url>
    <releases><enabled>false</enabled></releases></repository>
  <repository><id>disk</id><url>file:///srv/maven</url></repository>
</repositories>
<pluginRepositories>
  <pluginRepository><id>central</id><url>https://central.invalid</url></pluginRepository>
  <pluginRepository><id>plugins</id><url>https://plugins.invalid</url></pluginRepository>
</pluginRepositories></project>"""
BLOCKER = """<mirror><id>b</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url>
<blocked>true</blocked></mirror>"""
ALL = ('https://inner.invalid/a', 'https://central.invalid', 'https://plugins.invalid')


def settings(*mirrors: str, proxies: str = '') -> str:
    return (
        '<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">'
        f'<proxies>{proxies}</proxies><mirrors>{"".join(mirrors)}{BLOCKER}</mirrors></settings>'
    )


def mirror(pattern: str) -> str:
    return f'<mirror><mirrorOf>{pattern}</mirrorOf><url>https://m.invalid/x/</url></mirror>'


M = 'https://m.invalid/x'


@pytest.mark.parametrize(
    ('mirrors', 'urls'),
    [
        ((), ALL),
        (('*',), (M,)),
        (('external:*',), (M,)),
        (('central',), (ALL[0], M, ALL[2])),
        (('central,plugins',), (ALL[0], M)),
        (('*,!inner',), (ALL[0], M)),
        (('external:http:*',), (ALL[0], ALL[1], M, ALL[2])),
        (('named-by-poms-alone',), (*ALL, M)),
    ],
)
def test_mirrors_of_the_settings_replace_their_repositories(
    mirrors: tuple[str, ...], urls: tuple[str, ...]
) -> None:
    found = parse_upstreams(MODEL, settings(*map(mirror, mirrors)))
    assert tuple(upstream.url for upstream in found) == urls


def test_http_proxies_of_the_settings_apply_to_their_repositories() -> None:
    proxies = """<proxy><active>false</active><host>off.invalid</host></proxy>
    <proxy><host>p.invalid</host><port>3128</port>
    <nonProxyHosts>inner.*|localhost</nonProxyHosts></proxy>"""
    found = {u.url: u.proxy for u in parse_upstreams(MODEL, settings(proxies=proxies))}
    assert found == {
        ALL[0]: None,
        ALL[1]: 'http://p.invalid:3128',
        ALL[2]: 'http://p.invalid:3128',
    }


def _written(folder: Path) -> dict[Path, int]:
    """When each file was last written; reading them is no writing."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob('*')}


@pytest.mark.slow
@pytest.mark.jvm
def test_repositories_of_maven_are_listed_once_and_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    monkeypatch.setenv('COEVO_MAVEN_REPOSITORIES', 'https://own.invalid/m/\thttps://two.invalid')
    found = list_upstreams()
    assert found[-2:] == (Upstream('https://own.invalid/m'), Upstream('https://two.invalid'))
    assert all(upstream.url.startswith('http') for upstream in found[:-2])
    assert len(found) > 2
    before = _written(tmp_path / 'cache')
    assert list_upstreams() == found
    assert _written(tmp_path / 'cache') == before


# -- through the relay ---------------------------------------------------------------------------

CLIENT = """
import java.net.URI;
import java.net.http.*;

public class Client {
    public static void main(String[] a) throws Exception {
        String base = "http://127.0.0.1:" + a[0];
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 1; i < a.length; i++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(base + a[i])).build();
            var response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            System.out.println(response.statusCode() + " " + response.body().length);
        }
    }
}
"""


RELAYED = """
mkfifo /tmp/port
"$0" -cp /c coevo.relay.Relay /run/s >/tmp/port &
read -r port </tmp/port
exec "$0" -cp /c Client "$port" "$@"
"""


@pytest.mark.jvm
def test_jvm_in_the_sandbox_downloads_through_the_relay(
    folder: Path, repository: Repository, proxy: ArtifactProxy
) -> None:
    large = '/org/example/large/1/large-1.jar'
    repository.add(large, bytes(3 << 20))
    home = choose_jdk_for_tools(find_jdks()).home
    (folder / 'Client.java').write_text(CLIENT)
    relay = Path(__file__).parents[5] / 'coevo/languages/java/jvm/relay/Relay.java'
    classes = folder / 'classes'
    subprocess.run([home / 'bin/javac', '-d', classes, relay, folder / 'Client.java'], check=True)
    job = Job(
        argv=('/bin/sh', '-c', RELAYED, f'{home}/bin/java', JAR, large, '/x/y/1/y-1.jar'),
        mounts=(Mount(source=classes, target='/c'), Mount(source=home, target=str(home))),
        sockets=(Mount(source=proxy.socket, target='/run/s'),),
        limits=Limits(
            cpu_seconds=60,
            wall_seconds=120,
            memory_bytes=5 << 30,
            processes=256,
            file_bytes=1 << 20,
            disk_bytes=1 << 20,
        ),
    )
    sandbox = open_sandbox('bubblewrap')
    with sandbox.start(job) as process:
        output = process.stdout.read().decode()
        assert (process.wait(timeout=60), process.get_last_error_output()) == (0, '')
    sandbox.close()
    assert output.split() == ['200', '3', '200', str(3 << 20), '404', '0']
