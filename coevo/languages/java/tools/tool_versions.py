"""The versions of what a pair is measured with, as its row keeps them for the manifest."""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import metadata

from coevo.languages.java.tools import refactoring_miner
from coevo.languages.java.tools.toolchain import pins

# By artifactId. A project's own JUnit comes first; these run what has none, and what is too old.
_PINNED = {
    'org.jacoco.core': 'jacoco',
    'junit-platform-launcher': 'junit-platform',
    'junit-vintage-engine': 'junit-vintage',
    'testng-engine': 'testng-engine',
}
_MUTATOR = 'universalmutator'


@cache
def tool_versions() -> tuple[str, ...]:
    """`name version` of every tool that what is measured depends on, sorted."""
    found = {
        _PINNED[pin.artifact]: pin.coordinates.split(':')[2]
        for pin in pins()
        if pin.artifact in _PINNED
    }
    found['refactoring-miner'] = refactoring_miner.version()
    with contextlib.suppress(metadata.PackageNotFoundError):  # then nothing here was mutated
        found[_MUTATOR] = metadata.version(_MUTATOR)
    return tuple(f'{name} {version}' for name, version in sorted(found.items()))
