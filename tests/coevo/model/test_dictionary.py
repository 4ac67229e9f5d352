"""Every column says what it holds, in words that are true of every language."""

from __future__ import annotations

import re

import pytest

from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.dictionary import DictionaryEntry, list_entries
from coevo.model.reasons import EXPLANATIONS, explain_reason
from coevo.model.schema import CONTENTS, TABLES, build_arrow_schema
from packagers import dictionary

RECORDS = {**TABLES, 'results': MethodResult, 'suites': SuiteResult}
COLUMNS = [(name, one) for name, record in RECORDS.items() for one in list_entries(record)]

_ONE_LANGUAGE = re.compile(
    r'\b(Java|Maven|POMs?|JUnit|JVM|javac|Python|pytest)\b|pom\.xml|byte.?code'
)


def test_every_table_has_a_description() -> None:
    assert CONTENTS.keys() == TABLES.keys()


@pytest.mark.parametrize('name', RECORDS)
def test_every_column_has_a_descriptive_sentence(name: str) -> None:
    """Nested ones neither; a value of a choice has its clause."""
    for one in list_entries(RECORDS[name]):
        assert re.fullmatch(r'[A-Z`\d].*\.', one.sentence), one.path
        assert one.kind != 'choice' or all(value.clause for value in one.values), one.path
        assert (one.kind == 'choice' or one.kind == 'list of choice') == bool(one.values), one.path


@pytest.mark.parametrize('name', RECORDS)
def test_every_nullable_column_says_when_it_is_null(name: str) -> None:
    silent = [
        one.path for one in list_entries(RECORDS[name]) if one.nullable and not _says_when(one)
    ]
    assert not silent


def _says_when(one: DictionaryEntry) -> bool:
    return re.search(r'\b[Nn]ull\b|\bThe same\b', one.sentence) is not None


def test_no_column_sentence_names_a_single_language() -> None:
    """A runtime is explained by two examples; the names of languages are values of one column."""
    named = {f'{table}.{one.path}' for table, one in COLUMNS if _ONE_LANGUAGE.search(one.text)}
    assert not named


def test_parquet_metadata_holds_the_column_sentences() -> None:
    found = build_arrow_schema(TABLES['repositories']).field('source_lines').metadata
    assert found[b'unit'] == b'lines'
    assert found[b'description'].startswith(b'Lines of these files')
    nested = build_arrow_schema(TABLES['methods']).field('mutation').type.field('killed').metadata
    assert b'unit' in nested


def test_every_reason_has_a_sentence_that_names_no_language() -> None:
    for reason, text in EXPLANATIONS.items():
        assert re.fullmatch(r'[A-Z].*\.', text), reason
        assert not _ONE_LANGUAGE.search(text), reason
    assert explain_reason('t_old_c_new_missing').startswith(
        'With old tests on new code: it was not reported'
    )


def test_the_dictionary_page_is_current() -> None:
    """If it is not: make docs."""
    assert dictionary.FILE.read_text() == dictionary.render_page()
