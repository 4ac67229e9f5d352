"""A Gradle for tests, laid out of what Maven Central has of it: one jar with nearly all of its classes.

It is not the distribution that Gradle publishes, but for its classes: without Kotlin scripts, toolchains and
the compiler's own daemon (`FORKED` has javac run instead). No release may rest on what it builds.
"""

from __future__ import annotations

import re
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from coevo.languages.java.tools.upstreams import list_upstreams
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

VERSION = '8.5'
FORKED = """
allprojects {
    tasks.withType(JavaCompile) {
        options.fork = true
        options.forkOptions.executable = System.getProperty('java.home') + '/bin/javac'
    }
}
"""

_API = f'dev/gradleplugins/gradle-api/{VERSION}/gradle-api-{VERSION}.jar'
_GROOVY = '3.0.17'
_KOTLIN = 'kotlin-stdlib-1.9.20.jar'
_CORE = f'gradle-core-api-{VERSION}.jar'
_FIRST = 'gradle-base-annotations'  # what all others need
_MODULE = re.compile(r'([\w-]+)-classpath\.properties')
_OPENED = ('java.util', 'java.lang', 'java.lang.invoke', 'java.nio.charset', 'java.net')
_SCRIPT = f"""\
#!/bin/sh
lib=$(cd "$(dirname "$0")/../lib" && pwd)
exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -Xms256m -Xmx512m -XX:MaxMetaspaceSize=384m \\
    {' '.join(f'--add-opens=java.base/{name}=ALL-UNNAMED' for name in _OPENED)} \\
    --add-opens=java.prefs/java.util.prefs=ALL-UNNAMED -Dfile.encoding=UTF-8 \\
    -Dorg.gradle.native=false -Dorg.gradle.internal.instrumentation.agent=false \\
    -cp "$lib/*" org.gradle.launcher.GradleMain "$@"
"""


def gradle_home() -> Path:
    """Made once for a machine."""
    home = find_cache_folder() / 'tests' / f'gradle-{VERSION}'
    if not home.is_dir():
        with build_folder_once(home) as new:
            if new is not None:
                _lay_out(new)
    return home


def _lay_out(home: Path) -> None:
    library = home / 'lib'
    (library / 'plugins').mkdir(parents=True)
    (home / 'bin').mkdir()
    (home / 'bin' / 'gradle').write_text(_SCRIPT)
    (home / 'bin' / 'gradle').chmod(0o755)
    _fetch(_API, library / _CORE)
    with zipfile.ZipFile(library / _CORE) as jar:
        modules = {match[1]: jar.read(match[0]).decode() for match in _modules(jar)}
    for name in {name for text in modules.values() for name in _runtime(text)}:
        artifact = name.removesuffix(f'-{_GROOVY}.jar')
        if artifact.startswith('groovy'):
            _fetch(f'org/codehaus/groovy/{artifact}/{_GROOVY}/{name}', library / name)
        else:
            _write(library / name, 'empty', '')  # its classes are in the one jar, under other names
    _fetch(f'org/jetbrains/kotlin/kotlin-stdlib/1.9.20/{_KOTLIN}', library / _KOTLIN)
    modules[_FIRST] = f'{modules[_FIRST].rstrip()},{_CORE},{_KOTLIN}\n'
    modules['gradle-java-compiler-plugin'] = 'projects=\nruntime=\n'
    for name, text in modules.items():
        if name != 'gradle-core-api':
            _write(library / f'{name}-{VERSION}.jar', f'{name}-classpath.properties', text)


def _modules(jar: zipfile.ZipFile) -> Iterator[re.Match[str]]:
    return filter(None, map(_MODULE.fullmatch, jar.namelist()))


def _runtime(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith('runtime='):
            yield from filter(None, line.removeprefix('runtime=').split(','))


def _write(jar: Path, name: str, text: str) -> None:
    with zipfile.ZipFile(jar, 'w') as written:
        written.writestr(name, text)


def _fetch(path: str, target: Path) -> None:
    upstream = list_upstreams()[0]
    proxies = {'http': upstream.proxy, 'https': upstream.proxy} if upstream.proxy else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    with opener.open(f'{upstream.url}/{path}', timeout=600) as answer, target.open('wb') as file:
        while block := answer.read(1 << 20):
            file.write(block)
