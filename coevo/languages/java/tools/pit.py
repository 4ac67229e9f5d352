"""PIT, mutation testing of byte code (Coles et al., 2016): two pinned versions, and our plugin for them.

JDK 8 has the last release that runs on it, any other the newer one.

https://pitest.org
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.tools.jdks import choose_jdk
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.libraries import Pin
from coevo.languages.java.tools.libraries import digest
from coevo.languages.java.tools.libraries import fetch_libraries
from coevo.languages.java.tools.libraries import read_pins
from coevo.languages.java.tools.toolchain import compile_program
from coevo.languages.java.tools.toolchain import toolchain
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.storage.building import building

_SOURCES = Path(__file__).parents[1] / 'jvm'
_PINS, _PINS_OF_8 = _SOURCES / 'pit.toml', _SOURCES / 'pit_of_8.toml'


@dataclass(frozen=True, slots=True, kw_only=True)
class Pit:
    """Folders that are open to all users.

    libraries  its jars
    jars       their names
    core       the name of the one that runs beside tests
    plugin     pit.jar, which gives it one test method and the lines to mutate
    """

    libraries: Path
    jars: tuple[str, ...]
    core: str
    plugin: Path


def version() -> str:
    """Of both, such as `1.30.0, 1.17.4 on JDK 8`."""
    new, old = (_core(read_pins(file)).coordinates.split(':')[2] for file in (_PINS, _PINS_OF_8))
    return f'{new}, {old} on JDK 8'


def fetch(say: Say = silent) -> None:
    """PIT for every JDK, before anything waits for it; Transient if Maven fails."""
    for feature in (8, 11):
        fetch_for(feature, say)


def fetch_for(feature: int, say: Say = silent) -> Pit:
    """PIT, fetched and our plugin compiled if they are not there yet; Transient if Maven fails.

    feature  of the JDK that runs it and the tests, such as 8
    """
    file = _PINS_OF_8 if feature < 11 else _PINS
    pins = read_pins(file)
    jdk = choose_jdk(find_jdks())
    libraries = fetch_libraries(file, jdk, say, 'PIT')
    jars = tuple(pin.file for pin in pins)
    tools = toolchain(say)
    sources = sorted(path for path in (_SOURCES / 'pit').rglob('*') if path.is_file())
    plugin = tools.tools.with_name(
        f'pit-{digest(file, *sources)}-{tools.tools.name}'
    )  # own name: digests
    if not plugin.is_dir():
        with building(plugin) as new:
            if new is not None:
                class_path = [tools.tools / 'worker.jar', *(libraries / name for name in jars)]
                compile_program(new / 'pit.jar', jdk, ['--release', '8'], class_path)
    return Pit(libraries=libraries, jars=jars, core=_core(pins).file, plugin=plugin)


def _core(pins: Sequence[Pin]) -> Pin:
    (found,) = (pin for pin in pins if pin.artifact == 'pitest')
    return found
