"""Toy as text. Fulfils `coevo.languages.reading.LanguageReading`."""

from __future__ import annotations

import re

from coevo.languages import reading
from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.prints import LexicalRules
from coevo.languages.reading import (
    NO_COMMON_CALLS,
    DeclarationPart,
    PathClassification,
    Resolve,
    Side,
    Word,
    expect_no_throws,
    provide_no_fixture_names,
    request_no_fixtures,
)
from coevo.languages.verdicts import ExecutedMethod
from coevo.model.records import TestMethod
from tests.languages.toy import syntax, trees
from tests.languages.toy.syntax import TOKEN
from tests.languages.toy.trees import BUILD_FILE, SUFFIX, is_test_file

SUFFIXES = (SUFFIX,)
TESTS_AMONG_SOURCES = False
PARSERS = ()
FIXTURE = '_before'
COMMON_CALLS = NO_COMMON_CALLS
explain_refusal = reading.accept_any_file
list_expected_throws = expect_no_throws
list_provided_fixture_names = provide_no_fixture_names
may_request_any_fixture = request_no_fixtures
list_reference_names = reading.name_by_stem
list_watch_names = reading.name_by_types
open_tree = trees.open_tree
parse = syntax.parse
parse_licences = reading.list_no_licences
parse_uncached = syntax.parse_uncached
LEXIS = LexicalRules(
    comment=rb'(?m:^[ \t]*+[#][^\n]*+)', string=rb'"[^"]*+"', test_mark=re.compile(rb':')
)


def classify_path(path: str) -> PathClassification | None:
    side = Side.TEST if is_test_file(path) else Side.SOURCE
    return PathClassification(side=side, is_resource=not path.endswith(SUFFIX), relative=path)


def is_build_file(path: str) -> bool:
    return path.rpartition('/')[2] == BUILD_FILE


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """All lines that are no helpers: files of tests are known by their names."""
    return tuple(
        (type_, member)
        for type_ in file.types
        for member in type_.members
        if not member.name.startswith('_')
    )


def is_run_by_framework(member: Member) -> bool:
    return member.name == FIXTURE


def list_words(source: str) -> tuple[Word, ...]:
    """A name behind a dot, or of a helper, is called; one before a dot is a type."""
    found = list(TOKEN.finditer(source))
    texts = ['', *(token[0] for token in found), '']
    return tuple(
        Word(token[0], _part(*texts[number : number + 3]), 0, token.start())
        for number, token in enumerate(found)
    )


def _part(before: str, text: str, after: str) -> DeclarationPart:
    if not (text[0].isalpha() or text[0] == '_'):
        return DeclarationPart.REST
    if after == '.':
        return DeclarationPart.TYPE
    called = before == '.' or text.startswith('_')
    return DeclarationPart.CALL if called else DeclarationPart.PLAIN


def guess_class_under_test(test: TestMethod) -> str:
    return test.test_class.rpartition('.')[2].removesuffix('Test')


def is_part_of(executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    return executed_method.type == type_.name and (
        member is None or executed_method.method == member.name
    )
