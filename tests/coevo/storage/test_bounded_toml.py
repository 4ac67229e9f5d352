"""TOML of strangers is read, or refused by one kind of error."""

from __future__ import annotations

import pytest

from coevo.languages.python import collection, reading
from coevo.languages.python.requirements import locks
from coevo.languages.python.requirements.other_places import parse_toml_tool_requirements
from coevo.languages.python.requirements.reading import parse_pipfile, parse_pyproject
from coevo.languages.python.requirements.stated import StatedRequirements
from coevo.languages.python.wheels import parse_build_system
from coevo.storage.bounded_reading import parse_toml

NO_TOML = {
    'no value': 'a = ',
    'deep': f'a = {"[" * 20_000}',
    'digits': f'a = 1{"1" * 5_000}',
}


def test_tables_are_returned() -> None:
    assert parse_toml('[a]\nb = 1\n') == {'a': {'b': 1}}


@pytest.mark.parametrize('name', NO_TOML)
def test_text_that_python_cannot_hold_is_no_toml(name: str) -> None:
    with pytest.raises(ValueError, match=r'.'):
        parse_toml(NO_TOML[name])


@pytest.mark.parametrize('name', NO_TOML)
def test_file_of_a_project_that_is_no_toml_says_nothing(name: str) -> None:
    source = NO_TOML[name].encode()
    assert parse_pyproject(source) == parse_pipfile(source) == StatedRequirements()
    assert parse_toml_tool_requirements('tox.toml', source) == StatedRequirements()
    assert parse_build_system(source) == {}
    assert reading._parse_toml(NO_TOML[name]) == reading._NOTHING
    assert collection._parse_toml(NO_TOML[name], 'pyproject.toml') is None
    assert locks._make_toml_reader(iter)(source) == ()
