"""The builder's report on a reactor, parsed and typed; folders are relative to their module.

The JSON comes from a JVM that ran the repository's own plugins. Shapes are therefore checked where
they are read, and a path that leaves the tree is refused.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from coevo.languages.java.places import BUILD_TREE, HEAD, REPOSITORY, TREE
from coevo.languages.java.tools.toolchain import FIRST_WITH_MODULES, Toolchain

LEVEL_RAISED = 'source-level-8'
LINTERS_LEFT_OUT = 'without-linters'
RANGES_PINNED = 'lowest-in-ranges'
_WITHOUT = 'without-'

# The Maven scopes that each value of surefire's `classpathDependencyScopeExclude` covers.
_SCOPES = {
    'compile': ('compile', 'provided', 'system'),
    'runtime': ('compile', 'runtime'),
    'compile+runtime': ('compile', 'provided', 'runtime', 'system'),
    'runtime+system': ('compile', 'runtime', 'system'),
    'provided': ('provided',),
    'system': ('system',),
    'test': ('compile', 'provided', 'runtime', 'system', 'test'),
}

# Failure of a module that writes its classes outside its own folder, so that tests cannot use them.
OUTPUT_ELSEWHERE = 'output_elsewhere'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedClassPathEntry:
    """An entry of a module's test class path, other than the folders of the module's own classes.

    Exactly one of `sibling`, `path` and `file` is set.

    coordinates  GROUP:ARTIFACT:VERSION, then the classifier if there is one
    scope        Maven's scope: compile, provided, runtime, system or test
    path         of a library: its path in the repository of libraries
    file         of a library that the project contains: its path in the tree
    sibling      of another module's output: that module
    folder       of another module's output: the folder in that module
    tests        whether that output is test classes, not main classes
    """

    coordinates: str
    scope: str = 'compile'
    path: str | None = None
    file: str | None = None
    sibling: str | None = None
    folder: str | None = None
    tests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SurefireSettings:
    """The POM's settings of the surefire plugin, with which test processes are started.

    arg_line        options of the JVM, as one text
    assertions      whether `assert` statements are switched on
    properties      system properties
    parameters      further ones, in files of TestNG's suites, which are a part of the tests
    environment     environment variables
    working_folder  path in the tree; None for the module's own folder
    more_places     additional entries at the end of the class path, as a test process sees them
    left_out        GROUP:ARTIFACT of libraries that are hidden from tests; both may contain stars
    left_out_scope  a scope of libraries that are hidden from tests, in Maven's words
    """

    arg_line: str = ''
    assertions: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    working_folder: str | None = None
    more_places: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    left_out_scope: str | None = None

    def excludes_entry(self, entry: ReportedClassPathEntry) -> bool:
        """Return whether surefire hides a class path entry from running tests, by scope or name.

        Tests are compiled with the entry nevertheless.
        """
        if entry.scope in _SCOPES.get(self.left_out_scope or '', ()):
            return True
        names = entry.coordinates.split(':')
        return any(
            all(map(fnmatchcase, names, pattern.split(':')[:2])) for pattern in self.left_out
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaModule:
    """A module of a built revision: its folder in the tree (`path`), class path and settings.

    `failure` says why it was not built; None if it was.
    """

    path: str
    index: int  # its number in the reactor, and that of its files in the builder's answer
    failure: str | None
    classes: str
    test_classes: str
    test_source_roots: tuple[str, ...]
    test_folders: tuple[str, ...]  # test sources and resources that lie in the tree
    class_path: tuple[ReportedClassPathEntry, ...]
    compiler: Mapping[str, Any]
    surefire: SurefireSettings
    overrides: tuple[str, ...]
    tests_compiled: bool  # by Maven, since sibling modules use the test classes
    source_roots: tuple[str, ...] = ()  # of main sources that lie in the tree
    main_compiler: Mapping[str, Any] = field(default_factory=dict)


def remove_project_options(module: JavaModule) -> JavaModule:
    """Return the module without the JVM options, properties and variables of the project."""
    plain = replace(module.surefire, arg_line='', properties={}, parameters={}, environment={})
    return replace(module, surefire=plain)


def take_suite_parameters(module: JavaModule, tests: JavaModule | None) -> JavaModule:
    """Return the module with the parameters of suites that it has at the tests' revision.

    tests  the module there; None if that revision lacks it, and nothing changes
    """
    if tests is None or tests.surefire.parameters == module.surefire.parameters:
        return module
    settings = replace(module.surefire, parameters=tests.surefire.parameters)
    return replace(module, surefire=settings)


def parse_modules(report: Mapping[str, Any]) -> dict[str, JavaModule]:
    """Return the modules of a builder's report by their folder, without those outside the tree."""
    projects = [
        (index, project)
        for index, project in enumerate(report.get('projects') or [])
        if _is_inside_tree(project['module'])
    ]
    folders = {project['module']: _ModuleFolder(project['module']) for _, project in projects}
    return {
        project['module']: _parse_module(index, project, folders) for index, project in projects
    }


