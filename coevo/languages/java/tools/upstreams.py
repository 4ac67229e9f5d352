"""The package repositories that this machine's Maven would use, and downloads from them.

The other mirrors of its settings follow. The list comes from Maven itself (maven-help-plugin) and
is kept in the tool cache until one of Maven's settings files changes. Proxies that need a password
are not supported.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit, urlunsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from coevo.model.errors import Fatal, Transient
from coevo.storage.bounded_http import (
    HttpAnswer,
    HttpClient,
    HttpStatusError,
    ServerUnreachable,
    make_login_headers,
)
from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent
from coevo.storage.disk import find_cache_folder
from coevo.storage.fetching import retry

# The package repositories that this machine's Maven would use, with mirrors and proxies applied.

# Increase this when the interpretation of Maven's output changes.
_READ_BY = b'2'

_VARIABLE = 'COEVO_MAVEN_REPOSITORIES'
_HELP = 'org.apache.maven.plugins:maven-help-plugin:3.4.1'
_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>coevo</groupId><artifactId>repositories</artifactId><version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <artifactId>maven-help-plugin</artifactId><version>3.4.1</version>
    <executions>
      <execution><id>model</id><configuration><output>${basedir}/model</output></configuration>
      </execution>
      <execution><id>settings</id><configuration><output>${basedir}/settings</output>
      </configuration></execution>
    </executions>
  </plugin></plugins></build>
</project>
"""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A repository's URL without a trailing slash, and the HTTP proxy that leads to it."""

    url: str
    proxy: str | None = None


def list_upstreams() -> tuple[Upstream, ...]:
    """Return the repositories of this machine's Maven in order, then $COEVO_MAVEN_REPOSITORIES.

    Maven itself is asked only if the cached answer does not fit its settings. Each is returned
    once.
    """
    named = (Upstream(url.rstrip('/')) for url in os.environ.get(_VARIABLE, '').split())
    return tuple(dict.fromkeys((*_list_maven_upstreams(), *named)))


def _list_maven_upstreams() -> tuple[Upstream, ...]:
    maven = shutil.which('mvn')
    if maven is None:
        raise Fatal('Maven was not found on PATH; install it (apt install maven) and run again')
    cached = (
        find_cache_folder() / 'upstreams' / f'{_make_settings_key(maven)}.json'
    )  # own name: a digest
    if not cached.is_file():
        _save_upstreams(cached, _ask_maven(maven))
    return tuple(Upstream(**row) for row in json.loads(cached.read_text()))


def _make_settings_key(maven: str) -> str:
    """Return a key that changes with Maven's installation, settings and environment."""
    home = Path(maven).resolve().parent.parent
    digest = hashlib.sha256(_READ_BY + str(home).encode())
    for file in (home / 'conf/settings.xml', Path.home() / '.m2/settings.xml'):
        digest.update(b'\0' + (file.read_bytes() if file.is_file() else b''))
    for variable in ('MAVEN_ARGS', 'MAVEN_OPTS'):
        digest.update(b'\0' + os.environ.get(variable, '').encode())
    return digest.hexdigest()[:16]


