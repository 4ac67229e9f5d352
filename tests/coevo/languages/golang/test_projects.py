"""What a revision says of itself: its modules, the path by which it is imported, its language level."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang.projects import ModuleDescription, describe_modules
from tests.projects import write
from tests.repos import git

DAY = datetime(2019, 6, 1, tzinfo=UTC)
TEST = {'a_test.go': 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'}


def of(folder: Path, files: Mapping[str, str | bytes | None]) -> ModuleDescription:
    repository = write(folder / 'repository', [files])
    rev = git(repository, 'rev-parse', 'HEAD')
    return describe_modules(Repository(repository / '.git'), rev, 'ada/shop', DAY)


def module(path: str, level: str = '1.21') -> str:
    return f'module {path}\n\ngo {level}\n'


def test_module_path_and_language_level_are_read_from_go_mod(tmp_path: Path) -> None:
    found = of(tmp_path, {**TEST, 'go.mod': module('example.com/shop/v2', '1.22.3')})
    assert (found.path, found.folders, found.level) == ('example.com/shop/v2', ('.',), (1, 22, 3))


def test_module_path_without_go_mod_is_that_of_its_own_imports(tmp_path: Path) -> None:
    files = {
        'a.go': 'package a\n\nimport _ "example.org/real/shop/sub"\n',
        'sub/b.go': 'package sub\n',
        **TEST,
    }
    found = of(tmp_path, files)
    assert found.path == 'example.org/real/shop'
    assert found.texts['go.mod'] == b'module example.org/real/shop\n\ngo 1.12\n'


def test_module_path_without_go_mod_or_own_imports_is_that_of_the_repository(
    tmp_path: Path,
) -> None:
    assert of(tmp_path, TEST).path == 'github.com/ada/shop'


@pytest.mark.parametrize(
    ('folder', 'counts'),
    [('sub', True), ('vendor/x', False), ('testdata/x', False), ('_example', False)],
)
def test_nested_module_counts_only_in_a_folder_that_the_go_command_visits(
    tmp_path: Path, folder: str, counts: bool
) -> None:
    nested = {f'{folder}/go.mod': module('example.com/other')}
    nested |= {f'{folder}/{name}': text for name, text in TEST.items()}
    found = of(tmp_path, {**TEST, 'go.mod': module('example.com/shop'), **nested})
    assert found.folders == (('.', folder) if counts else ('.',))


def test_nested_module_without_tests_is_ignored(tmp_path: Path) -> None:
    nested = {'tools/go.mod': module('example.com/tools', '1.30')}
    found = of(tmp_path, {**TEST, 'go.mod': module('example.com/shop'), **nested})
    assert (found.folders, found.level) == (('.',), (1, 21))


SHELF = {'shelf/go.mod': module('example.com/shelf'), 'shelf/shelf.go': 'package shelf\n'}


@pytest.mark.parametrize(
    ('workspace', 'told'),
    [
        ('go 1.21\n\nuse (\n\t. // the shop\n\t"./shelf"\n)\n', './shelf'),
        ('go 1.21\nuse .\nuse ./shelf\n', './shelf'),
        ('go 1.21\nuse\t.\nuse\t./shelf\n', './shelf'),
        ('go 1.21\n\nuse .\n\nuse ../elsewhere\n', ''),
        ('', ''),
    ],
)
def test_workspace_modules_replace_each_other(tmp_path: Path, workspace: str, told: str) -> None:
    files = {**TEST, **SHELF, 'go.mod': module('example.com/shop'), 'go.work': workspace}
    texts = of(tmp_path, files).texts
    replaced = f'\n\nreplace example.com/shelf => {told}\n' if told else ''
    assert texts['go.mod'].decode() == module('example.com/shop') + replaced
    assert (b'replace example.com/shop => ..\n' in texts['shelf/go.mod']) is bool(told)


def test_replace_directive_of_a_module_stays_unchanged_in_a_workspace(tmp_path: Path) -> None:
    own = module('example.com/shop') + '\nreplace (\n\texample.com/shelf v1.0.0 => ./shelf\n)\n'
    workspace = 'go 1.21\nuse (\n\t.\n\t./shelf\n)\n'
    texts = of(tmp_path, {**TEST, **SHELF, 'go.mod': own, 'go.work': workspace}).texts
    assert texts['go.mod'].decode() == own


@pytest.mark.parametrize(
    ('path', 'fault'),
    [
        ('/some/folder', 'absolute'),
        ('"/some/folder"', 'absolute'),
        ('..', 'upwards'),
        ('../' * 12 + 'some/folder', 'upwards'),
        ('example.org/x/../../../some/folder', 'upwards'),
        ('example.org/' + 'a' * 300, 'name_too_long'),
        ('example.org/' + 'a/' * 3000 + 'b', 'path_too_long'),
        ('example.org/' + 'a/' * 300 + 'b', 'too_deep'),
        ('example.org/a\0b', 'nul'),
        ('example.org/ü', 'characters'),
        ('example.org/a,b', 'characters'),
        ('example.org//b', 'characters'),
        ('example.org/b/', 'characters'),
        ('-gcflags=x', 'characters'),
    ],
)
def test_invalid_module_path_refuses_the_revision_with_its_fault(
    tmp_path: Path, path: str, fault: str
) -> None:
    assert of(tmp_path, {**TEST, 'go.mod': module(path)}).refusal == f'module_path:{fault}'


@pytest.mark.parametrize(
    'path', ['shop', 'example.org/Shop~1/x_y+z', 'gopkg.in/yaml.v3', 'example.org/...', 'COM1/aux']
)
def test_valid_module_path_is_accepted(tmp_path: Path, path: str) -> None:
    found = of(tmp_path, {**TEST, 'go.mod': module(path)})
    assert (found.path, found.refusal) == (path, None)


def test_nested_module_with_an_invalid_path_is_refused_alone(tmp_path: Path) -> None:
    nested = {'sub/go.mod': module('../../x'), 'sub/a_test.go': TEST['a_test.go']}
    found = of(tmp_path, {**TEST, **nested, 'go.mod': module('example.com/shop')})
    assert (found.refusal, dict(found.refused)) == (None, {'sub': 'module_path:upwards'})


def test_language_level_of_thousands_of_digits_is_read(tmp_path: Path) -> None:
    level = '1.' + '9' * 6000
    assert of(tmp_path, {**TEST, 'go.mod': module('example.com/shop', level)}).level[0] == 1
