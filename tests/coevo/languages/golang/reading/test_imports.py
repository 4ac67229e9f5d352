from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse
from coevo.languages.golang.reading.imports import (
    GoModulePaths,
    ImportingFile,
    guess_root_import_path,
    parse_module_path,
)
from coevo.languages.golang.reading.layout import (
    GoFileHead,
    ImportEdge,
    find_test_only_packages,
    may_be_test_only_package,
)
from coevo.languages.golang.reading.syntax import parse_head


@pytest.mark.parametrize(
    ('path', 'used', 'name'),
    [
        ('net/http', 'http.Get', 'http'),
        ('github.com/go-chi/chi/v5', 'chi.New', 'chi'),
        ('gopkg.in/yaml.v3', 'yaml.Node', 'yaml'),
        ('github.com/satori/go.uuid', 'uuid.New', 'uuid'),
        ('github.com/mattn/go-isatty', 'isatty.Is', 'isatty'),
        ('github.com/nats-io/nats.go', 'nats.Connect', 'nats'),
        ('github.com/foo/go-bar', 'baz.Get', 'baz'),
        ('github.com/hashicorp/go-cleanhttp', 'cleanhttp.Get', 'cleanhttp'),
    ],
)
def test_import_name_is_guessed_from_its_path_and_its_uses(path: str, used: str, name: str) -> None:
    source = f'package a\nimport "{path}"\nfunc f() {{ x := 1; x.y(); {used}() }}'
    (one,) = parse(source.encode()).imports
    assert one.name == name


def test_import_alias_is_kept_beside_imports_with_similar_paths() -> None:
    source = b'package a\nimport (\n"a.b/go-x"\n"a.b/x-go"\ny "a.b/x"\n)\nvar p, q = x.A, y.B'
    assert [one.name for one in parse(source).imports][2] == 'y'


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (b'module github.com/a/b // old\n\ngo 1.21\n', 'github.com/a/b'),
        (b'// module x\nmodule "github.com/a/b"\n', 'github.com/a/b'),
        (b'go 1.21\n', ''),
    ],
)
def test_module_path_is_read_from_go_mod(text: bytes, expected: str) -> None:
    assert parse_module_path(text) == expected


def test_import_path_resolves_to_a_folder_of_the_nearest_module() -> None:
    folders = frozenset({'.', 'x', 'tools', 'tools/x'})
    paths = GoModulePaths({'.': 'a.b/c', 'tools': 'a.b/c/tools'}, folders)
    assert paths.find_package_folder('a.b/c') == '.'
    assert paths.find_package_folder('a.b/c/x') == 'x'
    assert paths.find_package_folder('a.b/c/tools/x') == 'tools/x'
    assert [paths.find_package_folder(one) for one in ('a.b/cd', 'a.b/c/y', 'fmt')] == [None] * 3


def test_module_path_of_a_tree_without_go_mod_is_guessed_from_its_imports() -> None:
    def one(folder: str, package: str, *imports: str) -> ImportingFile:
        return ImportingFile(
            folder=folder,
            package=package,
            is_external=package.endswith('_test'),
            imports=imports,
        )

    folders = frozenset({'.', 'render', 'x/y'})
    files = [one('.', 'chi', 'github.com/go-chi/chi/render', 'fmt', 'github.com/z/y')]
    assert guess_root_import_path(files, folders) == 'github.com/go-chi/chi'
    files = [
        ImportingFile(
            folder='.', package='mux', is_external=True, imports=('github.com/gorilla/mux',)
        )
    ]
    assert guess_root_import_path(files, frozenset({'.'})) == 'github.com/gorilla/mux'
    assert guess_root_import_path([one('.', 'a', 'github.com/z/y')], frozenset({'.'})) == ''


def test_package_that_only_tests_import_belongs_to_the_tests() -> None:
    assert [
        may_be_test_only_package(one) for one in ('internal/a', 'testutil', 'middleware', '.')
    ] == [
        *(True, True),
        *(False, False),
    ]

    def edge(importer: str, imported: str, by_test: bool) -> ImportEdge:
        return ImportEdge(importer=importer, imported=imported, by_test=by_test)

    graph = [
        edge('.', 'internal/check', True),
        edge('internal/check', 'internal/deep', False),
        edge('cmd', 'internal/used', False),
        edge('.', 'internal/used', True),
        edge('internal/lonely', 'internal/lone', False),
    ]
    candidates = frozenset(f'internal/{one}' for one in ('check', 'deep', 'used', 'lone', 'none'))
    assert find_test_only_packages(candidates, graph) == {'internal/check', 'internal/deep'}


@pytest.mark.parametrize(
    'source',
    [
        b'package shelf\n\nimport "fmt"\n\nfunc A() { fmt.Println() }\n',
        b'// A comment.\npackage shelf_test\n\nimport (\n\t. "a/b"\n\t_ "c"\n\td "e/f/v2"\n)\n',
        b'package cut\nimport "a"\nfunc broken( {\n',
        b'func A() {}\n',
        b'',
    ],
)
def test_head_of_a_file_agrees_with_the_whole_parse(source: bytes) -> None:
    file, head = parse(source), parse_head(source)
    assert head.package == (file.types[0].simple if file.types else '')
    assert head.imports == tuple(import_.text for import_ in file.imports)


def test_file_that_is_too_large_has_no_head() -> None:
    assert parse_head(b'package a\n' + b' ' * (4 << 20)) == GoFileHead(package='', imports=())
