"""Test files that no compiler is given."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.building.compilation import CompileReport, add_unread_classes
from coevo.languages.java.revisions.failures import find_too_nested_tests, name_test_class
from coevo.model.records import TestMethod
from tests.repos import commit, init

TESTS = 'src/test/java/shop'


def nested(count: int) -> str:
    return 'package shop;\n' + ''.join(f'class A{n} {{ ' for n in range(count)) + '}' * count


def test_only_deeply_nested_test_files_are_left_unread(tmp_path: Path) -> None:
    files = {
        f'{TESTS}/Deep.java': nested(1500),
        f'{TESTS}/Anonymous.java': 'class A { Object a = '
        + 'new B() { Object a = ' * 300
        + '1'
        + '; }' * 301,
        f'{TESTS}/Flat.java': nested(20),
        f'{TESTS}/Said.java': 'class Said { String a = "' + '(' * 500 + '"; }',
        'src/main/java/shop/Main.java': nested(1500),
        'src/test/resources/Deep.java': nested(1500),
    }
    rev = commit(init(tmp_path / 'repo'), 'one', files)
    found = find_too_nested_tests(Repository(tmp_path / 'repo' / '.git'), rev)
    assert found == {f'{TESTS}/Deep.java', f'{TESTS}/Anonymous.java'}
    assert name_test_class(f'{TESTS}/Deep.java') == 'shop.Deep'


def test_class_of_an_unread_file_is_broken_as_unreadable_source() -> None:
    report = add_unread_classes(CompileReport(unit_ok=True), ['shop.Deep'])
    method = TestMethod(
        module='.',
        test_file=f'{TESTS}/Deep.java',
        test_class='shop.Deep$A1',
        test_method='a',
        parameters=(),
    )
    assert not report.unit_ok
    assert report.broken_names == ('shop.Deep',)
    assert report.find_first_error(method) == 'unreadable_source'
    assert add_unread_classes(CompileReport(unit_ok=True), []).unit_ok
