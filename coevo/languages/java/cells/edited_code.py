"""Compile edited main sources separately and overlay them on the classes that Maven made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from coevo.languages.cells import CheckedSource
from coevo.languages.java.building.build_outputs import (
    RESOURCES,
    BuildOutput,
    is_main_source_by_suffix,
    link_classes,
)
from coevo.languages.java.building.compilation import has_out_of_space_error, name_compiler_death
from coevo.languages.java.building.report import JavaModule, list_javac_options
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.building.settings import JavacSettings, make_check_request
from coevo.languages.java.cells.edited_files import (
    CheckedSets,
    EditedSources,
    Files,
    count_folders_in_path,
    find_top_level_type_paths,
    is_at_or_below,
    is_in_family,
    move_classes_adding_constants,
    select_java_sources,
    write_files_skipping_deleted,
)
from coevo.languages.java.processes.launch import Launcher
from coevo.storage.beneath import join_beneath

FILTERED = 'filtered_resource'
_WITHOUT_DEBUG = '-g:none'


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedCode:
    """The result of compiling edited files of the code, as folders to lay over the built revision.

    layers   folders that mirror the tree: edited files except sources, then compiled classes
    sources  a folder that mirrors the tree, with the edited sources
    removed  files of the tree that are deleted, except sources
    removed_sources  sources that are deleted
    classes  module -> the folders that replace its class folder for the compiler
    outside_same  whether other sources see the same declarations in the edited ones as before
    failure  why the edited code does not compile; None if it does
    """

    layers: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    removed: tuple[str, ...] = ()
    removed_sources: tuple[str, ...] = ()
    classes: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    outside_same: bool = True
    failure: str | None = None
    cpu_seconds: float = 0.0


class CodeEditor:
    """Compiles edited main files of one built revision; writes only into the given folder."""

    def __init__(
        self,
        launcher: Launcher,
        session: JvmSession,
        code: BuildOutput,
        folder: Path,
        others: Sequence[BuildOutput] = (),
    ) -> None:
        """Create an editor that writes below `folder`.

        `others` are outputs of the other end of the pair. An edited class file gets the constants
        of the class files with its name at both ends, see `edited_files.add_constants`.
        """
        self._launcher, self._session = launcher, session
        self._code, self._folder, self._others = code, folder, others

    def compile_edits(self, files: Files) -> EditedCode:
        """Write edited files and compile them, module by module in the reactor's order.

        Stops at the first module that does not compile; the result then has a `failure`.
        """
        layer, classes, sources = (
            self._folder / entry for entry in ('files', 'classes', 'sources')
        )
        write_files_skipping_deleted(
            layer, [entry for entry in files if not is_main_source_by_suffix(entry[0])]
        )
        write_files_skipping_deleted(
            sources, [entry for entry in files if is_main_source_by_suffix(entry[0])]
        )
        removed_paths = [path for path, content in files if content is None]
        edited = EditedCode(
            layers=(layer, classes),
            sources=(sources,),
            removed=tuple(path for path in removed_paths if not is_main_source_by_suffix(path)),
            removed_sources=tuple(path for path in removed_paths if is_main_source_by_suffix(path)),
        )
        for name, own in self._group_by_module(files).items():
            edited = self._compile_module(edited, self._code.modules[name], own)
            if edited.failure is not None:
                break
        return edited

    def check_variants(
        self, name: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """Compile variants of one file of a module, each separately and without debug information.

        Returns one result for each variant, in order. Class files are not kept.
        """
        module = self._code.modules[name]
        original = self._load_original(path)
        places = []
        for number, variant in enumerate(variants):
            folder = self._folder / str(number)
            write_files_skipping_deleted(folder, ((path, variant),))
            places.append(folder)
        base = self._mirror_classes(
            module, find_top_level_type_paths([original] if original else [])
        )
        javac = self._make_javac_settings(module, {module.path: (base,)}, _WITHOUT_DEBUG)
        return tuple(self._check_folders(places, javac))

    def _check_folders(
        self, places: Sequence[Path], javac: JavacSettings
    ) -> Iterator[CheckedSource]:
        """Compile each folder as a set of its own in one request; yield the results in order.

        If the compiler dies, the folders are sent one by one. The one on which it dies again gets
        that as its error.
        """
        result = self._check_sets([[folder] for folder in places], javac, keep=False)
        if not isinstance(result, JvmDeath):
            for row in result.checked:
                yield CheckedSource(
                    signature=row['signature'],
                    digest=row['bytecode'],
                    outside=row['outside'],
                    cpu_seconds=result.cpu_seconds / len(places),
                )
        elif len(places) == 1:
            yield CheckedSource(signature=name_compiler_death(result), digest=None)
        else:
            for folder in places:
                yield from self._check_folders([folder], javac)

    def _group_by_module(self, files: Files) -> dict[str, Files]:
        """Group edited files by the innermost module that contains them, in the reactor's order.

        Files outside of all modules are left out.
        """
        files_by_module: dict[str, list[tuple[str, bytes | None]]] = {}
        for path, content in files:
            owners = [name for name in self._code.modules if is_at_or_below(path, name)]
            if owners:
                files_by_module.setdefault(max(owners, key=count_folders_in_path), []).append(
                    (path, content)
                )
        order = sorted(files_by_module, key=lambda name: self._code.modules[name].index)
        return {name: tuple(files_by_module[name]) for name in order}

    def _compile_module(self, edited: EditedCode, module: JavaModule, files: Files) -> EditedCode:
        """Return the result with the edited files of one more module."""
        odd = next(
            filter(None, (self._find_filtering_failure(module, path) for path, _ in files)), None
        )
        if odd is not None:
            return replace(edited, failure=odd)
        class_folder = join_beneath(edited.layers[1], module.path, module.classes).path
        sources = select_java_sources(module, files)
        if not sources:
            removed_paths = list(
                self._write_resources_and_list_deleted(module, files, class_folder)
            )
            classes = {
                **edited.classes,
                module.path: (class_folder, self._locate_built_classes(module)),
            }
            return replace(edited, removed=(*edited.removed, *removed_paths), classes=classes)
        own = self._lay_out_sources(module, sources)
        family = own.family
        base = (
            self._mirror_classes(module, family)
            if own.loses_types
            else self._locate_built_classes(module)
        )
        paths = [path for path, _ in sources]
        edited, compiled_folder = self._compile_sources(edited, module, own, paths, base)
        if compiled_folder is None:
            return edited
        move_classes_adding_constants(
            compiled_folder, class_folder, self._list_class_folders_at_ends(module)
        )
        removed_paths = [
            *self._write_resources_and_list_deleted(module, files, class_folder),
            *self._find_removed_classes(module, family, class_folder),
        ]
        return replace(
            edited,
            removed=(*edited.removed, *removed_paths),
            classes={**edited.classes, module.path: (class_folder, base)},
        )

    def _compile_sources(
        self,
        edited: EditedCode,
        module: JavaModule,
        own: EditedSources,
        paths: Sequence[str],
        base: Path,
    ) -> tuple[EditedCode, Path | None]:
        """Compile the edited sources of a module against its other classes, which are in `base`.

        `paths` are those of the edited sources, be they deleted or not.

        Returns the result so far, and the folder of class files; None if they do not compile.
        """
        classes = {**edited.classes, module.path: (base,)}
        result = self._check_sets(
            [[set_folder] for set_folder in own.folders_to_compile],
            self._make_javac_settings(module, classes),
            keep=True,
        )
        if isinstance(result, JvmDeath):
            return replace(edited, failure=name_compiler_death(result)), None
        spent, failure = edited.cpu_seconds + result.cpu_seconds, own.find_compile_error(result)
        if failure is not None:
            return replace(edited, failure=failure, cpu_seconds=spent), None
        compiled_folder = own.locate_class_files(result) or self._folder / 'nothing'
        same = own.keeps_visible_declarations(result)
        if not same:
            whole, failure, more = self._compile_whole_module(
                module, own.folder / 'after', paths, classes
            )
            compiled_folder, spent = whole or compiled_folder, spent + more
        edited = replace(
            edited,
            outside_same=edited.outside_same and same,
            failure=failure,
            cpu_seconds=spent,
        )
        return edited, compiled_folder

    def _lay_out_sources(self, module: JavaModule, sources: Files) -> EditedSources:
        before = tuple(
            (path, text) for path, _ in sources if (text := self._load_original(path)) is not None
        )
        after = tuple((path, text) for path, text in sources if text is not None)
        own = EditedSources(
            folder=self._folder / 'sets' / str(module.index), before=before, after=after
        )
        write_files_skipping_deleted(own.folder / 'before', before)
        write_files_skipping_deleted(own.folder / 'after', after)
        return own

    def _compile_whole_module(
        self,
        module: JavaModule,
        after: Path,
        paths: Sequence[str],
        classes: Mapping[str, tuple[Path, ...]],
    ) -> tuple[Path | None, str | None, float]:
        """Compile all sources of a module, with the edited ones in place of the built revision's.

        Returns the folder of class files or None, the failure or None, and CPU seconds. An error is
        a failure only if the module compiles without the edits. If it does not (because another
        compiler has to run first), or if the compiler dies, both folder and failure are None.
        """
        roots = [self._code.sources / module.path / root for root in module.source_roots]
        roots = [root for root in roots if root.is_dir()]
        without = tuple(
            self._launcher.locate_in_sandbox(self._code.sources / path) for path in paths
        )
        javac = self._make_javac_settings(module, classes)
        edited = self._check_sets(
            [[after, *roots]], replace(javac, without=without), keep=True, name='whole'
        )
        if isinstance(edited, JvmDeath):
            return None, None, 0.0
        failure = edited.checked[0]['signature']
        if failure is None:
            return edited.folder / '0', None, edited.cpu_seconds
        plain = self._check_sets([roots], javac, keep=False, name='plain')
        if isinstance(plain, JvmDeath) or plain.checked[0]['signature'] is not None:
            return None, None, edited.cpu_seconds
        return None, failure, edited.cpu_seconds + plain.cpu_seconds

    def _check_sets(
        self,
        sets: Sequence[Sequence[Path]],
        javac: JavacSettings,
        *,
        keep: bool,
        name: str = 'made',
    ) -> CheckedSets | JvmDeath:
        inside = self._launcher.locate_in_sandbox
        request = make_check_request(
            [[inside(root) for root in roots] for roots in sets], javac, keep=keep
        )
        folder = self._folder / name
        answer = self._session.ask(request, folder)
        if isinstance(answer, JvmDeath) or has_out_of_space_error(
            row['signature'] for row in answer.report['checked']
        ):
            self._session.close()  # earlier builds may have filled the disk of the sandbox
            answer = self._session.ask(request, folder)
        if isinstance(answer, JvmDeath):
            return answer
        return CheckedSets(
            checked=tuple(answer.report['checked']),
            folder=folder,
            cpu_seconds=answer.cpu_seconds,
        )

    def _make_javac_settings(
        self, module: JavaModule, classes: Mapping[str, tuple[Path, ...]], *more: str
    ) -> JavacSettings:
        """Return javac's settings for a module's main sources, with `more` options at the end.

        They are those of its POM, with its debug option, since tests may read debug information.
        """
        launcher = self._launcher
        settings = module.main_compiler or module.compiler
        debug = settings.get('debug')
        options = (
            *list_javac_options(
                settings,
                launcher.toolchain,
                lambda path: launcher.locate_in_sandbox(self._code.code / path),
            ),
            *([str(debug)] if debug else ()),
        )
        return JavacSettings(
            class_path=tuple(launcher.list_compile_class_path(module, self._code, [], classes)),
            options=(*options, *more),
        )

    def _list_class_folders_at_ends(self, module: JavaModule) -> tuple[Path, ...]:
        """Return the folders of a module's main classes at the ends of the pair that have it."""
        known = [
            (output, output.modules.get(module.path)) for output in (self._code, *self._others)
        ]
        return tuple(
            output.code / known_module.path / known_module.classes
            for output, known_module in known
            if known_module
        )

    def _locate_built_classes(self, module: JavaModule) -> Path:
        return (
            self._code.code / module.path / module.classes
        )  # own name: read alone; held to the tree by report.py

    def _load_original(self, path: str) -> bytes | None:
        file = (self._code.sources if is_main_source_by_suffix(path) else self._code.code) / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def _mirror_classes(self, module: JavaModule, family: frozenset[str]) -> Path:
        """Return a new folder of links to a module's class files, without the types of `family`.

        `family` holds top-level types; the classes nested in them are left out too.
        """
        mirror = self._folder / 'mirrors' / str(module.index)  # own name: a number
        shutil.rmtree(mirror, ignore_errors=True)
        mirror.mkdir(parents=True)
        built = self._locate_built_classes(module)
        link_classes(built, mirror, lambda name: not is_in_family(built / name, built, family))
        return mirror

    def _find_removed_classes(
        self, module: JavaModule, family: frozenset[str], place: Path
    ) -> Iterator[str]:
        """Yield the tree paths of built class files of `family` that are not in `place`.

        `family` holds the top-level types of the edited sources; `place` holds their new class
        files.
        """
        built = self._locate_built_classes(module)
        for file in sorted(built.rglob('*.class')) if family else ():
            name = file.relative_to(built)
            if is_in_family(file, built, family) and not (place / name).is_file():
                yield str(PurePosixPath(module.path, module.classes, name))

    def _find_filtering_failure(self, module: JavaModule, path: str) -> str | None:
        """Return `filtered_resource` if a path is a resource that Maven changed or left out.

        The effect of an edit is then unknown, since filters insert values of the build. Returns
        None for any other file.
        """
        root = PurePosixPath(module.path, RESOURCES)
        original = self._load_original(path)
        if original is None or not PurePosixPath(path).is_relative_to(root):
            return None
        built = self._locate_built_classes(module) / str(PurePosixPath(path).relative_to(root))
        as_it_lies = built.is_file() and not built.is_symlink() and built.read_bytes() == original
        return None if as_it_lies else FILTERED

    def _write_resources_and_list_deleted(
        self, module: JavaModule, files: Files, place: Path
    ) -> Iterator[str]:
        """Write edited main resources into `place`; yield the tree paths of the deleted ones.

        They are written as they are, without Maven's processing.
        """
        root = PurePosixPath(module.path, RESOURCES)
        for path, content in files:
            if PurePosixPath(path).is_relative_to(root):
                name = str(PurePosixPath(path).relative_to(root))
                write_files_skipping_deleted(place, ((name, content),))
                if content is None:
                    yield str(PurePosixPath(module.path, module.classes, name))
