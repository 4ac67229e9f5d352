"""Every column says what it holds, in words that are true of every language."""

from __future__ import annotations

import re

import pytest

from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.dictionary import DictionaryEntry
from coevo.model.dictionary import entries
from coevo.model.reasons import EXPLANATIONS
from coevo.model.reasons import explained
from coevo.model.schema import CONTENTS
from coevo.model.schema import TABLES
from coevo.model.schema import arrow_schema
from packagers import dictionary

RECORDS = {**TABLES, 'results': MethodResult, 'suites': SuiteResult}
COLUMNS = [(name, one) for name, record in RECORDS.items() for one in entries(record)]

_ONE_LANGUAGE = re.compile(
    r'\b(Java|Maven|POMs?|JUnit|JVM|javac|Python|pytest)\b|pom\.xml|byte.?code'
)


def test_every_table_says_what_it_holds() -> None:
    assert CONTENTS.keys() == TABLES.keys()


@pytest.mark.parametrize('name', RECORDS)
def test_no_column_lacks_a_sentence(name: str) -> None:
    """Nested ones neither; a value of a choice has its clause."""
    for one in entries(RECORDS[name]):
        assert re.fullmatch(r'[A-Z`\d].*\.', one.sentence), one.path
        assert one.kind != 'choice' or all(value.clause for value in one.values), one.path
        assert (one.kind == 'choice' or one.kind == 'list of choice') == bool(one.values), one.path


@pytest.mark.parametrize('name', RECORDS)
def test_every_column_that_may_be_null_says_when(name: str) -> None:
    silent = [one.path for one in entries(RECORDS[name]) if one.nullable and not _says_when(one)]
    assert not silent


def _says_when(one: DictionaryEntry) -> bool:
    return re.search(r'\b[Nn]ull\b|\bThe same\b', one.sentence) is not None


def test_no_sentence_names_a_language_where_the_column_is_of_all() -> None:
    """A runtime is explained by two examples; the names of languages are values of one column."""
    named = {f'{table}.{one.path}' for table, one in COLUMNS if _ONE_LANGUAGE.search(one.text)}
    assert not named


def test_the_same_sentences_stand_in_parquet() -> None:
    found = arrow_schema(TABLES['repositories']).field('source_lines').metadata
    assert found[b'unit'] == b'lines'
    assert found[b'description'].startswith(b'Lines of these files')
    nested = arrow_schema(TABLES['methods']).field('mutation').type.field('killed').metadata
    assert b'unit' in nested


def test_every_reason_is_a_sentence_that_names_no_language() -> None:
    for reason, text in EXPLANATIONS.items():
        assert re.fullmatch(r'[A-Z].*\.', text), reason
        assert not _ONE_LANGUAGE.search(text), reason
    assert explained('told_cnew_missing').startswith(
        'With old tests on new code: it was not reported'
    )


def test_the_page_is_current() -> None:
    """If it is not: make docs."""
    assert dictionary.FILE.read_text() == dictionary.page()
