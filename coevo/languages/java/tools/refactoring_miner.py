"""RefactoringMiner as a library, pinned to one version for all data; it needs JDK 17 or newer."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.libraries import fetch_libraries, load_pins, locate_library_folder
from coevo.model.listener import Say

_PINS = Path(__file__).parents[1] / 'jvm' / 'refactoring_miner.toml'


def get_version() -> str:
    """Return the version that detects the refactorings in the data, such as 3.0.10."""
    (miner_pin,) = (pin for pin in load_pins(_PINS) if pin.artifact == 'refactoring-miner')
    return miner_pin.coordinates.split(':')[2]


def is_fetched() -> bool:
    """Return whether the jars of RefactoringMiner are in the tool cache."""
    return locate_library_folder(_PINS).is_dir()


def fetch_class_path(jdk: Jdk, say: Say = lambda line: None) -> tuple[Path, ...]:
    """Return the jars of RefactoringMiner in the order of the pins; fetch missing ones."""
    folder = fetch_libraries(_PINS, jdk, say, 'RefactoringMiner')
    return tuple(folder / pin.file for pin in load_pins(_PINS))
