"""PIT, mutation testing of byte code (Coles et al., 2016), with coevo's plugin for it.

Two versions are pinned: the last release that runs on JDK 8, and a newer one for every other JDK.
https://pitest.org
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.libraries import (
    PinnedLibrary,
    digest_files,
    fetch_libraries,
    load_pins,
)
from coevo.languages.java.tools.toolchain import compile_program, prepare_toolchain
from coevo.model.listener import Say, ignore_message
from coevo.storage.durable import build_folder_once

_SOURCES = Path(__file__).parents[1] / 'jvm'
_PINS, _PINS_OF_8 = _SOURCES / 'pit.toml', _SOURCES / 'pit_of_8.toml'


@dataclass(frozen=True, slots=True, kw_only=True)
class PitInstallation:
    """The parts of an installed PIT; the folders are world-readable.

    libraries  the folder of its jars
    jars       the names of the jars
    core       the name of the jar that runs beside the tests
    plugin     the folder of pit.jar, which selects one test method and the lines to mutate
    """

    libraries: Path
    jars: tuple[str, ...]
    core: str
    plugin: Path


def find_version() -> str:
    """Return both versions, such as `1.30.0, 1.17.4 on JDK 8`."""
    new, old = (
        _find_core_pin(load_pins(file)).coordinates.split(':')[2] for file in (_PINS, _PINS_OF_8)
    )
    return f'{new}, {old} on JDK 8'


def fetch(say: Say = ignore_message) -> None:
    """Fetch both versions of PIT and compile the plugin unless this has been done.

    Raises: Transient if Maven fails.
    """
    for feature in (8, 11):
        fetch_pit(feature, say)


def fetch_pit(feature: int, say: Say = ignore_message) -> PitInstallation:
    """Return PIT for a JDK; fetch it and compile its plugin unless this has been done.

    `feature` is the feature release of the JDK that runs PIT and the tests, such as 8. Raises:
    Transient if Maven fails.
    """
    file = _PINS_OF_8 if feature < 11 else _PINS
    pins = load_pins(file)
    jdk = choose_jdk_for_tools(find_jdks())
    libraries = fetch_libraries(file, jdk, say, 'PIT')
    jars = tuple(pin.file for pin in pins)
    tools = prepare_toolchain(say)
    sources = sorted(path for path in (_SOURCES / 'pit').rglob('*') if path.is_file())
    plugin = tools.tools.with_name(
        f'pit-{digest_files(file, *sources)}-{tools.tools.name}'
    )  # own name: digests
    if not plugin.is_dir():
        with build_folder_once(plugin) as new:
            if new is not None:
                class_path = [tools.tools / 'worker.jar', *(libraries / name for name in jars)]
                compile_program(new / 'pit.jar', jdk, ['--release', '8'], class_path)
    return PitInstallation(
        libraries=libraries, jars=jars, core=_find_core_pin(pins).file, plugin=plugin
    )


def _find_core_pin(pins: Sequence[PinnedLibrary]) -> PinnedLibrary:
    (core_pin,) = (pin for pin in pins if pin.artifact == 'pitest')
    return core_pin