def _save_upstreams(file: Path, found: tuple[Upstream, ...]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile('w', dir=file.parent, delete=False) as new:
        json.dump([dataclasses.asdict(upstream) for upstream in found], new)
        new.flush()
        os.fsync(new.fileno())
    Path(new.name).replace(file)  # own name: tempfile's


def _ask_maven(maven: str) -> tuple[Upstream, ...]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'pom.xml').write_text(_POM)
        goals = (f'{_HELP}:effective-pom@model', f'{_HELP}:effective-settings@settings')
        done = subprocess.run(
            [maven, '-B', '-q', '-N', *goals],
            cwd=folder,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise Transient(f'Maven could not say its repositories:\n{done.stdout[-2000:]}')
        return parse_upstreams((folder / 'model').read_text(), (folder / 'settings').read_text())


def parse_upstreams(model: str, settings: str) -> tuple[Upstream, ...]:
    """Return the repositories of an effective POM, by their mirrors and proxies, each once.

    `model` and `settings` are the XML that Maven prints for its POM and its settings. The other
    mirrors of the settings follow. Blocked repositories and those without releases are left out.
    """
    chosen = ElementTree.fromstring(settings)
    urls = _list_urls(ElementTree.fromstring(model), chosen)
    return tuple(Upstream(url, _find_proxy(url, chosen)) for url in dict.fromkeys(urls))


def _list_urls(model: Element, settings: Element) -> Iterator[str]:
    for path in ('{*}repositories/{*}repository', '{*}pluginRepositories/{*}pluginRepository'):
        for repository in model.findall(path):
            if _get_text(repository, 'releases/enabled') == 'false':
                continue
            yield from _list_usable_urls(_find_mirror(repository, settings) or repository)
    # A mirror may serve a repository that only POMs name; the person who configured it trusts it.
    for mirror in settings.findall('{*}mirrors/{*}mirror'):
        yield from _list_usable_urls(mirror)


def _list_usable_urls(place: Element) -> Iterator[str]:
    url = _get_text(place, 'url').rstrip('/')
    if urlsplit(url).scheme in ('http', 'https') and _get_text(place, 'blocked') != 'true':
        yield url


def _get_text(element: Element, path: str) -> str:
    text = element.findtext('/'.join(f'{{*}}{name}' for name in path.split('/')))
    return (text or '').strip()


# -- mirrors -------------------------------------------------------------------------------------


def _find_mirror(repository: Element, settings: Element) -> Element | None:
    """Return the mirror for a repository: an exact match by name first, then a match by pattern."""
    name, url = _get_text(repository, 'id'), _get_text(repository, 'url')
    mirrors = settings.findall('{*}mirrors/{*}mirror')
    for mirror in mirrors:
        if _get_text(mirror, 'mirrorOf') == name:
            return mirror
    return next(
        (m for m in mirrors if _covers_repository(_get_text(m, 'mirrorOf'), name, url)), None
    )


def _covers_repository(patterns: str, name: str, url: str) -> bool:
    parts = [part.strip() for part in patterns.split(',')]
    if f'!{name}' in parts:
        return False
    return any(_matches_pattern(part, name, url) for part in parts)


def _matches_pattern(pattern: str, name: str, url: str) -> bool:
    url_parts = urlsplit(url)
    external = url_parts.scheme != 'file' and url_parts.hostname not in ('localhost', '127.0.0.1')
    match pattern:
        case '*':
            return True
        case 'external:*':
            return external
        case 'external:http:*':
            return external and url_parts.scheme == 'http'
    return pattern == name


# -- proxies -------------------------------------------------------------------------------------


def _find_proxy(url: str, settings: Element) -> str | None:
    host = urlsplit(url).hostname or ''
    for proxy in settings.findall('{*}proxies/{*}proxy'):
        direct = _get_text(proxy, 'nonProxyHosts').replace(',', '|').split('|')
        if _get_text(proxy, 'active') == 'false' or any(
            fnmatchcase(host, pattern) for pattern in direct
        ):
            continue
        return f'http://{_get_text(proxy, "host")}:{_get_text(proxy, "port") or "8080"}'
    return None


# Fetch a file, whole and with the right checksum, from the first package repository that has it.
#
# If every repository reports the file as absent, that is a result; if one cannot answer, that is an
# infrastructure error.

_LARGEST_BYTES, _SECONDS = 1 << 30, 1800.0
_CHECKSUM_BYTES, _CHECKSUM_SECONDS = 64 << 10, 60.0
_ABSENT = (404, 410)
_SHA1 = re.compile(r'\b[0-9a-fA-F]{40}\b')


class ArtifactDownloads:
    """Downloads files from package repositories over persistent connections; thread-safe.

    `tries` is the number of tries for each repository, `pause` the seconds before the second one.
    """

    def __init__(self, upstreams: Sequence[Upstream], *, tries: int = 4, pause: float = 1) -> None:
        self._sources = [_ArtifactSource(upstream) for upstream in upstreams]
        self._tries, self._pause = tries, pause

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """Write a file of the first repository that has it to `file`; return whether one has it.

        Raises: Transient if a repository cannot answer and no other one has the file.
        """
        trouble: Transient | None = None
        for source in self._sources:
            try:
                if retry(partial(source.fetch, path, file), tries=self._tries, pause=self._pause):
                    return True
            except Transient as error:
                trouble = error
        if trouble is not None:
            raise trouble
        return False

    def close(self) -> None:
        """Close all connections."""
        for source in self._sources:
            source.close()


class _ArtifactSource:
    """One package repository."""

    def __init__(self, upstream: Upstream) -> None:
        url_parts = urlsplit(upstream.url)
        login, _, host = url_parts.netloc.rpartition('@')
        self._base = urlunsplit(url_parts._replace(netloc=host))
        # Maven's settings decide which proxy to use, not the environment.
        self._client = HttpClient(find_proxy=lambda _: upstream.proxy, connect_seconds=15)
        self._headers = make_login_headers(login)

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """Download a file once, after emptying `file`; return False if it does not exist.

        Raises: Transient if the repository fails or the checksum differs from the announced one.
        """
        file.seek(0)
        file.truncate()
        digest = hashlib.sha1(usedforsecurity=False)
        with self._open_answer(path, _SECONDS) as answer:
            if answer is None:
                return False
            announced = _find_sha1(answer.headers.get('x-checksum-sha1', ''))
            for block in answer.iterate_body(most=_LARGEST_BYTES):
                digest.update(block)
                file.write(block)
        announced = announced or self._fetch_announced_sha1(path)
        if announced not in (None, digest.hexdigest()):
            raise Transient(f'{path} arrived with another checksum than announced')
        return True

    def close(self) -> None:
        """Close the connections to this repository."""
        self._client.close()

    def _fetch_announced_sha1(self, path: str) -> str | None:
        """Download a file's `.sha1` file; return its SHA-1, None if it is missing or unusable."""
        with self._open_answer(f'{path}.sha1', _CHECKSUM_SECONDS) as answer:
            if answer is None:
                return None
            try:
                text = answer.read(most=_CHECKSUM_BYTES)
            except ContentTooLarge:
                return None
            return _find_sha1(text.decode(errors='replace'))

    @contextmanager
    def _open_answer(self, path: str, seconds: float) -> Iterator[HttpAnswer | None]:
        """Request a file; yield the answer with its body unread, None if there is no such file.

        Raises: Transient for any other status and if the repository cannot be reached.
        """
        url = f'{self._base}/{quote(path)}'
        try:
            with self._client.open(url, seconds=seconds, headers=self._headers) as answer:
                if answer.status != 200:
                    raise Transient(f'{path}: the repository answered {answer.status}')
                yield answer
        except HttpStatusError as error:
            if error.status not in _ABSENT:
                raise Transient(f'{path}: the repository answered {error.status}') from None
            yield None
        except UnreadableContent as error:
            raise Transient(f'{path} {error}') from None
        except ServerUnreachable as error:
            raise Transient(f'{path}: {error}') from None


def _find_sha1(text: str) -> str | None:
    """Return the first SHA-1 in a text, in lower case; None if there is none."""
    match = _SHA1.search(text)
    return match[0].lower() if match else None
