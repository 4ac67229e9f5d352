"""The Java files of one revision: tests or sources, their modules and their types."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath
from weakref import WeakValueDictionary

from coevo.git.repository import Repository
from coevo.languages.declarations import LocatedType, SourceFile
from coevo.languages.java.reading.pom_folders import (
    PomFolders,
    join_declared_folders,
    parse_pom_folders,
)
from coevo.languages.java.reading.project_files import (
    BUILD_FILE,
    DeclaredFolder,
    classify_path,
    classify_production,
    find_project_folder,
    is_build_file,
)
from coevo.languages.java.reading.syntax import parse
from coevo.languages.located_types import (
    find_folder_above,
    find_meant_test_types,
    find_no_companions,
    find_no_embedders,
    group_paths_by_side,
    index_test_types,
    list_paths_of_side,
)
from coevo.languages.reading import ProductionKind, Side
from coevo.model.records import FileOrigin

_LINK = '120000'


class JavaTree:
    """The files of one revision by side, tests or sources; its Java files are parsed here.

    A file is read and parsed when it is asked for.
    """

    paths_by_side = cached_property(group_paths_by_side)
    list_paths = list_paths_of_side
    test_types = cached_property(index_test_types)
    find_types_sharing_fixtures = find_no_companions
    find_embedders = find_no_embedders

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)
        self._files: dict[str, SourceFile] = {}
        self._sides: dict[str, Side | None] = {}
        self._origins: dict[str, FileOrigin] = {}
        self._declared_folders = cache(self._parse_declared_folders)

    def parse_file(self, path: str) -> SourceFile:
        """Return the declarations of a Java file of the revision; each file is parsed once."""
        if path not in self._files:
            oid = self.entries[path].oid
            file = _PARSED_FILES.get(oid)
            if file is None:
                file = _PARSED_FILES[oid] = parse(self.read_content(path))
            self._files[path] = file
        return self._files[path]

    def read_content(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self._repository.blob(self.entries[path].oid)

    def find_origin(self, path: str) -> FileOrigin:
        """Return whether a file was written here, generated, or taken from another project."""
        if path not in self._origins:
            self._origins[path] = determine_origin(
                path, self.read_content(path), self.parse_file(path)
            )
        return self._origins[path]

    def find_side(self, path: str) -> Side | None:
        """Return whether a Java file is a test or a source, by its folder.

        The standard folders decide first, then those that the POM of the file's module declares.
        Returns None for resources, symbolic links, files of other languages, and files in no such
        folder.
        """
        if path not in self._sides:
            self._sides[path] = self._find_side(path)
        return self._sides[path]

    def _find_side(self, path: str) -> Side | None:
        entry = self.entries.get(path)
        if entry is None or entry.mode == _LINK or not path.endswith('.java'):
            return None
        placement = classify_path(path)
        if placement is None:
            declared = self._declared_folders(self.find_module_folder(path))
            above = [folder for folder in declared if path.startswith(folder.path)]
            return next((folder.side for folder in above if not folder.is_resource), None)
        return None if placement.is_resource else placement.side

    def belongs_to_code(self, path: str) -> bool:
        """Return whether a file of any kind lies in a folder of main sources or main resources."""
        return self._find_side_of_any_file(path) is Side.SOURCE

    def belongs_to_tests(self, path: str) -> bool:
        """Return whether a file of any kind lies in a folder of test sources or test resources."""
        return self._find_side_of_any_file(path) is Side.TEST

    def find_production_kind(self, path: str) -> ProductionKind | None:
        """Return the kind of a file that its module ships; None for any other path."""
        entry = self.entries.get(path)
        if entry is None or not self.belongs_to_code(path):
            return None
        return classify_production(path, self._declared_folders(self.find_module_folder(path)))

    def _find_side_of_any_file(self, path: str) -> Side | None:
        placement = classify_path(path)
        return self._find_declared_side(path) if placement is None else placement.side

    def _find_declared_side(self, path: str) -> Side | None:
        declared = self._declared_folders(self.find_module_folder(path))
        return next((folder.side for folder in declared if path.startswith(folder.path)), None)

    def find_module_folder(self, path: str) -> str:
        """Return the nearest folder above a file that is a module, or '.' if there is none."""
        return find_folder_above(path, self.module_folders)

    @cached_property
    def module_folders(self) -> frozenset[str]:
        """The folders of all modules: those with a POM.

        If the root has no POM, folders that contain a standard `src` folder are modules too: a
        Gradle script at the root may define subprojects that have no build file of their own.
        """
        folders = {str(PurePosixPath(path).parent) for path in self.entries if is_build_file(path)}
        if BUILD_FILE not in self.entries:
            folders |= {
                folder for path in self.entries if (folder := find_project_folder(path)) is not None
            }
        return frozenset(folders)

    def _parse_declared_folders(self, module: str) -> list[DeclaredFolder]:
        """Return the folders of a module, also those that it inherits from POMs of the revision."""
        prefix = '' if module == '.' else f'{module}/'
        return [
            replace(folder, path=f'{prefix}{folder.path}')
            for folder in join_declared_folders(self._iterate_poms(module))
        ]

    def _iterate_poms(self, module: str) -> Iterator[PomFolders]:
        """Yield the POM of a module, its parent, the parent's parent, and so on in the revision."""
        path, name = posixpath.normpath(f'{module}/{BUILD_FILE}'), None
        known: set[str] = set()
        while path in self.entries and path not in known:
            known.add(path)
            pom = parse_pom_folders(self.read_content(path))
            if pom is None or name not in (None, pom.name):
                return
            yield pom
            if pom.parent is None:
                return
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), pom.parent))
            name = pom.parent_name

    def resolve_test_type(self, path: str, simple: str) -> tuple[LocatedType, ...]:
        """Return the types of the test tree that a simple name may refer to in a file.

        If there are none, return the annotations of this name among the sources: a module may
        publish annotations for tests of other modules.
        """
        return find_meant_test_types(self, path, simple) or tuple(
            located
            for source in self._source_paths_by_stem.get(simple, ())
            for type_ in self.parse_file(source).types
            if type_.kind == 'annotation' and type_.simple == simple
            if self.is_visible(path, located := LocatedType(source, type_))
        )

    @cached_property
    def _source_paths_by_stem(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        for path in self.list_paths(Side.SOURCE):
            paths.setdefault(PurePosixPath(path).stem, []).append(path)
        return paths

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Return whether the code of a file may refer to a type by its simple name.

        This is so in the type's own file and package, and if the file imports it, alone or by a
        wildcard. A nested type also counts if the file mentions its outermost type. If the file
        imports another type with this simple name, the result is False.
        """
        if path == type_.path:
            return True
        file = self.parse_file(path)
        imported = [i for i in file.imports if i.name == type_.type.simple]
        if imported:
            return any(i.text == type_.canonical_name for i in imported)
        if file.package == type_.package:
            return True
        if (
            type_.type.simple != type_.outermost_simple_name
            and type_.outermost_simple_name in file.names
        ):
            return True
        holders = {type_.package, type_.canonical_name.rpartition('.')[0]}
        return any(i.name == '*' and i.text in holders for i in file.imports)


# The parsed files of the open trees, by the ids of their blobs. A walk reads all files of a tree in
# order, so that a cache of the latest files has none of them once a project has more than it holds.
_PARSED_FILES: WeakValueDictionary[str, SourceFile] = WeakValueDictionary()


@lru_cache(maxsize=4)
def open_tree(repository: Repository, rev: str) -> JavaTree:
    """Return the tree of a revision; cached, since neighbouring pairs share a revision."""
    return JavaTree(repository, rev)


# Whether a Java file was written here by hand, decided by its path and the text above its types.
#
# The rules started as GitHub Linguist's for generated and vendored files, reduced to what Java
# projects contain. Folders count only above the package, so `com/acme/vendor/` is a package like
# any other. Method bodies never count.

_VENDORED = re.compile(
    r'vendor(s|ed)?|(third|3rd)[-_]?party|node_modules|bower_components', re.IGNORECASE
)
_GENERATED = re.compile(
    r'(auto)?[-_]?generated([-_][\w-]+)?|gen-src|src-gen|evosuite-tests', re.IGNORECASE
)
# `gen` alone may be a module that generates code; below `src` it holds generated code.
_BELOW_SRC = frozenset({'gen', 'generated', 'gen-java'})
_OUTPUT = frozenset({'target', 'build', 'out', 'bin'})

# A block comment, or consecutive line comments.
_COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*(?:\s*//[^\n]*)*', re.DOTALL)
_DECORATION = re.compile(r'^[ \t\r/*#=<>!-]+|[ \t\r*/-]+$', re.MULTILINE)
_TAG = re.compile(r'<[^>]*>')
# Editor wizards generate a skeleton that people then fill in.
_WIZARD = re.compile(
    r'generated by (the )?(eclipse|intellij|netbeans)( idea| ide)?(?! implementation)',
    re.IGNORECASE,
)
# Match at the start of a sentence only: a line may begin inside a sentence about something else.
_SENTENCE = r'(?:\A\s*|(?<=[.:!;,\n])\n)(?:(?:note|warning|attention)[:!]\s*)?'
_MAKER = re.compile(
    rf"""
    (?:{_SENTENCE}|^note:\s)
    (?:
      (?:this|the\s+following)\s+(?:java\s+)?(?:source\s+)?(?:file|class|code|source|(?:unit\s+)?test)s?
      \s+(?:is|was|has\s+been|have\s+been|were)\s+(?:auto(?:matically)?[\s-]*)?generated\b
    | auto(?:matically)?[\s-]*generated\s+(?:by|from|with|using|code|file)\b
    )
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_HEADING = re.compile(
    rf'{_SENTENCE}(?:(?:java\s+)?(?:source\s+)?(?:code|file|class|source)\s+)?'
    r'generated\s+(?:by|from|with)\b',
    re.IGNORECASE,
)
_HANDS_OFF = re.compile(r'\bdo\s+not\s+(?:edit|modify|change)\b', re.IGNORECASE)
_SAID_GENERATED = re.compile(r'\b(?:auto)?[-\s]?generated\b', re.IGNORECASE)

_ANNOTATIONS = ('javax.annotation', 'jakarta.annotation', 'javax.annotation.processing')
_QUALIFIED = re.compile(r'@(?:javax|jakarta)\.annotation\.(?:processing\.)?Generated\b')
_EVOSUITE = 'EvoRunnerParameters'


def determine_origin(path: str, source: bytes, file: SourceFile) -> FileOrigin:
    """Return whether a Java file is handwritten, generated, or copied from another project.

    Its folders decide, and its annotations and the comments above its first type.
    """
    folders = _list_folders_above_package(path, file)
    if any(_VENDORED.fullmatch(folder) for folder in folders):
        return FileOrigin.VENDORED
    if (
        _has_generated_folder(folders)
        or _has_generated_annotation(source, file)
        or _has_generated_comment(source, file)
    ):
        return FileOrigin.GENERATED
    return FileOrigin.WRITTEN


def _list_folders_above_package(path: str, file: SourceFile) -> tuple[str, ...]:
    """Return a file's folders above those of its package, without names that occur in the package.

    A module may be named after its subject, such as `vendor`; its packages then have that name as
    well.
    """
    folders = path.split('/')[:-1]
    package = file.package.split('.') if file.package else []
    if package and folders[-len(package) :] == package:
        del folders[-len(package) :]
    return tuple(folder for folder in folders if folder not in package)


def _has_generated_folder(folders: tuple[str, ...]) -> bool:
    for index, folder in enumerate(folders):
        if _GENERATED.fullmatch(folder):
            return True
        if folder in _BELOW_SRC and 'src' in folders[:index]:
            return True
        if folder in _OUTPUT and 'src' not in folders:
            return True  # with `src` below it, it is a module of that name
    return False


def _has_generated_annotation(source: bytes, file: SourceFile) -> bool:
    """Return whether a top-level type has the platform's @Generated or EvoSuite's parameters.

    Other annotations of that name, such as Lombok's, mark handwritten code to exclude it from
    coverage.
    """
    imported = {item.text for item in file.imports if item.name == 'Generated'}
    ours = any(f'{package}.Generated' in imported for package in _ANNOTATIONS)
    wild = any(item.name == '*' and item.text in _ANNOTATIONS for item in file.imports)
    for type_ in (type_ for type_ in file.types if not type_.enclosing_name):
        if _EVOSUITE in type_.annotations:
            return True
        if 'Generated' in type_.annotations:
            written = source[type_.start_byte : type_.end_byte].decode(errors='replace')
            if ours or (wild and not imported) or _QUALIFIED.search(written.partition('{')[0]):
                return True
    return False


def _has_generated_comment(source: bytes, file: SourceFile) -> bool:
    """Return whether a comment above the first type says that the file is generated.

    In the comment directly above the type, `Generated by` is not enough, since it may describe the
    purpose of the type: the comment must also say not to edit.
    """
    end = min((type_.start_byte for type_ in file.types), default=len(source))
    head = source[:end].decode(errors='replace')
    for match in _COMMENTS.finditer(head):
        is_heading = bool(_COMMENTS.sub('', head[match.end() :]).strip())
        if _is_generation_notice(match[0], is_heading=is_heading):
            return True
    return False


def _is_generation_notice(comment: str, *, is_heading: bool) -> bool:
    text = _DECORATION.sub('', _TAG.sub('', comment))
    if _WIZARD.search(text):
        return False
    if _MAKER.search(text) is not None:
        return True
    says_generated, hands_off = (
        _HEADING.search(text) is not None,
        _HANDS_OFF.search(text) is not None,
    )
    if is_heading:
        return says_generated or (hands_off and _SAID_GENERATED.search(text) is not None)
    return says_generated and hands_off
