"""The javac options that compile tests as their POM says, on the JDK that runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from coevo.languages.java.building.report import locate_library
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.tools.toolchain import FIRST_WITH_MODULES, Toolchain


def list_javac_options(compiler: Mapping[str, object], tools: Toolchain) -> Iterator[str]:
    """Yield javac's options for a module, from the settings of its compiler plugin.

    These are language level, encoding (UTF-8 if none is set), annotation processors that are in the
    repository of libraries, and the POM's own arguments. The class path is not included.
    """
    yield from _list_level_options(compiler, tools)
    yield from ('-encoding', str(compiler.get('encoding') or 'UTF-8'))
    if compiler.get('parameters'):
        yield '-parameters'
    if compiler.get('proc'):
        yield f'-proc:{compiler["proc"]}'
    processor_path = compiler.get('processor_path')
    if isinstance(processor_path, list) and processor_path:
        library_paths = (locate_library(str(path)) for path in processor_path)
        places = [f'{REPOSITORY}/{path}' for path in library_paths if path]
        yield from ('-processorpath', os.pathsep.join(places))
    processors = compiler.get('processors')
    if isinstance(processors, list) and processors:
        yield from ('-processor', ','.join(map(str, processors)))
    arguments = compiler.get('arguments')
    if isinstance(arguments, list):
        yield from map(str, arguments)


def _list_level_options(compiler: Mapping[str, object], tools: Toolchain) -> Iterator[str]:
    """Yield `--release` if it is set and the JDK has it (9 or later); else `-source` and `-target`.

    This is what compiler plugin 3.13 does. An option that the POM does not set is left out.
    """
    if compiler.get('release') and tools.feature >= FIRST_WITH_MODULES:
        yield from ('--release', str(compiler['release']))
        return
    for name in ('source', 'target'):
        if compiler.get(name):
            yield from (f'-{name}', str(compiler[name]))