def _is_inside_tree(path: str) -> bool:
    """Return whether a module's path stays in the tree: it is relative and has no `..`.

    coevo creates and removes folders named after it.
    """
    return not path.startswith('/') and '..' not in PurePosixPath(path).parts


def name_failure(failure: Mapping[str, Any] | None) -> str:
    """Return a short and stable name for the failure of a build or a module.

    It is the kind of missing content if the builder recognised one, else the Maven goal that
    failed, else the class of the last exception. `unknown` if the report has none of these.
    """
    failure = failure or {}
    exceptions = failure.get('exceptions') or ['unknown']
    name = failure.get('kind') or failure.get('mojo') or exceptions[-1].rpartition('.')[2]
    return str(name)


@dataclass(frozen=True, slots=True)
class _ModuleFolder:
    module: str

    def make_relative(self, path: str) -> str:
        """Return an absolute path of the build, accepted by `contains`, relative to this module."""
        return str(PurePosixPath(path).relative_to(PurePosixPath(BUILD_TREE, self.module)))

    def contains(self, path: str) -> bool:
        """Return whether an absolute path of the build lies below this module's folder.

        The folder itself does not count.
        """
        base = PurePosixPath(BUILD_TREE, self.module)
        pure_path = PurePosixPath(path)
        return pure_path != base and pure_path.is_relative_to(base) and '..' not in pure_path.parts


def _parse_module(
    index: int, project: Mapping[str, Any], folders: Mapping[str, _ModuleFolder]
) -> JavaModule:
    name = project['module']
    here = folders[name]
    roots = [p for p in project['test_source_roots'] if here.contains(p)]
    build_folder = str(PurePosixPath(project['build_folder']))
    in_tree = [p for p in roots if not p.startswith(build_folder)]
    mains = [
        p for p in project['source_roots'] if here.contains(p) and not p.startswith(build_folder)
    ]
    resources = [r['directory'] for r in project['test_resources'] if here.contains(r['directory'])]
    status = project['status']
    failure = None
    if status != 'built':
        failure = name_failure(project['failure']) if project['failure'] else status
    elif not (here.contains(project['output']) and here.contains(project['test_output'])):
        failure = OUTPUT_ELSEWHERE
    entries = (_parse_entry(entry, folders) for entry in project['test_class_path'])
    return JavaModule(
        path=name,
        index=index,
        failure=failure,
        classes=_locate_output(here, project['output'], 'target/classes'),
        test_classes=_locate_output(here, project['test_output'], 'target/test-classes'),
        test_source_roots=tuple(here.make_relative(p) for p in in_tree),
        test_folders=tuple(here.make_relative(p) for p in (*in_tree, *resources)),
        class_path=tuple(entry for entry in entries if entry is not None),
        compiler=project['compiler'] or {},
        surefire=_parse_surefire(project['surefire'] or {}, here),
        overrides=tuple(_list_overrides(project)),
        tests_compiled=bool(project['compiles_tests']),
        source_roots=tuple(here.make_relative(p) for p in mains),
        main_compiler=project['main_compiler'] or {},
    )


