"""The package repositories that this machine's Maven would use, with mirrors and proxies applied.

The other mirrors of its settings follow. The list comes from Maven itself (maven-help-plugin) and
is kept in the tool cache until one of Maven's settings files changes. Proxies that need a password
are not supported.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from coevo.model.errors import Fatal, Transient
from coevo.storage.disk import find_cache_folder

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
