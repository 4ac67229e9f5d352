"""The versions of what a pair is measured with, as its row keeps them for the manifest."""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import metadata

from coevo.languages.java.tools import refactoring_miner
from coevo.languages.java.tools.toolchain import load_toolchain_pins

# By artifactId. A project's own JUnit comes first; these run what has none, and what is too old.
_PINNED = {
    'org.jacoco.core': 'jacoco',
    'junit-platform-launcher': 'junit-platform',
    'junit-vintage-engine': 'junit-vintage',
    'testng-engine': 'testng-engine',
}
_MUTATOR = 'universalmutator'


@cache
def list_tool_versions() -> tuple[str, ...]:
    """`name version` of every tool that what is measured depends on, sorted."""
    versions = {
        _PINNED[pin.artifact]: pin.coordinates.split(':')[2]
        for pin in load_toolchain_pins()
        if pin.artifact in _PINNED
    }
    versions['refactoring-miner'] = refactoring_miner.get_version()
    with contextlib.suppress(metadata.PackageNotFoundError):  # then nothing here was mutated
        versions[_MUTATOR] = metadata.version(_MUTATOR)
    return tuple(f'{name} {version}' for name, version in sorted(versions.items()))