def _list_overrides(project: Mapping[str, Any]) -> Iterator[str]:
    if project['level_raised']:
        yield LEVEL_RAISED
    if project['linters']:
        yield LINTERS_LEFT_OUT
    if project['ranges']:
        yield RANGES_PINNED
    yield from (f'{_WITHOUT}{plugin}' for plugin in project['without'] or ())


def list_left_out_plugins(modules: Iterable[JavaModule]) -> tuple[str, ...]:
    """Return the plugins, or executions `PLUGIN@EXECUTION`, that modules are built without."""
    names = {
        override.removeprefix(_WITHOUT)
        for module in modules
        for override in module.overrides
        if override.startswith(_WITHOUT) and override != LINTERS_LEFT_OUT
    }
    return tuple(sorted(names))


def _locate_output(here: _ModuleFolder, path: str, otherwise: str) -> str:
    return here.make_relative(path) if here.contains(path) else otherwise


def _parse_entry(
    entry: Mapping[str, Any], folders: Mapping[str, _ModuleFolder]
) -> ReportedClassPathEntry | None:
    """Return an entry of a class path; None for a file outside of the tree and the libraries.

    Such a file belongs to the system and is not visible in the sandbox.
    """
    coordinates = ':'.join(filter(None, (entry['gav'], entry['classifier'])))
    sibling, path = entry['module'], entry['path']
    scope = entry['scope'] or 'compile'
    if sibling is not None and sibling in folders and folders[sibling].contains(path):
        return ReportedClassPathEntry(
            coordinates=coordinates,
            scope=scope,
            sibling=sibling,
            folder=folders[sibling].make_relative(path),
            tests=entry['kind'] == 'test-classes',
        )
    if (library := locate_library(path)) is not None:
        return ReportedClassPathEntry(coordinates=coordinates, scope=scope, path=library)
    tree = _ModuleFolder('.')
    if not tree.contains(path):
        return None
    return ReportedClassPathEntry(
        coordinates=coordinates, scope=scope, file=tree.make_relative(path)
    )


def locate_library(path: str) -> str | None:
    """Return a library's path relative to the repository of libraries; None for any other path.

    `path` may lie in either of the two folders that Maven has in the sandbox, HEAD or REPOSITORY.
    """
    for base in (HEAD, REPOSITORY):
        if PurePosixPath(path).is_relative_to(base) and '..' not in PurePosixPath(path).parts:
            return str(PurePosixPath(path).relative_to(base))
    return None


def _parse_surefire(settings: Mapping[str, Any], here: _ModuleFolder) -> SurefireSettings:
    properties = settings.get('properties') or {}
    parameters = settings.get('suiteParameters') or {}
    variables = settings.get('environmentVariables') or {}
    more = (
        _translate_path_for_test_process(path, here)
        for path in settings.get('additionalClasspathElements') or ()
    )
    folder = settings.get('workingDirectory')
    return SurefireSettings(
        arg_line=_translate_text_for_test_process(settings.get('argLine') or ''),
        properties={
            name: _translate_text_for_test_process(value)
            for name, value in sorted(properties.items())
        },
        parameters={
            name: _translate_text_for_test_process(value)
            for name, value in sorted(parameters.items())
        },
        environment={
            name: _translate_text_for_test_process(value)
            for name, value in sorted(variables.items())
        },
        working_folder=_locate_in_tree(folder, here) if folder else None,
        assertions=settings.get('enableAssertions') != 'false',
        more_places=tuple(entry for entry in more if entry is not None),
        left_out=tuple(settings.get('classpathDependencyExcludes') or ()),
        left_out_scope=settings.get('classpathDependencyScopeExclude') or None,
    )


def _translate_text_for_test_process(text: str) -> str:
    """Return a text with the build's folders replaced by those that a test process sees."""
    return text.replace(BUILD_TREE, TREE).replace(HEAD, REPOSITORY)


