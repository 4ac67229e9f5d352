from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse
from coevo.languages.golang.reading.module_paths import ImportingFile
from coevo.languages.golang.reading.module_paths import ModulePaths
from coevo.languages.golang.reading.module_paths import module_path
from coevo.languages.golang.reading.module_paths import own_path
from coevo.languages.golang.reading.testing_packages import ImportEdge
from coevo.languages.golang.reading.testing_packages import may_be_for_tests
from coevo.languages.golang.reading.testing_packages import only_for_tests


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
def test_a_package_is_named_by_its_path_and_by_what_the_file_names(
    path: str, used: str, name: str
) -> None:
    source = f'package a\nimport "{path}"\nfunc f() {{ x := 1; x.y(); {used}() }}'
    (one,) = parse(source.encode()).imports
    assert one.name == name


def test_two_packages_are_told_apart() -> None:
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
def test_a_go_mod_names_its_module(text: bytes, expected: str) -> None:
    assert module_path(text) == expected


def test_an_import_means_a_folder_of_the_nearest_module() -> None:
    folders = frozenset({'.', 'x', 'tools', 'tools/x'})
    paths = ModulePaths({'.': 'a.b/c', 'tools': 'a.b/c/tools'}, folders)
    assert paths.folder('a.b/c') == '.'
    assert paths.folder('a.b/c/x') == 'x'
    assert paths.folder('a.b/c/tools/x') == 'tools/x'
    assert [paths.folder(one) for one in ('a.b/cd', 'a.b/c/y', 'fmt')] == [None] * 3


def test_a_tree_without_go_mod_is_known_by_how_it_imports_itself() -> None:
    def one(folder: str, package: str, *imports: str) -> ImportingFile:
        return ImportingFile(
            folder=folder,
            package=package,
            is_external=package.endswith('_test'),
            imports=imports,
        )

    folders = frozenset({'.', 'render', 'x/y'})
    files = [one('.', 'chi', 'github.com/go-chi/chi/render', 'fmt', 'github.com/z/y')]
    assert own_path(files, folders) == 'github.com/go-chi/chi'
    files = [
        ImportingFile(
            folder='.', package='mux', is_external=True, imports=('github.com/gorilla/mux',)
        )
    ]
    assert own_path(files, frozenset({'.'})) == 'github.com/gorilla/mux'
    assert own_path([one('.', 'a', 'github.com/z/y')], frozenset({'.'})) == ''


def test_packages_that_only_tests_import_are_theirs() -> None:
    assert [may_be_for_tests(one) for one in ('internal/a', 'testutil', 'middleware', '.')] == [
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
    assert only_for_tests(candidates, graph) == {'internal/check', 'internal/deep'}
