"""Which code the version of a language's parser covers: long searches of histories depend on it."""

from __future__ import annotations

import pytest

from coevo.languages.code_digest import compute_code_digest
from coevo.languages.table import LANGUAGES, make_parser_roots, name_parser_version

each_language = pytest.mark.parametrize('language', sorted(LANGUAGES))


@each_language
def test_version_covers_the_parser_the_rule_for_tests_and_the_prints(language: str) -> None:
    package = LANGUAGES[language].READING.__name__
    parts = compute_code_digest(make_parser_roots(language)).parts
    expected = {f'{package}.syntax', f'{package}.tests', f'{package}.tokens'}
    assert parts.keys() >= expected | {'coevo.languages.prints', 'miners.dates.scanning'}


@each_language
def test_version_covers_neither_builds_nor_runs_nor_other_languages(language: str) -> None:
    parts = compute_code_digest(make_parser_roots(language)).parts
    others = {each.__name__.rpartition('.')[0] for each in LANGUAGES.values()}
    others.remove(LANGUAGES[language].__name__.rpartition('.')[0])
    assert not [name for name in parts if name.startswith(tuple(others))]
    assert not [name for name in parts if name.startswith(('coevo.engine', 'coevo.sandboxes'))]
    assert f'{LANGUAGES[language].READING.__name__}.trees' not in parts


def test_version_names_the_parsers_of_the_language() -> None:
    assert ' tree-sitter-go ' in name_parser_version('go')
    assert len({name_parser_version(language) for language in LANGUAGES}) == len(LANGUAGES)
