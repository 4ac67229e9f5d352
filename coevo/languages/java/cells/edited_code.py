"""Edited main sources, compiled for themselves and laid over the classes that Maven made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from pathlib import PurePosixPath

from coevo.languages.cells import Checked
from coevo.languages.java.building.build_outputs import RESOURCES
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.build_outputs import is_source
from coevo.languages.java.building.build_outputs import link_classes
from coevo.languages.java.building.compilation import compiler_died
from coevo.languages.java.building.compilation import lacks_room
from coevo.languages.java.building.javac_options import javac_options
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.building.session import Died
from coevo.languages.java.building.session import Session
from coevo.languages.java.building.settings import Javac
from coevo.languages.java.building.settings import check_request
from coevo.languages.java.cells.edited_files import Files
from coevo.languages.java.cells.edited_files import depth
from coevo.languages.java.cells.edited_files import families
from coevo.languages.java.cells.edited_files import is_below
from coevo.languages.java.cells.edited_files import is_of
from coevo.languages.java.cells.edited_files import lay
from coevo.languages.java.cells.edited_files import take_classes
from coevo.languages.java.cells.edited_sources import CheckedSets
from coevo.languages.java.cells.edited_sources import EditedSources
from coevo.languages.java.cells.edited_sources import java_sources
from coevo.languages.java.processes.launch import Launcher
from coevo.storage.beneath import beneath

FILTERED = 'filtered_resource'
_WITHOUT_DEBUG = '-g:none'


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedCode:
    """What edited sources come to.

    layers   folders that mirror the tree: edited files, but for sources, then what was compiled
    sources  a folder that mirrors the tree, with the edited sources
    removed  files of the tree that are gone, again but for sources
    removed_sources  sources that are gone
    classes  module -> the folders that stand for its class folder when something is compiled
    outside_same  whether other sources see the same of them as before
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
    """Compiles edits of one built revision in a folder of its own."""

    def __init__(
        self,
        launcher: Launcher,
        session: Session,
        code: BuildOutput,
        folder: Path,
        others: Sequence[BuildOutput] = (),
    ) -> None:
        """others  outputs of the other end: what its classes name, edited ones name as well"""
        self._launcher, self._session = launcher, session
        self._code, self._folder, self._others = code, folder, others

    def edit(self, files: Files) -> EditedCode:
        """Lay edited files out and compile them, module after module in the reactor's order."""
        layer, classes, sources = (self._folder / one for one in ('files', 'classes', 'sources'))
        lay(layer, [one for one in files if not is_source(one[0])])
        lay(sources, [one for one in files if is_source(one[0])])
        gone = [path for path, content in files if content is None]
        edited = EditedCode(
            layers=(layer, classes),
            sources=(sources,),
            removed=tuple(path for path in gone if not is_source(path)),
            removed_sources=tuple(path for path in gone if is_source(path)),
        )
        for name, own in self._by_module(files).items():
            edited = self._compile(edited, self._code.modules[name], own)
            if edited.failure is not None:
                break
        return edited

    def check(self, name: str, path: str, variants: Sequence[bytes]) -> tuple[Checked, ...]:
        """Variants of one file, each compiled for itself without debug information."""
        module = self._code.modules[name]
        original = self._original(path)
        places = []
        for number, variant in enumerate(variants):
            place = self._folder / str(number)
            lay(place, ((path, variant),))
            places.append(place)
        base = self._mirror(module, families([original] if original else []))
        javac = self._javac(module, {module.path: (base,)}, _WITHOUT_DEBUG)
        return tuple(self._checked(places, javac))

    def _checked(self, places: Sequence[Path], javac: Javac) -> Iterator[Checked]:
        """One by one where a set of them is more than the compiler survives."""
        result = self._ask([[place] for place in places], javac, keep=False)
        if not isinstance(result, Died):
            for one in result.checked:
                yield Checked(
                    signature=one['signature'],
                    digest=one['bytecode'],
                    outside=one['outside'],
                    cpu_seconds=result.cpu_seconds / len(places),
                )
        elif len(places) == 1:
            yield Checked(signature=compiler_died(result), digest=None)
        else:
            for place in places:
                yield from self._checked([place], javac)

    def _by_module(self, files: Files) -> dict[str, Files]:
        """Edited files by the module whose folder holds them, in the reactor's order."""
        found: dict[str, list[tuple[str, bytes | None]]] = {}
        for path, content in files:
            owners = [name for name in self._code.modules if is_below(path, name)]
            if owners:
                found.setdefault(max(owners, key=depth), []).append((path, content))
        order = sorted(found, key=lambda name: self._code.modules[name].index)
        return {name: tuple(found[name]) for name in order}

    def _compile(self, edited: EditedCode, module: JavaModule, files: Files) -> EditedCode:
        odd = next(filter(None, (self._not_as_built(module, path) for path, _ in files)), None)
        if odd is not None:
            return replace(edited, failure=odd)
        place = beneath(edited.layers[1], module.path, module.classes).path
        sources = java_sources(module, files)
        if not sources:
            gone = list(self._lay_resources(module, files, place))
            classes = {**edited.classes, module.path: (place, self._built(module))}
            return replace(edited, removed=(*edited.removed, *gone), classes=classes)
        own = self._laid_out(module, sources)
        family = own.family
        base = self._mirror(module, family) if own.loses_types else self._built(module)
        classes = {**edited.classes, module.path: (base,)}
        result = self._ask([[one] for one in own.sets], self._javac(module, classes), keep=True)
        if isinstance(result, Died):
            return replace(edited, failure=compiler_died(result))
        spent, failure = edited.cpu_seconds + result.cpu_seconds, own.failure(result)
        if failure is not None:
            return replace(edited, failure=failure, cpu_seconds=spent)
        made, same = own.made(result) or self._folder / 'nothing', own.is_same_outside(result)
        if not same:
            paths = [path for path, _ in sources]
            whole, failure, more = self._whole(module, own.folder / 'after', paths, classes)
            made, spent = whole or made, spent + more
        take_classes(made, place, self._versions(module))
        gone = [*self._lay_resources(module, files, place), *self._gone(module, family, place)]
        return replace(
            edited,
            removed=(*edited.removed, *gone),
            classes={**edited.classes, module.path: (place, base)},
            outside_same=edited.outside_same and same,
            failure=failure,
            cpu_seconds=spent,
        )

    def _laid_out(self, module: JavaModule, sources: Files) -> EditedSources:
        before = tuple(
            (path, text) for path, _ in sources if (text := self._original(path)) is not None
        )
        after = tuple((path, text) for path, text in sources if text is not None)
        own = EditedSources(
            folder=self._folder / 'sets' / str(module.index), before=before, after=after
        )
        lay(own.folder / 'before', before)
        lay(own.folder / 'after', after)
        return own

    def _whole(
        self,
        module: JavaModule,
        after: Path,
        paths: Sequence[str],
        classes: Mapping[str, tuple[Path, ...]],
    ) -> tuple[Path | None, str | None, float]:
        """All of a module's sources with the edited ones: class files, failure, CPU seconds.

        Others may no longer compile. Where they do not even without the edits (code that another
        compiler has to see first), nothing is known of them.
        """
        roots = [self._code.sources / module.path / root for root in module.source_roots]
        roots = [root for root in roots if root.is_dir()]
        without = tuple(self._launcher.inside(self._code.sources / path) for path in paths)
        javac = self._javac(module, classes)
        edited = self._ask(
            [[after, *roots]], replace(javac, without=without), keep=True, name='whole'
        )
        if isinstance(edited, Died):
            return None, None, 0.0
        failure = edited.checked[0]['signature']
        if failure is None:
            return edited.folder / '0', None, edited.cpu_seconds
        plain = self._ask([roots], javac, keep=False, name='plain')
        if isinstance(plain, Died) or plain.checked[0]['signature'] is not None:
            return None, None, edited.cpu_seconds
        return None, failure, edited.cpu_seconds + plain.cpu_seconds

    def _ask(
        self, sets: Sequence[Sequence[Path]], javac: Javac, *, keep: bool, name: str = 'made'
    ) -> CheckedSets | Died:
        inside = self._launcher.inside
        request = check_request(
            [[inside(root) for root in roots] for roots in sets], javac, keep=keep
        )
        folder = self._folder / name
        answer = self._session.ask(request, folder)
        if isinstance(answer, Died) or lacks_room(
            one['signature'] for one in answer.report['checked']
        ):
            self._session.close()  # earlier builds may have filled its disk
            answer = self._session.ask(request, folder)
        if isinstance(answer, Died):
            return answer
        return CheckedSets(
            checked=tuple(answer.report['checked']),
            folder=folder,
            cpu_seconds=answer.cpu_seconds,
        )

    def _javac(
        self, module: JavaModule, classes: Mapping[str, tuple[Path, ...]], *more: str
    ) -> Javac:
        """As Maven would compile them: what debuggers read may be read by tests."""
        launcher = self._launcher
        settings = module.main_compiler or module.compiler
        debug = settings.get('debug')
        options = (*javac_options(settings, launcher.toolchain), *([str(debug)] if debug else ()))
        return Javac(
            class_path=tuple(launcher.compile_places(module, self._code, [], classes)),
            options=(*options, *more),
        )

    def _versions(self, module: JavaModule) -> tuple[Path, ...]:
        """Where the module's classes lie at both ends."""
        known = [
            (output, output.modules.get(module.path)) for output in (self._code, *self._others)
        ]
        return tuple(output.code / one.path / one.classes for output, one in known if one)

    def _built(self, module: JavaModule) -> Path:
        return (
            self._code.code / module.path / module.classes
        )  # own name: read alone; held to the tree by report.py

    def _original(self, path: str) -> bytes | None:
        file = (self._code.sources if is_source(path) else self._code.code) / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def _mirror(self, module: JavaModule, family: frozenset[str]) -> Path:
        """Links to a module's class files but for those of some types."""
        mirror = self._folder / 'mirrors' / str(module.index)  # own name: a number
        shutil.rmtree(mirror, ignore_errors=True)
        mirror.mkdir(parents=True)
        built = self._built(module)
        link_classes(built, mirror, lambda name: not is_of(built / name, built, family))
        return mirror

    def _gone(self, module: JavaModule, family: frozenset[str], place: Path) -> Iterator[str]:
        """Class files of edited sources that were not made again."""
        built = self._built(module)
        for file in sorted(built.rglob('*.class')) if family else ():
            name = file.relative_to(built)
            if is_of(file, built, family) and not (place / name).is_file():
                yield str(PurePosixPath(module.path, module.classes, name))

    def _not_as_built(self, module: JavaModule, path: str) -> str | None:
        """`filtered_resource` where Maven made another file of a resource than lies in the tree.

        What the edit would come to is not known then: filters fill in what the build knows.
        """
        root = PurePosixPath(module.path, RESOURCES)
        original = self._original(path)
        if original is None or not PurePosixPath(path).is_relative_to(root):
            return None
        built = self._built(module) / str(PurePosixPath(path).relative_to(root))
        as_it_lies = built.is_file() and not built.is_symlink() and built.read_bytes() == original
        return None if as_it_lies else FILTERED

    def _lay_resources(self, module: JavaModule, files: Files, place: Path) -> Iterator[str]:
        """Edited resources beside the classes, as they are; yields those that are gone."""
        root = PurePosixPath(module.path, RESOURCES)
        for path, content in files:
            if PurePosixPath(path).is_relative_to(root):
                name = str(PurePosixPath(path).relative_to(root))
                lay(place, ((name, content),))
                if content is None:
                    yield str(PurePosixPath(module.path, module.classes, name))
