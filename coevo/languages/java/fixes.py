"""Mechanical fixes of Java's test files (MultiFileTest, Tables 21 and 22).

The package clause, and imports of classes and of static methods. Not fixed, unlike there: private
access, types, and input that a test waits for. Implements `coevo.languages.fixes.MechanicalFixer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.languages.declarations import MODULE, SourceFile
from coevo.languages.fixes import Fix, FixRule, ProjectFiles, TestFailure, find_only, insert_line
from coevo.languages.java import reading
from coevo.languages.java.surgery.undo import format_import
from coevo.languages.reading import Side

_TYPE = re.compile(r'cant\.resolve\S*(?: (?:class|variable|interface|enum|package))? (\w+)')
_METHOD = re.compile(r'cant\.resolve\S* method (\w+)\(.*')
_PACKAGE = re.compile(r'doesnt\.exist package (\S+) does not exist')
_CLAUSE = re.compile(rb'^[ \t]*package\s+[\w.]+\s*;[^\n]*\n?', re.MULTILINE)
_STANDARD_FOLDER = re.compile(r'(?:.*/)?src/test/java/(.*)')
_ASSERTION = re.compile(r'assert\w*|fail')


def propose_fix(project: ProjectFiles, source: bytes, failure: TestFailure) -> Fix | None:
    """See `MechanicalFixer.propose_fix`."""
    file = reading.parse(source, project.path)
    package = _find_package(project)
    if package is not None and file.package != package:
        return _set_package(source, package)
    if match := _METHOD.fullmatch(failure.signature):
        return _add_import(source, _find_static_import(project, match[1]))
    if match := _TYPE.fullmatch(failure.signature):
        return _import_type(project, source, file, match[1])
    if match := _PACKAGE.fullmatch(failure.signature):
        wrong = [import_ for import_ in file.imports if import_.text.rpartition('.')[0] == match[1]]
        fixes = (
            _import_type(project, source, file, import_.name)
            for import_ in wrong
            if not import_.static
        )
        return next((fix for fix in fixes if fix is not None), None)
    return None


def list_bound_names_with_imports(file: SourceFile, source: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names that a file's imports bind, each with the import.

    A wildcard of static members binds its class, as `Assert.*`.
    """
    for import_ in file.imports:
        if import_.name != '*':
            yield import_.name, format_import(import_)
        elif import_.static:
            yield f'{import_.text.rpartition(".")[2]}.*', format_import(import_)


@lru_cache(maxsize=4)  # asked for each failure of a suite
def _find_package(project: ProjectFiles) -> str | None:
    """Return the package of the test file's folder; None if no folder of tests shows it."""
    folder = str(PurePosixPath(project.path).parent)
    roots = {
        other.removesuffix(package)
        for path in project.tree.list_paths(Side.TEST)
        if path != project.path
        and (package := project.tree.parse_file(path).package.replace('.', '/'))
        and (other := str(PurePosixPath(path).parent)).endswith(f'/{package}')
    }
    for root in sorted(roots, key=len, reverse=True):
        if folder.startswith(root):
            return folder.removeprefix(root).replace('/', '.')
    match = _STANDARD_FOLDER.fullmatch(folder)
    return match[1].replace('/', '.') if match else None


def _set_package(source: bytes, package: str) -> Fix:
    line = f'package {package};'
    clause = _CLAUSE.search(source)
    rest = source if clause is None else source[: clause.start()] + source[clause.end() :]
    fixed = insert_line(rest, 0 if clause is None else clause.start(), line)
    return Fix(rule=FixRule.PACKAGE, text=line, source=fixed)


def _import_type(project: ProjectFiles, source: bytes, file: SourceFile, name: str) -> Fix | None:
    """Return the file with a type imported: as most tests import it, or the code declares it."""
    declared = find_only(
        type_.canonical_name
        for type_ in project.code_types_by_simple_name.get(name, ())
        if type_.kind != MODULE and not type_.around and type_.package
    )
    line = f'import {declared};' if declared else project.find_usual_import(name)
    own = next(
        (import_ for import_ in file.imports if import_.name == name and not import_.static), None
    )
    if own is None:
        return _add_import(source, line)
    if line is None or line == format_import(own):
        return None
    fixed = source[: own.start_byte] + line.encode() + source[own.end_byte :]
    return Fix(rule=FixRule.IMPORT_CORRECTED, text=line, source=fixed)


def _find_static_import(project: ProjectFiles, method: str) -> str | None:
    """Return the static import of a method: of its name or, for assertions, of their class."""
    line = project.find_usual_import(method)
    if line is not None or _ASSERTION.fullmatch(method) is None:
        return line
    classes = (
        name for name in project.list_names_bound_by_tests() if name in ('Assert.*', 'Assertions.*')
    )
    return project.find_usual_import(next(classes, ''))


def _add_import(source: bytes, line: str | None) -> Fix | None:
    if line is None or line.encode() in source:
        return None
    clause = _CLAUSE.search(source)
    fixed = insert_line(source, 0 if clause is None else clause.end(), line)
    return Fix(rule=FixRule.IMPORT_ADDED, text=line, source=fixed)
