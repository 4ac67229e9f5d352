"""What the builder says of a reactor, typed; folders are relative to their module.

The JSON comes from a JVM that ran the repository's own plugins: shapes are checked where they are
read, and a path that leaves the tree is refused.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from coevo.languages.java.places import BUILD_TREE, HEAD, REPOSITORY, TREE

LEVEL_RAISED = 'source-level-8'
LINTERS_LEFT_OUT = 'without-linters'
RANGES_PINNED = 'lowest-in-ranges'

# What a scope takes in where surefire is told to leave it out.
_SCOPES = {
    'compile': ('compile', 'provided', 'system'),
    'runtime': ('compile', 'runtime'),
    'compile+runtime': ('compile', 'provided', 'runtime', 'system'),
    'runtime+system': ('compile', 'runtime', 'system'),
    'provided': ('provided',),
    'system': ('system',),
    'test': ('compile', 'provided', 'runtime', 'system', 'test'),
}

# A module that writes its classes outside of its own folder: not laid out anew for a test.
OUTPUT_ELSEWHERE = 'output_elsewhere'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedClassPathEntry:
    """An entry of a module's test class path, the module's own two folders left out.

    sibling, folder  the module of the reactor whose output it is, and which folder there
    path             else the place in the repository of libraries
    file             else the place in the tree, of a library that the project brings along
    scope            as Maven says: compile, provided, runtime, system or test
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
    """What the model says of how tests are run.

    working_folder  in the tree; None for the module's own
    more_places     at the end of the class path, as a test process sees them
    left_out        GROUP:ARTIFACT of libraries that tests do not see, either may have stars
    left_out_scope  the same by scope, in Maven's words
    """

    arg_line: str = ''
    assertions: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    working_folder: str | None = None
    more_places: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    left_out_scope: str | None = None

    def excludes_entry(self, entry: ReportedClassPathEntry) -> bool:
        """Whether a test process does without an entry that tests are compiled with."""
        if entry.scope in _SCOPES.get(self.left_out_scope or '', ()):
            return True
        names = entry.coordinates.split(':')
        return any(
            all(map(fnmatchcase, names, pattern.split(':')[:2])) for pattern in self.left_out
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaModule:
    path: str
    index: int  # in the reactor, and of its files in the builder's answer
    failure: str | None
    classes: str
    test_classes: str
    test_source_roots: tuple[str, ...]
    test_folders: tuple[str, ...]  # sources and resources that lie in the tree
    class_path: tuple[ReportedClassPathEntry, ...]
    compiler: Mapping[str, Any]
    surefire: SurefireSettings
    overrides: tuple[str, ...]
    tests_compiled: bool  # by Maven, since siblings use them
    source_roots: tuple[str, ...] = ()  # of main sources that lie in the tree
    main_compiler: Mapping[str, Any] = field(default_factory=dict)


def remove_own_options(module: JavaModule) -> JavaModule:
    """A module whose test processes are started with nothing that the project gives its JVM."""
    plain = replace(module.surefire, arg_line='', properties={}, environment={})
    return replace(module, surefire=plain)


def parse_modules(report: Mapping[str, Any]) -> dict[str, JavaModule]:
    """The projects of a report by their folder; one that lies outside of the tree is left out."""
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
    """Our own folders are made, moved and removed under the names of modules."""
    return not path.startswith('/') and '..' not in PurePosixPath(path).parts


def name_failure(failure: Mapping[str, Any] | None) -> str:
    """A short and stable name for why a project failed: what kind of library is absent, else the
    goal, else the exception's class."""
    failure = failure or {}
    exceptions = failure.get('exceptions') or ['unknown']
    name = failure.get('kind') or failure.get('mojo') or exceptions[-1].rpartition('.')[2]
    return str(name)


@dataclass(frozen=True, slots=True)
class _ModuleFolder:
    module: str

    def make_relative(self, path: str) -> str:
        """A path of the builder's tree that `has` lets pass, relative to this module."""
        return str(PurePosixPath(path).relative_to(PurePosixPath(BUILD_TREE, self.module)))

    def contains(self, path: str) -> bool:
        """Whether a path lies below this module's folder."""
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
    yield from (f'without-{plugin}' for plugin in project['without'] or ())


def _locate_output(here: _ModuleFolder, path: str, otherwise: str) -> str:
    return here.make_relative(path) if here.contains(path) else otherwise


def _parse_entry(
    entry: Mapping[str, Any], folders: Mapping[str, _ModuleFolder]
) -> ReportedClassPathEntry | None:
    """None for a file of the system, which no sandbox sees."""
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
    """Where a library lies in the shared repository, whichever of the two Maven found it in."""
    for base in (HEAD, REPOSITORY):
        if PurePosixPath(path).is_relative_to(base) and '..' not in PurePosixPath(path).parts:
            return str(PurePosixPath(path).relative_to(base))
    return None


def _parse_surefire(settings: Mapping[str, Any], here: _ModuleFolder) -> SurefireSettings:
    properties = settings.get('properties') or {}
    variables = settings.get('environmentVariables') or {}
    more = (
        _translate_path(path, here) for path in settings.get('additionalClasspathElements') or ()
    )
    folder = settings.get('workingDirectory')
    return SurefireSettings(
        arg_line=_translate_text(settings.get('argLine') or ''),
        properties={name: _translate_text(value) for name, value in sorted(properties.items())},
        environment={name: _translate_text(value) for name, value in sorted(variables.items())},
        working_folder=_locate_in_tree(folder, here) if folder else None,
        assertions=settings.get('enableAssertions') != 'false',
        more_places=tuple(entry for entry in more if entry is not None),
        left_out=tuple(settings.get('classpathDependencyExcludes') or ()),
        left_out_scope=settings.get('classpathDependencyScopeExclude') or None,
    )


def _translate_text(text: str) -> str:
    """A text of the build as the test process is to see it."""
    return text.replace(BUILD_TREE, TREE).replace(HEAD, REPOSITORY)


def _translate_path(path: str, here: _ModuleFolder) -> str | None:
    """A folder or file of the tree, or a library; None for what no sandbox sees."""
    if (library := locate_library(path)) is not None:
        return f'{REPOSITORY}/{library}'
    tree_path = _locate_in_tree(path, here)
    return None if tree_path is None else str(PurePosixPath(TREE, tree_path))


def _locate_in_tree(path: str, here: _ModuleFolder) -> str | None:
    """A path, which may be relative to the module, as one of the tree."""
    resolved_path = PurePosixPath(posixpath.normpath(PurePosixPath(BUILD_TREE, here.module, path)))
    return (
        str(resolved_path.relative_to(BUILD_TREE))
        if resolved_path.is_relative_to(BUILD_TREE)
        else None
    )
