"""Toolchains are found by what they say of themselves, and refused where their `testing` is another one."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from coevo.languages.golang.standard_library import UnknownLibraryText, prepare_toolchain
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import (
    GoToolchain,
    find_language_level_at,
    find_toolchains,
    locate_module_cache,
    select_toolchains_of_version,
)
from coevo.model.errors import Fatal


def home(folder: Path, version: str) -> Path:
    place = folder / f'go{version}'
    (place / 'bin').mkdir(parents=True)
    (place / 'bin' / 'go').write_text('')
    (place / 'VERSION').write_text(f'go{version}\ntime 2025-01-01T00:00:00Z\n')
    return place


def test_toolchains_in_a_home_are_found_unless_too_old(tmp_path: Path) -> None:
    for version in ('1.26.8', '1.24.13', '1.17.13'):
        home(tmp_path / 'sdk', version)
    found = find_toolchains({'HOME': str(tmp_path), 'PATH': '/nonexistent'})
    ours = {one.version for one in found if one.home.is_relative_to(tmp_path)}
    assert ours == {'1.26.8', '1.24.13'}


def test_coevo_gos_variable_limits_the_toolchains(tmp_path: Path) -> None:
    for version in ('1.26.8', '1.24.13'):
        home(tmp_path / 'sdk', version)
    environment = {'HOME': str(tmp_path), 'PATH': '/nonexistent', 'COEVO_GOS': '1.24'}
    assert {one.release for one in find_toolchains(environment)} == {'1.24'}


def test_newest_toolchain_that_knows_the_level_is_chosen() -> None:
    known = [GoToolchain(home=Path(f'/{v}'), version=v) for v in ('1.24.13', '1.26.8', '1.25.1')]
    supply = GoSupply(known=known)
    newest = supply.find_toolchain_for_level((1, 25, 3))
    assert newest is not None
    assert newest.version == '1.26.8'
    assert supply.find_toolchain_for_level((1, 27)) is None
    brought = [
        GoToolchain(home=locate_module_cache() / version, version=version)
        for version in ('1.28.0', '1.27.4')
    ]
    more = GoSupply(known=[*known, *brought])
    assert more.find_toolchain_for_level((1, 25)) == newest
    assert more.find_toolchain_for_level((1, 27)) == brought[1]
    assert [one.version for one in select_toolchains_of_version('1.25.9', known)] == ['1.25.1']
    with pytest.raises(Fatal, match=r"no Go '2\.0'; name one of 1\.21"):
        supply.install('2.0')


def test_tree_without_a_go_level_gets_the_level_of_its_date() -> None:
    days = (date(2016, 1, 1), date(2022, 3, 15), None)
    assert [find_language_level_at(day) for day in days] == ['1.11', '1.18', '1.11']


def test_toolchain_with_an_unknown_testing_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    place = home(tmp_path, '1.30.0')
    (place / 'src' / 'testing').mkdir(parents=True)
    (place / 'src' / 'testing' / 'testing.go').write_text('package testing\n')
    with pytest.raises(
        UnknownLibraryText, match=r'testing/testing\.go of Go 1\.30\.0 is not as coevo knows it'
    ):
        prepare_toolchain(GoToolchain(home=place, version='1.30.0'))
