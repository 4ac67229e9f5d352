"""List the versions of the tools that measure a pair; its row keeps them for the manifest."""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import metadata

from coevo.languages.java.tools import refactoring_miner
from coevo.languages.java.tools.toolchain import load_toolchain_pins

# By artifactId. A project's own JUnit is preferred; these are for projects with none, or with one
# too old.
_PINNED = {
    'org.jacoco.core': 'jacoco',
    'junit-platform-launcher': 'junit-platform',
    'junit-vintage-engine': 'junit-vintage',
    'testng-engine': 'testng-engine',
}
_MUTATOR = 'universalmutator'


@cache
def list_tool_versions() -> tuple[str, ...]:
    """Return `name version` for each pinned tool that influences the measurements, sorted.

    `universalmutator` is left out if it is not installed.
    """
    versions = {
        _PINNED[pin.artifact]: pin.coordinates.split(':')[2]
        for pin in load_toolchain_pins()
        if pin.artifact in _PINNED
    }
    versions['refactoring-miner'] = refactoring_miner.get_version()
    # the mutator is not installed, so nothing was mutated here
    with contextlib.suppress(metadata.PackageNotFoundError):
        versions[_MUTATOR] = metadata.version(_MUTATOR)
    return tuple(f'{name} {version}' for name, version in sorted(versions.items()))
