"""Whether MultiFileTest's projects load: each file imported, each project compiled (`load_javascript.py` has JavaScript).

Python's are imported with the folder of all projects and the project's own on the path, each file by a process of its
own, with the packages of this checkout and those of `_PACKAGES`, which uv brings. Java's are compiled with the libraries of `java_libraries.toml`, which Maven
brings: the published copies have neither jars nor a build file. Both in the sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy

from benchmarks.published_families import load_cell, load_javascript
from benchmarks.published_families.projects import projects
from benchmarks.published_families.sandboxed import output
from coevo.git.repository import Repository
from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.languages.java.tools.libraries import run_java_tool
from coevo.languages.python.uv import TRUST, find_program
from coevo.sandboxes.host_tools import run_tool
from coevo.sandboxes.sandbox import Mount

EXPECTED = {'python': '20 of 20', 'java': '19 of 19', 'javascript': '20 of 20'}
_LIBRARIES = Path(__file__).with_name('java_libraries.toml')
# Not pinned there either; rlcard, which one project needs, has no wheel, and nothing is built out of the sandbox.
_PACKAGES = ('Levenshtein', 'rapidfuzz')
_JDK = 17
_COMPILE = """\
for project in /in/projects/*; do
    mkdir -p /w/classes
    find $project -name '*.java' >/w/sources
    if "$JAVA_HOME"/bin/javac -nowarn -d /w/classes -cp '/in/libraries/*' @/w/sources 2>/w/said
    then echo "$(basename $project) loads"
    else echo "$(basename $project) $(grep -m 1 error: /w/said)"
    fi
    rm -rf /w/classes
done
"""


def table(data: Repository) -> dict[str, str]:
    """Projects of which all files load, and what the others say."""
    found = {
        'python': _python(data),
        'java': _java(data),
        'javascript': load_javascript.loads(data),
    }
    return {language: _told(dict(ends)) for language, ends in found.items()}


def _told(found: Mapping[str, str]) -> str:
    others = [f'{name}: {said}' for name, said in sorted(found.items()) if said != 'loads']
    return '; '.join([f'{len(found) - len(others)} of {len(found)}', *others])


def _python(data: Repository) -> Iterator[tuple[str, str]]:
    known = projects(data, 'python')
    paths = [path for files in known.values() for path in files if path.endswith('.py')]
    packages = Path(numpy.__file__).parents[1]
    with tempfile.TemporaryDirectory(prefix='coevo-') as name:
        folder = Path(name)
        _write(folder / 'projects', known)
        (folder / 'paths.json').write_text(json.dumps(paths))
        command = [find_program(), 'pip', 'install', '-q', '--no-deps', '--only-binary=:all:']
        command += [f'--target={folder}/packages', '--python=/usr/bin/python3', *_PACKAGES]
        failed = 'uv could not bring the packages; check its network and settings'
        run_tool(command, failed, environment={**os.environ, **TRUST})
        shutil.copy(load_cell.__file__, folder / 'cell.py')
        said = output(
            ('/usr/bin/python3', '-B', '/in/cell.py', '/in/projects', '/in/paths.json'),
            (Mount(source=folder, target='/in'), Mount(source=packages, target='/packages')),
            {'PYTHONPATH': '/packages:/in/packages', 'PYTHONHASHSEED': '0'},
        )
    outcomes = json.loads(said)
    for project, files in known.items():
        ends = (f'{path}: {end}' for path, end in outcomes.items() if path in files)
        yield project, next((end for end in ends if not end.endswith(': loads')), 'loads')


def _java(data: Repository) -> Iterator[tuple[str, str]]:
    jdk = next(one for one in find_jdks() if one.feature == _JDK)
    with tempfile.TemporaryDirectory(prefix='coevo-') as name:
        folder = Path(name)
        _write(folder / 'projects', projects(data, 'java'))
        _bring(folder / 'libraries', jdk)
        said = output(
            ('/bin/sh', '-c', _COMPILE),
            (Mount(source=folder, target='/in'), Mount(source=jdk.home, target='/jdk')),
            {'JAVA_HOME': '/jdk'},
        )
    for line in said.decode().splitlines():
        project, _, outcome = line.partition(' ')
        yield project, outcome


def _write(folder: Path, known: Mapping[str, Mapping[str, bytes]]) -> None:
    folder.parent.chmod(0o755)
    for files in known.values():
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)


def _bring(folder: Path, jdk: Jdk) -> None:
    """The libraries and what they need, by a build file of ours."""
    folder.mkdir()
    named = tomllib.loads(_LIBRARIES.read_text())
    items = ''.join(map(_dependency, named['libraries']))
    boms = ''.join(_dependency(f'{one}:pom:import') for one in named['versions'])
    pom = folder / 'pom.xml'
    pom.write_text(
        '<project><modelVersion>4.0.0</modelVersion><groupId>coevo</groupId>'
        '<artifactId>published</artifactId><version>1</version><dependencyManagement><dependencies>'
        f'{boms}</dependencies></dependencyManagement><dependencies>{items}</dependencies></project>'
    )
    copy = ['dependency:copy-dependencies', f'-DoutputDirectory={folder}']
    maven = shutil.which('mvn') or 'mvn'
    run_java_tool(
        [maven, '-q', '-B', '-f', str(pom), *copy], jdk, 'Maven could not bring the libraries'
    )


def _dependency(coordinates: str) -> str:
    names = ('groupId', 'artifactId', 'version', 'type', 'scope')
    values = zip(names, coordinates.split(':'), strict=False)
    return f'<dependency>{"".join(f"<{n}>{v}</{n}>" for n, v in values)}</dependency>'
