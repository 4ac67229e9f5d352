"""Where assertions stand: in a submitted file, and in those that it names."""

from __future__ import annotations

from pathlib import Path

from coevo.evaluation.measuring.coverage import find_oracle_lines
from coevo.git.repository import Repository
from tests.repos import commit, init

TESTS = 'src/test/java/shop'
SUBMITTED = b"""package shop;
class TillTest extends Base {
    @Test void plain() {
        new Till().price(1);
        assertThat(new Till())
            .isNotNull();
    }
    @Test void mocked() { verify(till).price(1); }
    @Test void stated() {
        assert true;
        rows.forEach(this::assertRow);
    }
    static class Inner { }
}
class Second { }
"""
FILES = {
    f'{TESTS}/Base.java': 'package shop;\nclass Base {\n void check() {\n  Deep.check(); } }',
    f'{TESTS}/Deep.java': 'package shop;\nclass Deep { static void check() {\n  fail(); } }',
    f'{TESTS}/Unnamed.java': 'package shop;\nclass Unnamed {\n void check() { fail(); } }',
    'src/main/java/shop/Till.java': 'package shop;\nclass Till {\n int price() { fail(); } }',
    f'{TESTS}/TillTest.java': 'package shop;\nclass TillTest { void old() { fail(); } }',
}


def test_assertion_lines_are_found_in_a_java_file_and_the_files_it_names(tmp_path: Path) -> None:
    root = init(tmp_path)
    rev = commit(root, 'all', dict(FILES))
    repository = Repository(root / '.git')

    lines = find_oracle_lines(repository, 'java', rev, f'{TESTS}/TillTest.java', SUBMITTED)

    assert lines == {
        'shop.TillTest': frozenset({5, 8, 10, 11}),
        'shop.Second': frozenset({5, 8, 10, 11}),
        'shop.Deep': frozenset({3}),
    }


def test_assertion_lines_are_found_in_go_helpers_of_the_package(tmp_path: Path) -> None:
    helpers = 'package till\n\nimport "testing"\n\nfunc eq(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a)\n\t}\n}\n'
    files = {
        'go.mod': 'module example.com/till\n',
        'till.go': 'package till\n\nfunc One() int { return 1 }\n',
        'helpers_test.go': helpers,
        'other/other_test.go': helpers.replace('package till', 'package other').replace(
            'eq', 'same'
        ),
    }
    root = init(tmp_path)
    rev = commit(root, 'all', files)
    submitted = b'package till\n\nfunc TestOne(t *testing.T) {\n\teq(t, One(), 1)\n}\n'

    lines = find_oracle_lines(Repository(root / '.git'), 'go', rev, 'till_test.go', submitted)

    assert lines == {'helpers_test.go': frozenset({6, 7})}
