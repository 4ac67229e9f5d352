"""Toolchains are found by what they say of themselves, and refused where their `testing` is another one."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from coevo.languages.golang.standard_library import OtherText
from coevo.languages.golang.standard_library import prepared
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import GoToolchain
from coevo.languages.golang.toolchains import alike
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.golang.toolchains import level_of
from coevo.languages.golang.toolchains import module_cache
from coevo.model.errors import Fatal


def home(folder: Path, version: str) -> Path:
    place = folder / f'go{version}'
    (place / 'bin').mkdir(parents=True)
    (place / 'bin' / 'go').write_text('')
    (place / 'VERSION').write_text(f'go{version}\ntime 2025-01-01T00:00:00Z\n')
    return place


def test_what_lies_in_a_home_is_found_and_what_is_too_old_is_not(tmp_path: Path) -> None:
    for version in ('1.26.8', '1.24.13', '1.17.13'):
        home(tmp_path / 'sdk', version)
    found = find_toolchains({'HOME': str(tmp_path), 'PATH': '/nonexistent'})
    ours = {one.version for one in found if one.home.is_relative_to(tmp_path)}
    assert ours == {'1.26.8', '1.24.13'}


def test_a_variable_says_which_may_be_used(tmp_path: Path) -> None:
    for version in ('1.26.8', '1.24.13'):
        home(tmp_path / 'sdk', version)
    environment = {'HOME': str(tmp_path), 'PATH': '/nonexistent', 'COEVO_GOS': '1.24'}
    assert {one.release for one in find_toolchains(environment)} == {'1.24'}


def test_the_newest_that_knows_a_level_is_taken() -> None:
    known = [GoToolchain(home=Path(f'/{v}'), version=v) for v in ('1.24.13', '1.26.8', '1.25.1')]
    supply = GoSupply(known=known)
    newest = supply.for_level((1, 25, 3))
    assert newest is not None
    assert newest.version == '1.26.8'
    assert supply.for_level((1, 27)) is None
    brought = [
        GoToolchain(home=module_cache() / version, version=version)
        for version in ('1.28.0', '1.27.4')
    ]
    more = GoSupply(known=[*known, *brought])
    assert more.for_level((1, 25)) == newest
    assert more.for_level((1, 27)) == brought[1]
    assert [one.version for one in alike('1.25.9', known)] == ['1.25.1']
    with pytest.raises(Fatal, match=r"no Go '2\.0'; name one of 1\.21"):
        supply.bring('2.0')


def test_a_tree_without_a_level_has_that_of_its_day() -> None:
    days = (date(2016, 1, 1), date(2022, 3, 15), None)
    assert [level_of(day) for day in days] == ['1.11', '1.18', '1.11']


def test_a_testing_package_that_is_not_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    place = home(tmp_path, '1.30.0')
    (place / 'src' / 'testing').mkdir(parents=True)
    (place / 'src' / 'testing' / 'testing.go').write_text('package testing\n')
    with pytest.raises(
        OtherText, match=r'testing/testing\.go of Go 1\.30\.0 is not as coevo knows it'
    ):
        prepared(GoToolchain(home=place, version='1.30.0'))
