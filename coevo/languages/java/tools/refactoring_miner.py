"""RefactoringMiner as a library: one pinned version for all data, which runs on JDK 17 and newer."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.libraries import fetch_libraries, load_pins, locate_library_folder
from coevo.model.listener import Say

_PINS = Path(__file__).parents[1] / 'jvm' / 'refactoring_miner.toml'


def get_version() -> str:
    """The version whose refactorings stand in the data, such as 3.0.10."""
    (miner_pin,) = (pin for pin in load_pins(_PINS) if pin.artifact == 'refactoring-miner')
    return miner_pin.coordinates.split(':')[2]


def is_fetched() -> bool:
    """Whether its jars are in the tool cache."""
    return locate_library_folder(_PINS).is_dir()


def fetch_class_path(jdk: Jdk, say: Say = lambda line: None) -> tuple[Path, ...]:
    """Its jars, in the order of the pins; fetched with that JDK's Maven if they are not there."""
    folder = fetch_libraries(_PINS, jdk, say, 'RefactoringMiner')
    return tuple(folder / pin.file for pin in load_pins(_PINS))
