"""Mechanical fixes of Go's test files: the package clause, missing imports, imports without a use.

MultiFileTest has no Go; these are the rules of its other languages, and the one error that Go alone
has. Implements `coevo.languages.fixes.MechanicalFixer`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.languages.declarations import Import, SourceFile
from coevo.languages.fixes import Fix, FixRule, ProjectFiles, TestFailure, insert_line
from coevo.languages.golang import reading

_UNDEFINED = re.compile(r'undefined: (\w+)')
_UNUSED = re.compile(r'"([^"]+)" imported(?: as \w+)? and not used')
_CLAUSE = re.compile(rb'^package[ \t]+(\w+)[^\n]*\n?', re.MULTILINE)

_STANDARD = {
    path.rpartition('/')[2]: path
    for path in (
        *('bufio', 'bytes', 'context', 'encoding/json', 'errors', 'fmt', 'io', 'math', 'net/http'),
        *('net/http/httptest', 'net/url', 'os', 'path/filepath', 'reflect', 'regexp', 'sort'),
        *('strconv', 'strings', 'sync', 'testing', 'time', 'unicode'),
    )
}


def propose_fix(project: ProjectFiles, source: bytes, failure: TestFailure) -> Fix | None:
    """See `MechanicalFixer.propose_fix`."""
    clause, names = _CLAUSE.search(source), _count_package_names(project)
    if names and (clause is None or clause[1].decode() not in names):
        return _set_package(source, clause, min(names, key=lambda name: (-names[name], name)))
    if match := _UNUSED.search(failure.signature):
        return _remove_import(project, source, match[1])
    if match := _UNDEFINED.fullmatch(failure.signature):
        return _add_import(project, source, clause, match[1])
    return None


def list_bound_names_with_imports(file: SourceFile, source: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names that a file's imports bind, each with the import as written."""
    for import_ in file.imports:
        yield import_.name, source[import_.start_byte : import_.end_byte].decode('utf-8', 'replace')


@lru_cache(maxsize=4)  # asked for each failure of a suite
def _count_package_names(project: ProjectFiles) -> Mapping[str, int]:
    """Return the names that package clauses in the folder of the test file may have, with counts.

    They are those of its other files, and for external tests those of the code.
    """
    folder, names = PurePosixPath(project.path).parent, Counter[str]()
    for path in project.tree.entries:
        if PurePosixPath(path).parent == folder and path.endswith('.go') and path != project.path:
            clause = _CLAUSE.search(project.tree.read_content(path))
            if clause:
                names[clause[1].decode()] += 1
    for name in tuple(names):
        names[f'{name.removesuffix("_test")}_test'] += 0
    return names


def _set_package(source: bytes, clause: re.Match[bytes] | None, name: str) -> Fix:
    line = f'package {name}'
    start, end = (0, 0) if clause is None else clause.span()
    fixed = insert_line(source[:start] + source[end:], start, line)
    return Fix(rule=FixRule.PACKAGE, text=line, source=fixed)


def _add_import(
    project: ProjectFiles, source: bytes, clause: re.Match[bytes] | None, name: str
) -> Fix | None:
    spec = project.find_usual_import(name) or (
        f'"{_STANDARD[name]}"' if name in _STANDARD else None
    )
    uses = re.search(rb'\b' + name.encode() + rb'\.\w', source)
    if spec is None or uses is None or clause is None:
        return None
    line = f'import {spec}'
    fixed = insert_line(source, clause.end(), line)
    return Fix(rule=FixRule.IMPORT_ADDED, text=line, source=fixed)


def _remove_import(project: ProjectFiles, source: bytes, path: str) -> Fix | None:
    imports = reading.parse(source, project.path).imports
    own = next((import_ for import_ in imports if import_.text == path), None)
    return None if own is None else _cut_import(source, own)


def _cut_import(source: bytes, own: Import) -> Fix:
    """Return the file without an import, alone on its line or in a list of imports."""
    start = source.rfind(b'\n', 0, own.start_byte) + 1
    end = source.find(b'\n', own.end_byte)
    end = len(source) if end < 0 else end + 1
    line = source[start:end].decode('utf-8', 'replace').strip()
    if line.removeprefix('import').strip() != source[own.start_byte : own.end_byte].decode():
        start, end = own.start_byte, own.end_byte  # other things stand on the line
    fixed = source[:start] + source[end:]
    return Fix(rule=FixRule.IMPORT_REMOVED, text=line, source=fixed)
