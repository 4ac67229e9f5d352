"""Compile the test files of a cell alone in which it differs from a cell that is there.

An isolated cell differs from a whole-tree cell in one or two test files, if at all, and the cells
of a pair with the same code differ in the test files that the pair changes. Compiling the whole
test tree for these was the most expensive part of isolation. The other files keep their classes if
none of them mentions a type of the changed files. The compiler then gets the changed files and, on
its class path, the classes of the others. If that gives an error, or if an annotation processor is
on the class path, the compiler compiles the whole tree (`Compilation.java`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from coevo.languages.java.building.build_outputs import BuildOutput, link_classes
from coevo.languages.java.building.compilation import CompileReport
from coevo.languages.java.cells.compiled_cells import CompiledCell
from coevo.languages.java.cells.edited_files import (
    Files,
    find_top_level_type_paths,
    write_files_skipping_deleted,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaTestSources:
    """The Java test sources of a module.

    roots  the folders that may hold them, whether they exist or not
    texts  by path in the tree, as the roots are
    """

    roots: tuple[str, ...]
    texts: Mapping[str, bytes]

    def apply_edits(self, files: Files) -> JavaTestSources:
        """Return the sources after an edit: files are replaced, added, or deleted if None."""
        edits = {path: text for path, text in files if self._is_source(path)}
        texts = {**self.texts, **edits}
        return replace(self, texts={path: text for path, text in texts.items() if text is not None})

    def list_differences(self, other: JavaTestSources) -> Files:
        """Return the files that differ in another tree with the same roots, as they are there."""
        return tuple(
            (path, other.texts.get(path))
            for path in sorted(self.texts.keys() | other.texts.keys())
            if self.texts.get(path) != other.texts.get(path)
        )

    def make_relative(self, path: str) -> str:
        """Return the path of a source relative to its root."""
        place = PurePosixPath(path)
        root = next(root for root in self.roots if place.is_relative_to(root))
        return str(place.relative_to(root))

    def _is_source(self, path: str) -> bool:
        place = PurePosixPath(path)
        return path.endswith('.java') and any(place.is_relative_to(root) for root in self.roots)


def load_test_sources(tests: BuildOutput, module: str) -> JavaTestSources | None:
    """Return a module's test sources at a revision.

    None if the revision lacks the module, if the build generates some of the sources, or if there
    are symbolic links, which may lead anywhere.
    """
    known = tests.modules.get(module)
    folders = tests.list_test_source_roots(module)
    files = [file for folder in folders for file in folder.rglob('*')]
    if (
        known is None
        or not all(folder.is_relative_to(tests.tests) for folder in folders)
        or any(file.is_symlink() for file in files)
    ):
        return None
    return JavaTestSources(
        roots=tuple(str(PurePosixPath(module, root)) for root in known.test_source_roots),
        texts={
            file.relative_to(tests.tests).as_posix(): file.read_bytes()
            for file in files
            if file.name.endswith('.java') and file.is_file()
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialCompilation:
    """The parts of another cell, the base, that a cell takes over, and the sources to compile.

    sources  the changed sources by path relative to their root; None for a deleted one
    edited   the binary names of the classes in the base that the changed sources declare
    """

    base: CompiledCell
    sources: Files
    edited: frozenset[str]

    def lay_out(self, folder: Path, base_classes: Path) -> tuple[Path, Path]:
        """Write what the compiler needs below a folder; return the places of sources and classes.

        base_classes  the folder of the base's test classes
        """
        sources, classes = folder / 'sources', folder / 'classes'
        write_files_skipping_deleted(sources, self.sources)
        classes.mkdir(parents=True)
        self.link_kept_classes(base_classes, classes)
        return sources, classes

    def link_kept_classes(self, source: Path, target: Path) -> None:
        """Hard-link the classes of the other files from the base's folder to `target`."""
        kept = self.base.report.classes.keys() - self.edited
        paths = {f'{name.replace(".", "/")}.class' for name in kept}
        link_classes(source, target, paths.__contains__)

    def complete_report(self, report: CompileReport) -> CompileReport:
        """Return the report of the changed files, which have no errors, with the base's other rows."""
        base, edited = self.base.report, self.edited
        files = base.broken_files - {path for path, _ in self.sources}
        return replace(
            report,
            unit_ok=not files,
            broken_files=files,
            classes={n: c for n, c in base.classes.items() if n not in edited} | {**report.classes},
            broken_classes={n: e for n, e in base.broken_classes.items() if n not in edited},
            broken_methods={m: e for m, e in base.broken_methods.items() if m[0] not in edited},
        )


def plan_partial_compilation(
    base: CompiledCell, before: JavaTestSources, changed: Files
) -> PartialCompilation | None:
    """Return how to compile changed files alone; None if the whole test tree must be compiled.

    It must be if nothing of the base compiles, or with annotation processors; if the changed files
    are all deleted, two have the same name below their roots, or one declares no type; or if an
    unchanged source mentions a type that the changed ones declare before or after the change, be it
    in a comment.

    base     a cell with the same code
    before   the test sources of the base
    changed  the files in which those of the cell differ, as `list_differences` returns them
    """
    report = base.report
    if report.everything is not None or report.processed or None in report.broken_files:
        return None
    old = [before.texts[path] for path, _ in changed if path in before.texts]
    new = [text for _, text in changed if text is not None]
    types = [find_top_level_type_paths([text]) for text in (*old, *new)]
    # A text without a type may be one that was not understood.
    if (changed and not new) or not all(types):
        return None
    names = {PurePosixPath(path).name for path in frozenset().union(*types)}
    paths = {path for path, _ in changed}
    unchanged = [text for path, text in before.texts.items() if path not in paths]
    # The encoding of the sources is unknown here, so that only ASCII names can be looked for.
    if not all(map(str.isascii, names)) or _is_mentioned(names, unchanged):
        return None
    sources = tuple((before.make_relative(path), text) for path, text in changed)
    if len(dict(sources)) < len(sources):
        return None
    # The compiler names a file that it gives up by its path, whatever it declares.
    by_path = {name.removesuffix('.java') for name, _ in sources}
    edited = _find_classes_of_family(report, find_top_level_type_paths(old) | by_path)
    return None if edited is None else PartialCompilation(base=base, sources=sources, edited=edited)


def _find_classes_of_family(report: CompileReport, family: frozenset[str]) -> frozenset[str] | None:
    """Return the binary names of classes that have, or that are nested in, a type of the family.

    None if `$` makes a name ambiguous: another top-level class begins like a nested one.
    """
    outermost = {path.replace('/', '.') for path in family}
    known = {
        *report.classes,
        *report.broken_classes,
        *(name for name, _, _ in report.broken_methods),
    }
    classes = {
        name
        for name in known
        if name in outermost or any(name.startswith(f'{type_}$') for type_ in outermost)
    }
    top_level = {n for n in classes & report.classes.keys() if report.classes[n].outer is None}
    return frozenset(classes) if top_level <= outermost else None


def _is_mentioned(names: Collection[str], texts: Iterable[bytes]) -> bool:
    """Return whether a text contains one of the names as a word."""
    if not names:
        return False
    words = b'|'.join(re.escape(name.encode()) for name in sorted(names))
    pattern = re.compile(rb'(?<![\w$])(?:' + words + rb')(?![\w$])')
    return any(pattern.search(text) for text in texts)
