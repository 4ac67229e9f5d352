"""The options of javac that compile tests as their POM says, for the JDK that they run on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from coevo.languages.java_maven.places import REPOSITORY
from coevo.languages.java_maven.report import library_path
from coevo.toolchain import Toolchain

# A JDK's own classes: files up to 8, an image since 9, when javac learnt to read another one's.
FIRST_WITH_IMAGE = 9
LOWEST_LEVEL = 8


def javac_options(compiler: Mapping[str, object], tools: Toolchain) -> Iterator[str]:
    """Language level and platform, then the rest of what the compiler plugin would pass."""
    if tools.java_home == tools.builder_home:
        yield from _level(compiler)
    else:
        yield from _foreign_level(compiler, tools)
    yield from ('-encoding', str(compiler.get('encoding') or 'UTF-8'))
    if compiler.get('parameters'):
        yield '-parameters'
    if compiler.get('proc'):
        yield f'-proc:{compiler["proc"]}'
    processor_path = compiler.get('processor_path')
    if isinstance(processor_path, list) and processor_path:
        found = (library_path(str(path)) for path in processor_path)
        places = [f'{REPOSITORY}/{path}' for path in found if path]
        yield from ('-processorpath', os.pathsep.join(places))
    processors = compiler.get('processors')
    if isinstance(processors, list) and processors:
        yield from ('-processor', ','.join(map(str, processors)))
    arguments = compiler.get('arguments')
    if isinstance(arguments, list):
        yield from map(str, arguments)


def _level(compiler: Mapping[str, object]) -> Iterator[str]:
    if compiler.get('release'):
        yield from ('--release', str(compiler['release']))
        return
    for name in ('source', 'target'):
        if compiler.get(name):
            yield from (f'-{name}', str(compiler[name]))


def _foreign_level(compiler: Mapping[str, object], tools: Toolchain) -> Iterator[str]:
    """A newer javac than the JDK's own, against the classes of that JDK."""
    said = str(compiler.get('release') or compiler.get('source') or LOWEST_LEVEL)
    match = re.search(r'(\d+)$', said)
    level = int(match[1]) if match else LOWEST_LEVEL
    image = tools.jdk_feature >= FIRST_WITH_IMAGE
    level = max(level, FIRST_WITH_IMAGE if image else LOWEST_LEVEL)
    yield from ('-source', str(level), '-target', str(level))
    if image:
        yield from ('--system', str(tools.java_home))
    else:
        jars = sorted(_platform_jars(tools.java_home))
        yield from ('-bootclasspath', os.pathsep.join(map(str, jars)))


def _platform_jars(home: Path) -> Iterator[Path]:
    for folder in (home / 'jre' / 'lib', home / 'jre' / 'lib' / 'ext'):
        yield from folder.glob('*.jar')
