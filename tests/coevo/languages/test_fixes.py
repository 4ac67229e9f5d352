"""Mechanical fixes of test files: what errors and the files of a project determine, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.fixes import Fix, ProjectFiles, TestFailure
from coevo.languages.table import get_fixer, get_reading
from tests.languages.table import known_toy
from tests.repos import commit, init

PYTHON = {
    'shop/__init__.py': '',
    'shop/till.py': 'import numpy\n\n\nclass Till:\n    pass\n\n\ndef price(count):\n    return count\n',
    'shop/books.py': 'def total():\n    return 1\n\n\ndef close():\n    return 2\n',
    'shop/rates.py': 'def close():\n    return 3\n',
    'tests/test_books.py': 'import numpy as nm\nfrom shop.books import total\n\n\ndef test_total():\n    assert total() == 1\n',
}
JAVA = {
    'pom.xml': '<project/>',
    'src/main/java/shop/goods/Fruit.java': 'package shop.goods;\n\npublic class Fruit {}\n',
    'src/main/java/shop/Till.java': 'package shop;\n\npublic class Till {}\n',
    'src/test/java/shop/RateTest.java': 'package shop;\n\nimport static org.junit.Assert.*;\nimport org.junit.Test;\n\npublic class RateTest {\n    @Test public void rates() {\n        assertEquals(1, 1);\n    }\n}\n',
}
GO = {
    'go.mod': 'module example.org/shop\n',
    'till.go': 'package shop\n\nimport "errors"\n\nvar Empty = errors.New("empty")\n',
    'rate_test.go': 'package shop\n\nimport (\n\tassert "example.org/check"\n\t"testing"\n)\n\nfunc TestRate(t *testing.T) { assert.That(t) }\n',
}
FILES = {'python': PYTHON, 'java': JAVA, 'go': GO}
PATHS = {
    'python': 'tests/test_till.py',
    'java': 'src/test/java/shop/TillTest.java',
    'go': 'till_test.go',
}


def propose(
    folder: Path, language: str, text: str, signature: str, message: str = ''
) -> Fix | None:
    files: Mapping[str, str | bytes | None] = {**FILES[language], PATHS[language]: text}
    init(folder)
    rev = commit(folder, 'shop', dict(files), date='2024-01-01T00:00:00Z')
    repository = Repository(folder / '.git')
    fixer = get_fixer(language)
    try:
        tree = get_reading(language).open_tree(repository, rev)
        project = ProjectFiles(
            tree=tree, path=PATHS[language], list_imports=fixer.list_bound_names_with_imports
        )
        failure = TestFailure(signature=signature, message=message)
        return fixer.propose_fix(project, text.encode(), failure)
    finally:
        repository.close()


@pytest.mark.parametrize(
    ('language', 'text', 'signature', 'message', 'rule', 'line'),
    [
        # as another test imports it, and not by convention
        ('python', 'def test_a():\n    nm.sum(1)\n', 'NameError@a', "name 'nm' is not defined",
         'import_added', 'import numpy as nm'),
        ('python', 'def test_a():\n    np.sum(1)\n', 'NameError@a', "name 'np' is not defined",
         'import_added', 'import numpy as np'),
        ('python', 'def test_a():\n    Till()\n', 'NameError@a', "name 'Till' is not defined",
         'import_added', 'from shop.till import Till'),
        ('python', 'def test_a():\n    json.loads("1")\n', 'NameError@a',
         "name 'json' is not defined", 'import_added', 'import json'),
        ('python', 'from till import Till, price as p\n', 'ModuleNotFoundError@till', '',
         'import_corrected', 'from shop.till import Till, price as p'),
        ('python', 'from your_module import (\n    total,\n)\n', 'ModuleNotFoundError@your_module',
         '', 'import_corrected', 'from shop.books import total'),
        ('python', 'import books\n', 'ModuleNotFoundError@books', '', 'import_corrected',
         'import shop.books as books'),
        ('python', 'from shop.till import price, total\n', 'missing:shop.till.total', '',
         'import_corrected', 'from shop.till import price; from shop.books import total'),
        ('python', 'def test_a():\n    assert (1 == [1\n', 'SyntaxError@3', '', 'brackets', '])'),
        ('python', 'def test_a():\n    assert 1 == 1)\n', 'SyntaxError@3', '', 'brackets',
         'assert 1 == 1'),
        ('java', 'public class TillTest {}\n', 'cant.resolve.location class Till', '', 'package',
         'package shop;'),
        ('java', 'package shop;\n\nclass TillTest { Fruit f; }\n',
         'cant.resolve.location class Fruit', '', 'import_added', 'import shop.goods.Fruit;'),
        ('java', 'package shop;\n\nclass TillTest { @Test void t() {} }\n',
         'cant.resolve.location class Test', '', 'import_added', 'import org.junit.Test;'),
        ('java', 'package shop;\n\nclass TillTest { void t() { assertTrue(true); } }\n',
         'cant.resolve.location.args method assertTrue(boolean)', '', 'import_added',
         'import static org.junit.Assert.*;'),
        ('java', 'package shop;\n\nimport shop.fruit.Fruit;\n\nclass TillTest { Fruit f; }\n',
         'doesnt.exist package shop.fruit does not exist', '', 'import_corrected',
         'import shop.goods.Fruit;'),
        ('go', 'import "testing"\n', 'x', '', 'package', 'package shop'),
        ('go', 'package shop\n\nfunc TestA(t *testing.T) { assert.That(t) }\n', 'undefined: assert',
         '', 'import_added', 'import assert "example.org/check"'),
        ('go', 'package shop\n\nfunc TestA(t *testing.T) { strings.ToUpper("a") }\n',
         'undefined: strings', '', 'import_added', 'import "strings"'),
        ('go', 'package shop\n\nimport (\n\t"fmt"\n\t"testing"\n)\n',
         '"fmt" imported and not used', '', 'import_removed', '"fmt"'),
    ],
)  # fmt: skip
def test_an_error_with_one_correction_is_fixed(
    tmp_path: Path, language: str, text: str, signature: str, message: str, rule: str, line: str
) -> None:
    fix = propose(tmp_path / 'shop', language, text, signature, message)
    assert fix is not None
    assert (fix.rule, fix.text) == (rule, line)
    assert fix.source != text.encode()
    assert (line.encode() in fix.source) == (rule != 'import_removed')


@pytest.mark.parametrize(
    ('language', 'text', 'signature', 'message'),
    [
        ('python', 'def test_a():\n    close()\n', 'NameError@a', "name 'close' is not defined"),
        (
            'python',
            'def test_a():\n    nothing()\n',
            'NameError@a',
            "name 'nothing' is not defined",
        ),
        ('python', 'def test_a():\n    assert 1 == 2\n', 'AssertionError@a', ''),
        ('python', 'from shop.till import Till\n', 'missing:shop.till.gone', ''),
        ('python', 'def test_a(:\n    x = [1, 2)\n', 'SyntaxError@1', ''),
        (
            'java',
            'package shop;\n\nclass TillTest {}\n',
            'report.access pay() has private access',
            '',
        ),
        ('java', 'package shop;\n\nclass TillTest {}\n', 'cant.resolve.location class Gone', ''),
        ('go', 'package shop\n\nfunc TestA() { gone() }\n', 'undefined: gone', ''),
        ('go', 'package shop_test\n\nfunc TestA() { strings() }\n', 'undefined: strings', ''),
    ],
)
def test_an_error_without_a_single_correction_stays(
    tmp_path: Path, language: str, text: str, signature: str, message: str
) -> None:
    assert propose(tmp_path / 'shop', language, text, signature, message) is None


def test_an_added_import_stands_behind_those_of_the_future(tmp_path: Path) -> None:
    text = '"""Tests."""\nfrom __future__ import annotations\n\n\ndef test_a():\n    import re\n    Till()\n'
    fix = propose(tmp_path / 'shop', 'python', text, 'NameError@a', "name 'Till' is not defined")
    assert fix is not None
    assert fix.source.decode().splitlines()[:3] == [
        '"""Tests."""',
        'from __future__ import annotations',
        'from shop.till import Till',
    ]


def test_a_language_without_fixes_of_its_own_fixes_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {'toy.build': '', 'test_till.toy': '[TillTest]\na: is\n'}
    rev = commit(init(tmp_path), 'shop', files)
    repository = Repository(tmp_path / '.git')
    with known_toy():
        fixer = get_fixer('toy')
        tree = get_reading('toy').open_tree(repository, rev)
    project = ProjectFiles(
        tree=tree, path='test_till.toy', list_imports=fixer.list_bound_names_with_imports
    )
    failure = TestFailure(signature='unknown a', message='unknown a')
    assert fixer.propose_fix(project, b'[TillTest]\na: is\n', failure) is None
    assert project.find_usual_import('a') is None
    with pytest.raises(KeyError):
        get_fixer('no language')
