"""What a build says of itself is checked: its plugins may have written it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coevo.languages.java.building.report import (
    ReportedClassPathEntry,
    SurefireSettings,
    list_javac_options,
    list_left_out_plugins,
    parse_modules,
    take_suite_parameters,
)
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.tools.toolchain import Toolchain


def project(module: str, **changed: Any) -> dict[str, Any]:
    base = '/w/build' if module == '.' else f'/w/build/{module}'
    return {
        'module': module,
        'status': 'built',
        'failure': None,
        'level_raised': False,
        'linters': False,
        'ranges': False,
        'without': [],
        'compiles_tests': False,
        'build_folder': f'{base}/target',
        'source_roots': [f'{base}/src/main/java'],
        'test_source_roots': [f'{base}/src/test/java'],
        'test_resources': [],
        'output': f'{base}/target/classes',
        'test_output': f'{base}/target/test-classes',
        'test_class_path': [],
        'compiler': None,
        'main_compiler': None,
        'surefire': None,
        **changed,
    }


def entry(path: str, module: str | None = None) -> dict[str, Any]:
    return {
        'gav': 'g:a:1',
        'classifier': None,
        'scope': 'test',
        'path': path,
        'module': module,
        'kind': 'artifact',
    }


def test_processors_are_libraries_or_files_of_the_tree() -> None:
    place = Path('/nowhere')
    tools = Toolchain(
        java_home=place,
        jdk='17.0.15',
        tools_home=place,
        maven_home=place,
        tools=place,
        libraries=place,
    )
    paths = [
        f'{REPOSITORY}/g/a.jar',
        '/w/build/maker/target/classes',
        '/usr/b.jar',
        '/w/build/../c',
    ]
    options = [*list_javac_options({'processor_path': paths}, tools, '/code/{}'.format)]
    assert options[-2:] == ['-processorpath', f'{REPOSITORY}/g/a.jar:/code/maker/target/classes']


@pytest.mark.parametrize('name', ['../other', '../../../etc', '/etc', 'a/../../b'])
def test_module_outside_the_tree_is_left_out_and_other_indices_stay(name: str) -> None:
    modules = parse_modules({'projects': [project(name), project('core')]})
    assert {path: module.index for path, module in modules.items()} == {'core': 1}


@pytest.mark.parametrize('place', ['/tmp/classes', '/w/build/other/classes', '/w/build/core'])
def test_module_with_its_output_elsewhere_has_failed(place: str) -> None:
    module = parse_modules({'projects': [project('core', output=place)]})['core']
    assert (module.failure, module.classes) == ('output_elsewhere', 'target/classes')


@pytest.mark.parametrize(
    'folder', ['/w/build/core', '/w/build', '/w/build/core/../app', '/etc', '/w/build/corelli']
)
def test_resource_folder_equal_to_or_outside_the_module_is_no_test_folder(folder: str) -> None:
    found = parse_modules({'projects': [project('core', test_resources=[{'directory': folder}])]})
    assert found['core'].test_folders == ('src/test/java',)


def test_class_path_entry_is_a_library_a_file_of_the_tree_or_a_sibling() -> None:
    path = [
        entry('/repo/g/a/1/a-1.jar'),
        entry('/w/m2/g/a/1/a-1.jar'),
        entry('/w/build/core/lib/a.jar'),
        entry('/w/build/core/target/classes', module='core'),
    ]
    module = parse_modules({'projects': [project('core'), project('app', test_class_path=path)]})
    assert module['app'].class_path == (
        ReportedClassPathEntry(coordinates='g:a:1', scope='test', path='g/a/1/a-1.jar'),
        ReportedClassPathEntry(coordinates='g:a:1', scope='test', path='g/a/1/a-1.jar'),
        ReportedClassPathEntry(coordinates='g:a:1', scope='test', file='core/lib/a.jar'),
        ReportedClassPathEntry(
            coordinates='g:a:1', scope='test', sibling='core', folder='target/classes'
        ),
    )


@pytest.mark.parametrize('path', ['/etc/passwd', '/repo/../etc/passwd', '/w/build/../../etc'])
def test_files_of_the_system_are_never_on_the_class_path(path: str) -> None:
    module = parse_modules({'projects': [project('app', test_class_path=[entry(path)])]})
    assert module['app'].class_path == ()


def surefire(**settings: Any) -> SurefireSettings:
    return parse_modules({'projects': [project('core', surefire=settings)]})['core'].surefire


@pytest.mark.parametrize(
    ('folder', 'expected'),
    [
        ('/w/build/core/target/work', 'core/target/work'),
        ('target/work', 'core/target/work'),
        ('..', '.'),
        ('/w/build', '.'),
        ('/tmp', None),
        ('../../etc', None),
    ],
)
def test_surefire_working_folder_outside_the_tree_is_ignored(
    folder: str, expected: str | None
) -> None:
    assert surefire(workingDirectory=folder).working_folder == expected


def test_paths_of_surefire_are_translated_to_those_of_the_test_process() -> None:
    more = ['/w/build/core/more', 'even/more', '/w/m2/g/a/1/a-1.jar', '/etc', '../..']
    found = surefire(argLine='-Da=/w/build/core/a -Db=/w/m2/b', additionalClasspathElements=more)
    assert found.arg_line == '-Da=/w/core/a -Db=/repo/b'
    assert found.more_places == ('/w/core/more', '/w/core/even/more', '/repo/g/a/1/a-1.jar')


@pytest.mark.parametrize(
    ('settings', 'expected'),
    [
        ({'classpathDependencyExcludes': ['g:a']}, True),
        ({'classpathDependencyExcludes': ['g:*', 'x:y']}, True),
        ({'classpathDependencyExcludes': ['g:b', 'a']}, False),
        ({'classpathDependencyScopeExclude': 'test'}, True),
        ({'classpathDependencyScopeExclude': 'runtime'}, False),
        ({'classpathDependencyScopeExclude': 'nonsense'}, False),
    ],
)
def test_surefire_settings_exclude_libraries_from_the_class_path(
    settings: dict[str, Any], expected: bool
) -> None:
    left_out = surefire(**settings).excludes_entry(
        ReportedClassPathEntry(coordinates='g:a:1', scope='test')
    )
    assert left_out is expected


def test_parameters_of_suites_are_those_of_the_tests_and_all_else_is_of_the_code() -> None:
    def settings(price: str) -> dict[str, Any]:
        return {'suiteParameters': {'price': price}, 'properties': {'till': price}}

    code, tests = (
        parse_modules({'projects': [project('.', surefire=settings(price))]})['.']
        for price in ('4', '3')
    )
    taken = take_suite_parameters(code, tests)
    assert (taken.surefire.parameters, taken.surefire.properties) == ({'price': '3'}, {'till': '4'})
    assert take_suite_parameters(code, None) is take_suite_parameters(code, code) is code


def test_plugins_that_modules_are_built_without_are_named_once() -> None:
    rows = [
        project('a', without=['exec-maven-plugin'], linters=True),
        project('b', without=['exec-maven-plugin', 'maven-compiler-plugin@module-info']),
    ]
    modules = parse_modules({'projects': rows}).values()
    assert list_left_out_plugins(modules) == (
        'exec-maven-plugin',
        'maven-compiler-plugin@module-info',
    )
