"""Toy repositories with a history, for tests that mine them for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coevo.model.families import Family
from coevo.model.profiles import Profile
from coevo.model.words import Walk
from tests import projects
from tests.languages.table import known_toy
from tests.projects import QUICK, Mined

LICENCE = 'Licensed under the Apache License, Version 2.0\n'
BUILD = {'toy.build': 'build: true\n', 'LICENSE': LICENCE}


def source(name: str, *lines: str) -> dict[str, str]:
    return _file(f'{name.lower()}.toy', name, lines)


def tests(name: str, *lines: str) -> dict[str, str]:
    return _file(f'test_{name.lower()}.toy', f'{name}Test', lines)


def _file(path: str, name: str, lines: Sequence[str]) -> dict[str, str]:
    return {path: '\n'.join([f'[shop.{name}]', *lines, ''])}


def in_module(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f'{folder}/{path}': text for path, text in files.items()}


def mined(
    repository: Path,
    store: Path,
    *,
    walk: Walk = Walk.PARENTS,
    profile: Profile = QUICK,
    families: tuple[Family, ...] = (),
) -> Mined:
    with known_toy():
        return projects.mined(repository, store, walk=walk, profile=profile, families=families)
