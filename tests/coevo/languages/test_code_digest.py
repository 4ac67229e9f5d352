"""Which edits of code change its digest, asked of small packages that the tests write."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.code_digest import (
    PACKAGES,
    CodeRoots,
    digest_reached_modules_and_files,
    list_differing_names,
    list_other_packages,
)
from coevo.languages.module_code import strip_comments

ROOT = Path(__file__).parents[3]
ROOTS = CodeRoots(
    names=('shop.mining:mine',),
    language='shop.langs.toy',
    members=('open_builder',),
    left_out=('shop.langs.other',),
)
FILES = {
    'shop/__init__.py': '',
    'shop/mining.py': '''"""Mine."""

from shop import filters, report
from shop.table import LANGUAGES


def mine(pair: str) -> list[str]:
    """Return what is kept."""
    kept = []
    for name in LANGUAGES['toy'].list_tests(pair):
        if filters.check(name):
            kept.append(name)
    return kept


def print_report() -> None:
    report.show()
''',
    'shop/filters.py': """LIMIT = 3
_WORDS = {'a': 1}


def check(name):
    return len(name) < LIMIT


def unused():
    return 1
""",
    'shop/report.py': 'def show(): print(1)\n',
    'shop/table.py': """from shop.langs import other, toy

LANGUAGES = {'toy': toy, 'other': other.language}
""",
    'shop/langs/__init__.py': '',
    'shop/langs/toy/__init__.py': """from shop.langs.toy.tests import list_tests, number


from shop.langs.toy import inside


def open_builder():
    return number(), inside.__file__, 'shop.worker'


def make_agent_kits():
    return 1
""",
    'shop/langs/toy/tests.py': """def list_tests(pair):
    return pair.split()


def number():
    return 7
""",
    'shop/langs/toy/Run.java': 'class Run { // runs\n  int a = 1; }\n',
    'shop/langs/toy/inside/__init__.py': '',
    'shop/langs/toy/inside/run.py': 'def run(a):\n    """Run."""\n    return a\n',
    'shop/worker.py': 'def main(): return 1\n',
    'shop/langs/other/__init__.py': 'from shop.langs.other import language\n',
    'shop/langs/other/language.py': 'def list_tests(pair): return [pair]\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digest(folder: Path) -> dict[str, str]:
    return digest_reached_modules_and_files({'shop': folder / 'shop'}, ROOTS)


def list_changes(folder: Path, name: str, old: str, new: str) -> tuple[str, ...]:
    """Return the parts of the digest that an edit of one file changes."""
    before = digest(folder)
    path = folder / name
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new))
    return list_differing_names(before, digest(folder))


@pytest.mark.parametrize(
    ('name', 'old', 'new'),
    [
        ('shop/mining.py', '    """Return what is kept."""\n', ''),
        ('shop/mining.py', '"""Mine."""', '"""Mine all."""'),
        ('shop/mining.py', '    kept = []', '    # A comment.\n    kept   = [ ]'),
        ('shop/mining.py', 'kept', 'remaining'),
        ('shop/mining.py', 'pair: str', 'pair: object'),
        ('shop/mining.py', 'report.show()', 'report.show(2)'),
        ('shop/filters.py', 'return 1', 'return 2'),
        ('shop/filters.py', "{'a': 1}", "{'a': 2}"),
        ('shop/report.py', 'print(1)', 'print(2)'),
        ('shop/langs/toy/__init__.py', 'return 1', 'return 2'),
        ('shop/langs/toy/Run.java', '// runs', '// runs tests'),
        ('shop/langs/toy/inside/run.py', 'Run.', 'Run it.'),
        ('shop/langs/other/language.py', '[pair]', '[]'),
    ],
)
def test_edit_that_no_row_depends_on_keeps_the_digest(
    folder: Path, name: str, old: str, new: str
) -> None:
    assert list_changes(folder, name, old, new) == ()


@pytest.mark.parametrize(
    ('name', 'old', 'new', 'changed'),
    [
        ('shop/mining.py', 'kept.append(name)', 'kept.append(name.upper())', 'shop.mining'),
        ('shop/filters.py', 'LIMIT = 3', 'LIMIT = 4', 'shop.filters'),
        ('shop/filters.py', '< LIMIT', '<= LIMIT', 'shop.filters'),
        ('shop/langs/toy/tests.py', 'pair.split()', 'pair.split(",")', 'shop.langs.toy.tests'),
        ('shop/langs/toy/tests.py', 'return 7', 'return 8', 'shop.langs.toy.tests'),
        ('shop/langs/toy/Run.java', 'a = 1', 'a = 2', 'shop/langs/toy/Run.java'),
        ('shop/langs/toy/inside/run.py', 'return a', 'return a, a', 'shop/langs/toy/inside/run.py'),
        ('shop/worker.py', 'return 1', 'return 2', 'shop.worker'),
        ('shop/table.py', "'toy': toy", "'toy': toy, 'toys': toy", 'shop.table'),
    ],
)
def test_edit_of_reached_code_changes_the_digest_of_its_module(
    folder: Path, name: str, old: str, new: str, changed: str
) -> None:
    assert list_changes(folder, name, old, new) == (changed,)


def test_a_filter_that_is_newly_called_changes_the_digest(folder: Path) -> None:
    (folder / 'shop/young.py').write_text('def is_young(name): return name < "b"\n')
    changed = list_changes(
        folder,
        'shop/mining.py',
        'filters.check(name)',
        'filters.check(name) and young.is_young(name)',
    )
    assert changed == ('shop.mining',)
    changed = list_changes(
        folder, 'shop/mining.py', 'import filters, report', 'import filters, report, young'
    )
    assert changed == ('shop.young',)


def test_two_local_names_that_change_places_keep_the_digest(folder: Path) -> None:
    path = folder / 'shop/filters.py'
    path.write_text('def check(name):\n    a = name\n    b = a + a\n    return b\n')
    before = digest(folder)
    path.write_text('def check(name):\n    b = name\n    a = b + b\n    return a\n')
    assert digest(folder) == before
    path.write_text('def check(name):\n    a = name\n    b = a + a\n    return a\n')
    assert digest(folder) != before


def test_all_packages_of_the_product_are_searched() -> None:
    rooms = {path.parent.name for path in ROOT.glob('*/__init__.py')}
    assert set(PACKAGES) == rooms - {'benchmarks', 'tests'}


def test_packages_of_other_languages_are_left_out() -> None:
    modules = ['coevo.languages.java.language', 'coevo.languages.python.language', 'tests.toy']
    assert list_other_packages(modules, 'tests.toy') == (
        'coevo.languages.java',
        'coevo.languages.python',
    )


@pytest.mark.parametrize(
    ('name', 'text', 'stripped'),
    [
        ('A.java', b'int a; // b\nint c;', b'int a;\nint c;'),
        ('A.java', b'String a = "// b"; /* c\n d */ int e;', b'String a = "// b"; int e;'),
        ('A.java', b'String a = """\n // b\n """;', b'String a = """\n // b\n """;'),
        ('a.go', b'//go:build x\npackage a // b\nvar c = `/* d */`', None),
        ('a.c', b"char a = '\"'; // b\n", b"char a = '\"';\n"),
        ('a.toml', b'a = 1 // b', b'a = 1 // b'),
    ],
)
def test_comments_are_stripped_and_literals_kept(
    name: str, text: bytes, stripped: bytes | None
) -> None:
    expected = b'//go:build x\npackage a\nvar c = `/* d */`' if stripped is None else stripped
    assert strip_comments(name, text) == expected
