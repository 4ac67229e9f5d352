"""Which parts of a patch count where code is asked for, and which patches are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from coevo.evaluation.implement.patches import (
    AppliedCode,
    StartCode,
    apply_code_patch,
    find_code_refusal,
)
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.unified_diffs import MalformedDiff, list_patched_files
from coevo.git.repository import Repository
from tests.repos import commit, init

FILES = {
    'pyproject.toml': '[project]\nname = "till"\n',
    'till/__init__.py': '',
    'till/price.py': 'PRICE = 1\n',
    'till/rates.json': '{}\n',
    'tests/test_price.py': 'def test_price(): pass\n',
    'pytest.ini': '[pytest]\n',
}


@pytest.fixture(scope='module')
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartCode]:
    folder = tmp_path_factory.mktemp('code')
    repository = init(folder / 'repository')
    (repository / 'till').mkdir()
    (repository / 'till' / 'rules').symlink_to('../docs')
    rev = commit(repository, 'Start', FILES)
    with closing(Repository(folder / 'repository' / '.git')) as repository:
        yield StartCode(repository=repository, language='python', rev=rev, gold=())


def section(path: str, line: str = 'X = 1') -> str:
    before = FILES.get(path, '').splitlines()
    head = f'--- {"a/" + path if before else "/dev/null"}\n+++ b/{path}\n'
    removed = ''.join(f'-{each}\n' for each in before)
    start = f'-1,{len(before)}' if before else '-0,0'
    return f'diff --git a/{path} b/{path}\n{head}@@ {start} +1 @@\n{removed}+{line}\n'


def apply(code: StartCode, *sections: str) -> AppliedCode | Refusal:
    return apply_code_patch(''.join(sections).encode(), code)


@pytest.mark.parametrize('path', ['till/price.py', 'till/new.py', 'till/rates.json', 'till/b.json'])
def test_files_of_the_code_and_beside_it_may_change(code: StartCode, path: str) -> None:
    applied = apply(code, section(path))
    assert isinstance(applied, AppliedCode)
    assert applied.files == ((path, b'X = 1\n'),)
    assert applied.left_out == ()


@pytest.mark.parametrize(
    'path',
    [
        'tests/test_price.py',
        'till/test_new.py',
        'till/conftest.py',
        'sitecustomize.py',
        'pyproject.toml',
        'setup.py',
        'pytest.ini',
        'till/x.pth',
        'notes.txt',
    ],
)
def test_tests_build_files_and_other_files_have_no_effect(code: StartCode, path: str) -> None:
    applied = apply(code, section('till/price.py'), section(path))
    assert isinstance(applied, AppliedCode)
    assert [name for name, _ in applied.files] == ['till/price.py']
    assert applied.left_out == (path,)
    alone = apply(code, section(path))
    assert isinstance(alone, Refusal)
    assert (alone.detail, alone.message) == (
        'no_code',
        f'it changes no file of the code, but {path}',
    )


def test_a_link_of_the_start_state_is_no_code(code: StartCode) -> None:
    assert code.list_patchable_paths() == ('till/__init__.py', 'till/price.py', 'till/rates.json')
    applied = apply(code, section('till/price.py'), section('till/rules'))
    assert isinstance(applied, AppliedCode)
    assert applied.left_out == ('till/rules',)


@pytest.mark.parametrize('path', ['../x.py', '/etc/x.py', 'till//x.py', '.git/x.py', 'till/.GIT/x'])
def test_a_path_that_leaves_the_tree_is_refused(path: str) -> None:
    refusal = find_code_refusal(section(path).encode())
    assert refusal is not None
    assert refusal.detail == 'malformed'


def test_a_file_of_gold_may_change_wherever_it_is(code: StartCode) -> None:
    own = StartCode(
        repository=code.repository, language='python', rev=code.rev, gold=('notes.txt',)
    )
    applied = apply(own, section('notes.txt'))
    assert isinstance(applied, AppliedCode)


def test_a_link_a_rename_and_a_second_section_are_refused() -> None:
    link = section('till/link.py').replace('---', 'new file mode 120000\n---', 1)
    moved = 'diff --git a/till/a.py b/till/b.py\nrename from till/a.py\nrename to till/b.py\n'
    details = [
        refusal.detail
        for patch in (link, moved, section('till/price.py') * 2)
        if (refusal := find_code_refusal(patch.encode()))
    ]
    assert details == ['symlink', 'rename', 'malformed']


def test_the_files_of_a_released_patch_are_found_with_and_without_name_lines() -> None:
    binary = 'diff --git a/a b.png b/a b.png\nindex 0..1\nGIT binary patch\nliteral 0\n\n'
    assert list_patched_files(section('till/price.py') + binary) == ('a b.png', 'till/price.py')
    with pytest.raises(MalformedDiff):
        list_patched_files('diff --git a/x b/y\nindex 0..1\nGIT binary patch\n')
