"""The Python files of one revision: tests and sources, their modules and types."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Import, LocatedType, SourceFile
from coevo.languages.located_types import (
    PlacedFiles,
    find_folder_above,
    find_kind_of_code,
    find_meant_test_types,
    find_no_companions,
    find_no_embedders,
    group_paths_by_side,
    index_test_types,
    list_paths_of_side,
)
from coevo.languages.python.collection import (
    DEFAULT,
    CollectionRules,
    PythonFile,
    find_collection_rules,
    list_folders_upwards,
)
from coevo.languages.python.layout import TestNames, find_test_file_names, select_test_paths
from coevo.languages.python.reading.module_paths import derive_module_name, get_module_paths
from coevo.languages.python.reading.modules import FixtureModules, PythonModules
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tests import find_collected_base_names
from coevo.languages.reading import Side
from coevo.model.records import FileOrigin

_LINK = '120000'
_BUILD_FILES = frozenset({'pyproject.toml', 'setup.py', 'setup.cfg'})
# Files that build or document a project; no test can import them.
_NO_CODE = frozenset({'setup.py', 'noxfile.py', 'conf.py'})
# unittest collects more files than pytest; whole suites are in test.py and tests.py.
_CLASS = re.compile(rb'^[ \t]*class\s+(\w+)\s*\(([^)]*)\)', re.MULTILINE)


class PythonTree:
    """The Python files of one revision, each parsed when it is first needed."""

    paths_by_side = cached_property(group_paths_by_side)
    list_paths = list_paths_of_side
    test_types = cached_property(index_test_types)
    # The module of a file with fixtures is visible where its fixtures are, without an import.
    resolve_test_type = find_meant_test_types
    find_types_sharing_fixtures = find_no_companions
    find_embedders = find_no_embedders
    find_production_kind = find_kind_of_code

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)
        self._files: dict[str, PythonFile] = {}
        self._origins: dict[str, FileOrigin] = {}
        self._rules = cache(self._find_rules)

    def parse_file(self, path: str) -> SourceFile:
        """Return a file with its imports and collection rules resolved in this revision."""
        if path not in self._files:
            self._files[path] = self._parse_with_context(path)
        return self._files[path]

    def read_content(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._repository.blob(self.entries[path].oid)

    def parse_alone(self, path: str) -> SourceFile:
        """Return a file parsed without the context of its revision."""
        return parse(self.read_content(path), path)

    def _parse_with_context(self, path: str) -> PythonFile:
        """Return a file with what its revision adds: resolved imports, whether it is collected."""
        parsed = self.parse_alone(path)
        imports = self.import_resolver.resolve_imports(path, parsed)
        if path not in self._test_paths:
            return _PLACED.place(self.read_content(path), path, PythonFileContext(imports=imports))
        rules = self._rules(posixpath.dirname(path) or '.')
        around = PythonFileContext(
            imports=imports,
            rules=rules,
            collected=rules.collects_file(path) or self._is_named_for_tests(path, parsed.types),
            extended=self._collected_base_names & {type_.simple for type_ in parsed.types},
            interfaces=tuple(
                dict.fromkeys(
                    derive_module_name(other).rpartition('.')[2]
                    for other in self._fixture_modules.find_fixture_files(path)
                )
            ),
        )
        return _PLACED.place(self.read_content(path), path, around)

    def _is_named_for_tests(self, path: str, types: tuple[DeclaredType, ...]) -> bool:
        """Return whether a file is named for tests: `test.py`, `tests.py`, or as unittest's."""
        name = path.rpartition('/')[2]
        if name in ('test.py', 'tests.py'):
            return True
        return name.startswith('test') and any('Case' in (t.superclass or '') for t in types)

    def find_origin(self, path: str) -> FileOrigin:
        """Return whether a file was written here, generated, or copied from another project."""
        if path not in self._origins:
            source, types = self.read_content(path), self.parse_alone(path).types
            starts = [m.start_byte for t in types[:1] for m in t.members]
            starts += [type_.start_byte for type_ in types[1:]]
            first = min(starts, default=len(source))
            self._origins[path] = determine_origin(path, source, first)
        return self._origins[path]

    def find_side(self, path: str) -> Side | None:
        """Return whether a Python file belongs to the tests or to the code.

        None for links, for files that build or document the project, and for other files.
        """
        entry = self.entries.get(path)
        if entry is None or entry.mode == _LINK or not path.endswith('.py'):
            return None
        if path in self._test_paths:
            return Side.TEST
        return None if path.rpartition('/')[2] in _NO_CODE else Side.SOURCE

    def belongs_to_code(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the code: it is none of the tests."""
        return path not in self._test_paths

    def belongs_to_tests(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the tests."""
        return path in self._test_paths

    @cached_property
    def _test_paths(self) -> frozenset[str]:
        names = find_test_file_names(self.entries, self.read_content)
        return _get_test_paths(frozenset(self.entries), names)

    def find_module_folder(self, path: str) -> str:
        """Return the nearest folder around a file that has a build file; '.' if there is none."""
        return find_folder_above(path, self.module_folders)

    @cached_property
    def module_folders(self) -> frozenset[str]:
        """The folders that hold a build file."""
        return frozenset(
            str(PurePosixPath(path).parent)
            for path in self.entries
            if path.rpartition('/')[2] in _BUILD_FILES
        )

    @cached_property
    def import_resolver(self) -> PythonModules:
        """The resolver for the imports of this revision."""
        paths = frozenset(path for path in self.entries if path.endswith('.py'))
        return PythonModules(get_module_paths(paths, self.module_folders), self.read_content)

    @cached_property
    def _fixture_modules(self) -> FixtureModules:
        paths = frozenset(path for path in self.entries if path.endswith('.py'))
        return FixtureModules(
            get_module_paths(paths, self.module_folders),
            [path for path in self._test_paths if self.find_side(path) is Side.TEST],
            self.parse_alone,
            self.read_content,
            lambda path: self._rules(posixpath.dirname(path) or '.').plugins,
        )

    def _find_rules(self, folder: str) -> CollectionRules:
        """Return the collection rules for the files in a folder, as pytest finds its settings.

        The nearest settings apply, of the folder itself or of one above it.
        """
        folders = list_folders_upwards(folder)
        return find_collection_rules(folders, self.entries, self.read_content) or DEFAULT

    @cached_property
    def _collected_base_names(self) -> frozenset[str]:
        """The simple names of the classes that collected classes of the test tree extend."""
        paths = self.list_paths(Side.TEST)
        classes = [
            class_and_bases
            for path in paths
            for class_and_bases in _scan_classes(self.read_content(path))
        ]
        return find_collected_base_names(classes, self._rules('.'))

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Return whether a file's code can name a type, simply or through its module.

        It can name its own types, what it imports, and the modules whose fixtures apply to it.
        """
        if path == type_.path:
            return True
        if type_.type.kind == 'module' and type_.path in self._fixture_modules.find_fixture_files(
            path
        ):
            return True
        module = type_.type.name.partition('$')[0]
        canonical = type_.canonical_name
        return any(
            imported.text == canonical
            or (imported.text == module and (imported.name == '*' or not imported.static))
            for imported in self.parse_file(path).imports
        )


@lru_cache(maxsize=2048)
def _scan_classes(source: bytes) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the classes of a file with their bases, by simple names, without parsing the file."""
    return tuple(
        (name.decode(errors='replace'), tuple(_split_base_names(bases.decode(errors='replace'))))
        for name, bases in _CLASS.findall(source)
    )


def _split_base_names(bases: str) -> list[str]:
    return [base.strip().rpartition('.')[2] for base in bases.split(',')]


@lru_cache(maxsize=8)
def _get_test_paths(paths: frozenset[str], names: TestNames) -> frozenset[str]:
    """Return the paths that belong to tests, from a cache.

    Adjacent revisions mostly have the same files.
    """
    return select_test_paths(paths, names)


@lru_cache(maxsize=4)
def open_tree(repository: Repository, rev: str) -> PythonTree:
    """Return the tree of a revision from a cache; adjacent pairs of a walk share a revision."""
    return PythonTree(repository, rev)


# A file in the context of its revision. Revisions with an equal context share one object.


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFileContext:
    """The facts about a parsed file that only its revision decides.

    imports     its imports, resolved
    interfaces  of the module: names that it sees without an import, by fixtures

    The other fields are those of `PythonFile`.
    """

    imports: tuple[Import, ...]
    interfaces: tuple[str, ...] = ()
    rules: CollectionRules = DEFAULT
    collected: bool = False
    extended: frozenset[str] = frozenset()


def _apply_context(parsed: SourceFile, around: PythonFileContext) -> PythonFile:
    known = {each.name: getattr(parsed, each.name) for each in fields(SourceFile)}
    known['imports'] = around.imports
    if around.interfaces:
        first, others = parsed.types[:1], parsed.types[1:]
        known['types'] = (*(replace(t, interfaces=around.interfaces) for t in first), *others)
    return PythonFile(
        **known, rules=around.rules, collected=around.collected, extended=around.extended
    )


_PLACED = PlacedFiles(parse, _apply_context)


# Decide from its path and head whether a Python file was written by hand in this project.
#
# The rules started from GitHub Linguist's for generated and vendored files
# (https://github.com/github-linguist/linguist/blob/main/lib/linguist/vendor.yml).

_VENDORED = re.compile(
    r'_?vendor(s|ed)?|_?(third|3rd)[-_]?party|extern(al|als)?|node_modules|bower_components|site-packages',
    re.IGNORECASE,
)
_GENERATED = re.compile(r'(auto|_)?[-_]?generated([-_]\w+)?|build|dist', re.IGNORECASE)
_NAMES = re.compile(r'.*_pb2(_grpc)?|versioneer|_version|ez_setup|.*\.generated|parsetab|lextab')
_VENDORED_NAMES = frozenset({'ez_setup', 'versioneer', 'six'})

_COMMENT = re.compile(r'(?:^[ \t]*#[^\n]*\n?)+', re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:[ \t]*#[^\n]*\n|\s)*[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_DECORATION = re.compile(r'^[ \t\r#*=-]+', re.MULTILINE)
# A notice starts a sentence; the same words within another sentence may mean something else.
_SENTENCE = r'(?:\A\s*|(?<=[.:!;,\n])\n)(?:(?:note|warning|attention)[:!]\s*)?'
_MAKER = re.compile(
    rf"""
    {_SENTENCE}
    (?:
      (?:this|the\s+following)\s+(?:python\s+)?(?:source\s+)?(?:file|module|code|source)s?
      \s+(?:is|was|has\s+been)\s+(?:auto(?:matically)?[\s-]*)?generated\b
    | (?:@|auto(?:matically)?[\s-]*)generated\b
    | (?:code\s+)?generated\s+(?:by|from|with)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HANDS_OFF = re.compile(r'\bdo\s+not\s+(?:edit|modify|change)\b', re.IGNORECASE)
_SAID_GENERATED = re.compile(r'\b(?:auto)?[-\s]?generated\b', re.IGNORECASE)


def determine_origin(path: str, source: bytes, first_byte: int) -> FileOrigin:
    """Return whether a file is vendored, generated or written, by its path and its head.

    first_byte  the offset of its first declaration; a notice above it may say that it is generated
    """
    *folders, name = path.removesuffix('.py').split('/')
    if name in _VENDORED_NAMES or any(map(_VENDORED.fullmatch, folders)):
        return FileOrigin.VENDORED
    by_path = _NAMES.fullmatch(name) or any(map(_GENERATED.fullmatch, folders))
    if by_path or _says_generated(source[:first_byte].decode(errors='replace')):
        return FileOrigin.GENERATED
    return FileOrigin.WRITTEN


def _says_generated(head: str) -> bool:
    """Return whether a comment or docstring above the first declaration says it is generated."""
    texts = [match[0] for match in _COMMENT.finditer(head)]
    if docstring := _DOCSTRING.match(head):
        texts.append(docstring[2])
    return any(map(_is_generated_notice, texts))


def _is_generated_notice(comment: str) -> bool:
    text = _DECORATION.sub('', comment)
    if _MAKER.search(text) is not None:
        return True
    return bool(_HANDS_OFF.search(text) and _SAID_GENERATED.search(text))