def _translate_path_for_test_process(path: str, here: _ModuleFolder) -> str | None:
    """Translate the path of a file in the tree or of a library; None for any other path."""
    if (library := locate_library(path)) is not None:
        return f'{REPOSITORY}/{library}'
    tree_path = _locate_in_tree(path, here)
    return None if tree_path is None else str(PurePosixPath(TREE, tree_path))


def _locate_in_tree(path: str, here: _ModuleFolder) -> str | None:
    """Return a path of the build relative to the tree's root; None if it leads out of the tree.

    `path` is absolute or relative to the module's folder.
    """
    resolved_path = PurePosixPath(posixpath.normpath(PurePosixPath(BUILD_TREE, here.module, path)))
    return (
        str(resolved_path.relative_to(BUILD_TREE))
        if resolved_path.is_relative_to(BUILD_TREE)
        else None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JdkDemand:
    """The lowest and highest feature release that build files allow; None if they do not say.

    `named` holds the releases that files of continuous integration and version managers name.
    """

    lowest: int | None = None
    highest: int | None = None
    named: frozenset[int] = frozenset()


# The language level that a build declares, as Maven derives it from all POMs.

# 8 for `8`, `1.8` and `1.8.0`.
_LEVEL = re.compile(r'(?:1\.)?(\d{1,2})(?:\.\d+)*')


def find_highest_declared_level(modules: Iterable[JavaModule]) -> int | None:
    """Return the highest declared level of the modules; None if none is declared.

    A level that coevo had to raise or fill in does not count. A JDK for the whole build must
    support the highest level.
    """
    levels = (
        _parse_level(str(compiler.get('release') or compiler.get('source') or ''))
        for module in modules
        if LEVEL_RAISED not in module.overrides
        for compiler in (module.main_compiler, module.compiler)
    )
    return max((level for level in levels if level is not None), default=None)


def _parse_level(text: str) -> int | None:
    match = _LEVEL.fullmatch(text.strip())
    return int(match[1]) if match else None


def list_javac_options(
    compiler: Mapping[str, object], tools: Toolchain, locate_in_tree: Callable[[str], str]
) -> Iterator[str]:
    """Yield javac's options for a module, from the settings of its compiler plugin.

    These are language level, encoding (UTF-8 if none is set), annotation processors that are
    libraries or outputs of other modules, and the POM's own arguments. The class path is not
    included.

    locate_in_tree  returns the sandbox path of a file of the built code, by its path in the tree
    """
    yield from _list_level_options(compiler, tools)
    yield from ('-encoding', str(compiler.get('encoding') or 'UTF-8'))
    if compiler.get('parameters'):
        yield '-parameters'
    if compiler.get('proc'):
        yield f'-proc:{compiler["proc"]}'
    processor_path = compiler.get('processor_path')
    if isinstance(processor_path, list) and processor_path:
        places = _locate_processors(map(str, processor_path), locate_in_tree)
        yield from ('-processorpath', os.pathsep.join(places))
    processors = compiler.get('processors')
    if isinstance(processors, list) and processors:
        yield from ('-processor', ','.join(map(str, processors)))
    arguments = compiler.get('arguments')
    if isinstance(arguments, list):
        yield from map(str, arguments)


def _locate_processors(paths: Iterable[str], locate_in_tree: Callable[[str], str]) -> Iterator[str]:
    tree = _ModuleFolder('.')
    for path in paths:
        if (library := locate_library(path)) is not None:
            yield f'{REPOSITORY}/{library}'
        elif tree.contains(path):
            yield locate_in_tree(tree.make_relative(path))


def _list_level_options(compiler: Mapping[str, object], tools: Toolchain) -> Iterator[str]:
    """Yield `--release` if it is set and the JDK has it (9 or later); else `-source` and `-target`.

    This is what compiler plugin 3.13 does. An option that the POM does not set is left out.
    """
    if compiler.get('release') and tools.feature >= FIRST_WITH_MODULES:
        yield from ('--release', str(compiler['release']))
        return
    for name in ('source', 'target'):
        if compiler.get(name):
            yield from (f'-{name}', str(compiler[name]))
