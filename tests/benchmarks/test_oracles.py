"""What the oracles do before and after Maven: trees, levels, list_selectors, reports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.oracles.inside.classfile import read_classes
from benchmarks.oracles.inside.reports import find_worst_outcome
from benchmarks.oracles.inside.selection import list_selectors
from benchmarks.oracles.java_cell import PROPERTIES, choose_level_properties, raise_literals
from benchmarks.oracles.trees import write_cell, write_cell_by_files
from coevo.git.repository import Repository
from coevo.languages.python import reading as python
from tests.repos import commit, init

POM = '<project><build><testSourceDirectory>checks</testSourceDirectory></build></project>'


def test_a_cell_has_the_code_of_one_revision_and_all_tests_of_the_other(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    old = commit(
        repo,
        'old',
        {
            'pom.xml': '<project/>',
            'src/main/java/A.java': 'old',
            'src/test/java/ATest.java': 'old',
            'src/test/java/Gone.java': 'old',
            'm/pom.xml': POM,
            'm/checks/B.java': 'old',
        },
    )
    new = commit(
        repo,
        'new',
        {
            'src/main/java/A.java': 'new',
            'src/test/java/ATest.java': 'new',
            'src/test/java/Gone.java': None,
            'm/checks/B.java': 'new',
        },
    )
    write_cell(Repository(repo / '.git'), old, new, tmp_path / 'cell')
    found = {
        str(path.relative_to(tmp_path / 'cell')): path.read_text()
        for path in (tmp_path / 'cell').rglob('*.java')
    }
    assert found == {
        'src/main/java/A.java': 'new',
        'src/test/java/ATest.java': 'old',
        'src/test/java/Gone.java': 'old',
        'm/checks/B.java': 'old',
    }


def test_python_cell_has_the_code_of_one_revision_and_test_files_of_the_other(
    tmp_path: Path,
) -> None:
    repo = init(tmp_path / 'repo')
    texts = ('setup.py', 'till/__init__.py', 'till/test_till.py', 'tests/data/prices.json')
    old = commit(repo, 'old', {**dict.fromkeys(texts, 'old'), 'tests/test_gone.py': 'old'})
    new = commit(repo, 'new', {**dict.fromkeys(texts, 'new'), 'tests/test_gone.py': None})
    write_cell_by_files(python, Repository(repo / '.git'), old, new, tmp_path / 'cell')
    files = (path for path in (tmp_path / 'cell').rglob('*') if path.is_file())
    assert {str(one.relative_to(tmp_path / 'cell')): one.read_text() for one in files} == {
        'setup.py': 'new',
        'till/__init__.py': 'new',
        'till/test_till.py': 'old',
        'tests/data/prices.json': 'old',
        'tests/test_gone.py': 'old',
    }


@pytest.mark.parametrize(
    ('pom', 'properties', 'raised'),
    [
        ('<project/>', PROPERTIES, '<project/>'),
        ('<release>11</release>', (), '<release>11</release>'),
        ('<source>1.6</source>', PROPERTIES, '<source>8</source>'),
        ('<source>1.7</source>', PROPERTIES, '<source>1.7</source>'),
        (
            '<java>1.5</java><source>${java}</source>',
            PROPERTIES,
            '<java>8</java><source>${java}</source>',
        ),
        (
            '<java>17</java><target>${java}</target>',
            (),
            '<java>17</java><target>${java}</target>',
        ),
    ],
)
def test_java_level_that_the_jdk_refuses_is_raised(
    tmp_path: Path, pom: str, properties: tuple[str, ...], raised: str
) -> None:
    (tmp_path / 'pom.xml').write_text(pom)
    assert tuple(choose_level_properties(tmp_path)) == properties
    raise_literals(tmp_path)
    assert (tmp_path / 'pom.xml').read_text() == raised


@pytest.mark.jvm
def test_a_method_is_selected_on_every_concrete_class(tmp_path: Path) -> None:
    (tmp_path / 'Base.java').write_text(
        'package p; abstract class Base<T> { static class In {} void m(String[] a, In b, int c) {}'
        ' void m() {} void only(T t) {} }'
        ' class One extends Base<String> {} class Two extends One {}'
    )
    subprocess.run(['javac', '-d', tmp_path, tmp_path / 'Base.java'], check=True)
    classes = read_classes(tmp_path)
    types = '(java.lang.String[],p.Base$In,int)'
    assert list_selectors(classes, 'p.Base', 'm', ['String[]', 'In', 'int']) == [
        f'p.One#m{types}',
        f'p.Two#m{types}',
    ]
    assert list_selectors(classes, 'p.One', 'm', []) == ['p.One#m', 'p.Two#m']
    assert list_selectors(classes, 'p.Two', 'only', ['T']) == ['p.Two#only(java.lang.Object)']
    assert list_selectors(classes, 'p.Absent', 'm', []) == ['p.Absent#m']


def test_worst_test_case_of_the_reports_decides_the_outcome(tmp_path: Path) -> None:
    assert find_worst_outcome(tmp_path) == ('missing', '')
    (tmp_path / 'TEST-a.xml').write_text('<t><testcase/><testcase><skipped/></testcase></t>')
    assert find_worst_outcome(tmp_path) == ('skipped', '')
    (tmp_path / 'TEST-b.xml').write_text('<t><testcase><failure type="E"/></testcase></t>')
    assert find_worst_outcome(tmp_path) == ('fail', 'E')
