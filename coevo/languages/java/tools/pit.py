"""PIT, mutation testing of byte code (Coles et al., 2016): one pinned version, and our plugin for it.

https://pitest.org
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.tools.jdks import choose_jdk
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.libraries import digest
from coevo.languages.java.tools.libraries import fetch_libraries
from coevo.languages.java.tools.libraries import read_pins
from coevo.languages.java.tools.toolchain import compile_program
from coevo.languages.java.tools.toolchain import toolchain
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.storage.building import building

_SOURCES = Path(__file__).parents[1] / 'jvm'
_PINS = _SOURCES / 'pit.toml'

# The oldest JDK that it runs on, and so do the tests that it runs.
OLDEST_JDK = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Pit:
    """Folders that are open to all users.

    libraries  its jars
    plugin     pit.jar, which gives it one test method and the lines to mutate
    """

    libraries: Path
    plugin: Path


def version() -> str:
    """Such as 1.30.0."""
    (found,) = (pin for pin in read_pins(_PINS) if pin.artifact == 'pitest')
    return found.coordinates.split(':')[2]


def jars() -> tuple[str, ...]:
    """The names of its jars."""
    return tuple(pin.file for pin in read_pins(_PINS))


def core() -> str:
    """The name of the jar that runs beside tests."""
    return f'pitest-{version()}.jar'


def fetch(say: Say = silent) -> Pit:
    """PIT, fetched and our plugin compiled if they are not there yet; Transient if Maven fails."""
    jdk = choose_jdk(find_jdks())
    libraries = fetch_libraries(_PINS, jdk, say, 'PIT')
    tools = toolchain(say)
    sources = sorted(path for path in (_SOURCES / 'pit').rglob('*') if path.is_file())
    plugin = tools.tools.with_name(f'pit-{digest(*sources)}-{tools.tools.name}')
    if not plugin.is_dir():
        with building(plugin) as new:
            if new is not None:
                options = ['--release', str(OLDEST_JDK)]
                class_path = [tools.tools / 'worker.jar', *(libraries / name for name in jars())]
                compile_program(new / 'pit.jar', jdk, options, class_path)
    return Pit(libraries=libraries, plugin=plugin)
