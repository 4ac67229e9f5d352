"""Build the images of a snapshot's tasks into a layout.

base         Debian packages, or the layers of an image that is named
environment  a runtime, its build tool and the libraries of a task: its kit, as agents get it; a
             layer each, since more tasks have equal runtimes than equal libraries
revision     the code of the new revision
start        the tests as they are at the start, and the repository of one commit

Equal layers are one blob. Nothing of a project is built: the start of an update does not compile.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from coevo.debian.base_system import ensure_base_system_archive
from coevo.evaluation.judging.start_states import StartStates, create_fresh_repository
from coevo.evaluation.reporting.cells import pluralise
from coevo.exports.harbor.images import WORK_FOLDER
from coevo.exports.images.archives import BaseImage, copy_base
from coevo.exports.images.layout import (
    LAYER,
    SECONDS,
    Entries,
    ImageSettings,
    Layer,
    LayerEntry,
    LayoutWriter,
    find_architecture,
    list_folder,
    normalise_mode,
    parse_image_tag,
)
from coevo.exports.selection import (
    LeftOut,
    Omissions,
    Selection,
    TaskTexts,
    commit_start,
    encode_json_lines,
    load_task_texts,
    open_repositories_with_tasks,
    refuse_empty_export,
    select_tasks,
)
from coevo.git.process import STEADY_PACK, run_git
from coevo.git.repository import Repository
from coevo.languages.kits import EnvironmentLost, Kit, Kits, ProjectFile
from coevo.languages.reading import RevisionTree
from coevo.languages.table import LANGUAGES
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.job import Mount
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.storage.beneath import join_beneath

# The layers of a start state: what the code of its revision has, and the rest.
#
# The start state is a Git repository of one commit, as `coevo checkout` writes it. Files of the
# code lie in a layer that all tasks of a revision share. It has nothing that the start state lacks,
# so that no layer holds gold.

_PLACE = WORK_FOLDER.removeprefix('/')


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLayers:
    """The entries of the two layers."""

    revision: Entries
    start: Entries


def write_reproducible_repository(repository: Repository, commit: str, folder: Path) -> None:
    """Check a commit out as `create_fresh_repository` does, with the same bytes on each machine.

    Git notes times of files in its index, and packs objects as its threads come.
    """
    create_fresh_repository(repository, commit, folder)
    git_dir = folder / '.git'
    listing = run_git(git_dir, f'--work-tree={folder}', 'ls-files', '-t', '-z')
    hidden = [entry[2:] for entry in listing.split(b'\0') if entry.startswith(b'S ')]
    objects = run_git(git_dir, 'rev-list', '--objects', '--no-object-names', commit)
    names = b''.join(sorted(set(objects.splitlines(keepends=True))))
    pack = run_git(git_dir, *STEADY_PACK, stdin=names)
    shutil.rmtree(git_dir / 'objects')
    (git_dir / 'objects').mkdir()
    run_git(git_dir, 'index-pack', '--stdin', stdin=pack)
    (git_dir / 'index').unlink()
    run_git(git_dir, 'read-tree', 'HEAD')
    if hidden:
        lines = b''.join(path + b'\0' for path in hidden)
        run_git(git_dir, 'update-index', '--skip-worktree', '-z', '--stdin', stdin=lines)


def make_start_layers(
    folder: Path,
    commit: str,
    repository: Repository,
    tree: RevisionTree,
    beside: Mapping[str, ProjectFile],
) -> StartLayers:
    """Return the layers of a start state that was checked out into a folder.

    repository  the one that has the commit
    tree        of the new revision, which says what belongs to the code
    beside      what is put beside its files, and hidden from Git
    """
    _exclude_files_from_git(folder, beside)
    entries = dict(list_folder(folder, _PLACE))
    start = repository.tree(commit)
    code = {
        f'{_PLACE}/{path}'
        for path, entry in tree.entries.items()
        if start.get(path) == entry and not tree.belongs_to_tests(path)
    }
    added = {f'{_PLACE}/{path}': _convert(file) for path, file in beside.items()}
    return StartLayers(
        revision={path: entry for path, entry in entries.items() if path in code},
        start={**{p: e for p, e in entries.items() if p not in code}, **added},
    )


def _exclude_files_from_git(folder: Path, beside: Mapping[str, ProjectFile]) -> None:
    """Let `git status` of a repository pass over files beside its own."""
    info = folder / '.git/info'
    info.mkdir(exist_ok=True)
    (info / 'exclude').write_text(
        ''.join(f'/{path}\n' for path in sorted(beside)), errors='surrogateescape'
    )


def _convert(file: ProjectFile) -> LayerEntry:
    if file.target is not None:
        return LayerEntry(target=file.target)
    return LayerEntry(content=file.content, mode=0o644)


# Build the images of a snapshot's tasks into a layout.

ENVIRONMENTS = 'environments.jsonl'
"""The table of the images in their layout."""

_PATH, _DEFAULT_PATH = 'PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOptions:
    """The options of a build of images.

    base  an archive of an image to build on; None for Debian packages
    name  of the images, without a tag
    """

    selection: Selection
    base: Path | None
    name: str
    sandbox: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRow:
    """A line of the table of images: the digests of an image and of its layers, in their order.

    base         the digests of one or more layers
    environment  those of the layers of its kit
    """

    task_id: str
    image: str
    digest: str
    base: tuple[str, ...]
    environment: tuple[str, ...]
    revision: str
    start: str
    bytes: int
    repo: str
    new_rev: str
    language: str
    runtime: str
    test_command: str


@dataclass(slots=True, kw_only=True)
class ImageBuilder:
    """Builds images into a layout; for one thread.

    folder  for what is temporary; the user of the sandbox can enter it
    """

    writer: LayoutWriter
    base: BaseImage
    name: str
    folder: Path
    sandbox: Sandbox
    omissions: Omissions
    say: Say
    rows: list[ImageRow] = field(default_factory=list)
    _kits: dict[str, Kits] = field(default_factory=dict)
    _mounted: dict[tuple[object, ...], Layer] = field(default_factory=dict)

    def build(self, states: StartStates, texts: TaskTexts) -> None:
        """Add the image of a task to the layout; count the task if it can have none.

        Raises: Transient if something must be downloaded, and there is no network.
        """
        task = texts.task
        if task.environment is None or not task.environment.test_command:
            self.omissions.add(LeftOut.NO_ENVIRONMENT)
            return
        commit = commit_start(states, texts, self.omissions)
        if commit is None:
            return
        with tempfile.TemporaryDirectory(prefix='image-', dir=self.folder) as name:
            scratch_folder = Path(name)
            scratch_folder.chmod(0o755)
            write_reproducible_repository(states.repository, commit, scratch_folder / 'start')
            try:
                kit = self._get_kits(task.language).make_kit(task, scratch_folder)
            except EnvironmentLost as error:
                self.say(str(error))
                self.omissions.add(LeftOut.ENVIRONMENT_LOST)
                return
            if not kit.is_whole:
                self.omissions.add(LeftOut.NOT_RUNNABLE)
                return
            self._add_image(states, task, commit, scratch_folder / 'start', kit)

    def _add_image(
        self, states: StartStates, task: TaskRow, commit: str, start: Path, kit: Kit
    ) -> None:
        language = LANGUAGES[task.language]
        tree = language.READING.open_tree(states.source, task.new_rev)
        layers = make_start_layers(start, commit, states.repository, tree, kit.beside)
        environment = self._add_environment(kit)
        revision = self.writer.add_layer('revision', layers.revision)
        begun = self.writer.add_layer('start', layers.start)
        every = (*self.base.layers, *environment, revision, begun)
        image = f'{self.name}:{parse_image_tag(task.task_id)}'
        described = self.writer.add_image(
            image, every, self._make_settings(task, kit), self.base.architecture
        )
        assert task.environment is not None, 'it was checked'
        self.rows.append(
            ImageRow(
                task_id=task.task_id,
                image=image,
                digest=described.digest,
                base=tuple(layer.blob.digest for layer in self.base.layers),
                environment=tuple(layer.blob.digest for layer in environment),
                revision=revision.blob.digest,
                start=begun.blob.digest,
                bytes=sum(layer.blob.size for layer in every),
                repo=task.repo,
                new_rev=task.new_rev,
                language=task.language,
                runtime=task.environment.runtime,
                test_command=task.environment.test_command,
            )
        )
        self.say(f'{image}: {described.digest}')

    def _add_environment(self, kit: Kit) -> tuple[Layer, ...]:
        """Add a layer for each mount of a kit, those of the system first.

        An engine stores a layer once for all images that have equal layers below it, too.
        """
        layers = []
        for mount in (*kit.system, *kit.mounts):
            follows, parts = mount in kit.system, kit.selected.get(mount.target)
            key = (mount, follows, parts)
            if key not in self._mounted:
                entries = dict(_list_selected(mount, parts, follows=follows))
                self._mounted[key] = self.writer.add_layer('environment', entries)
            layers.append(self._mounted[key])
        return tuple(layers)

    def _make_settings(self, task: TaskRow, kit: Kit) -> ImageSettings:
        inherited = self.base.settings.variables
        own = kit.environment.get(_PATH, '').split(':')
        path = dict.fromkeys((*own, *inherited.get(_PATH, _DEFAULT_PATH).split(':')))
        return ImageSettings(
            variables={
                'HOME': '/root',
                **inherited,
                **kit.environment,
                _PATH: ':'.join(part for part in path if part),
            },
            folder=WORK_FOLDER,
            labels={'coevo.task': task.task_id, 'coevo.repo': task.repo, 'coevo.rev': task.new_rev},
        )

    def _get_kits(self, language: str) -> Kits:
        if language not in self._kits:
            folder = self.folder / f'kit-{len(self._kits)}'  # own name: a number
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)
            self._kits[language] = LANGUAGES[language].make_agent_kits(
                self.sandbox, folder, self.say
            )
        return self._kits[language]


def _list_selected(
    mount: Mount, parts: tuple[str, ...] | None, *, follows: bool
) -> Iterator[tuple[str, LayerEntry]]:
    """Yield the entries of a mount, or of the paths below it that are selected."""
    for part in ('',) if parts is None else parts:
        target = f'{mount.target}/{part}' if part else mount.target
        source = join_beneath(mount.source, part).path if part else mount.source
        yield from _list_mount_entries(Mount(source=source, target=target), follows)


def _list_mount_entries(mount: Mount, follows: bool) -> Iterator[tuple[str, LayerEntry]]:
    target = mount.target.removeprefix('/')
    if mount.source.is_dir():
        yield from list_folder(mount.source, target, follows=follows)
    elif mount.source.is_file():
        mode = normalise_mode(mount.source.stat().st_mode)
        yield target, LayerEntry(source=mount.source, mode=mode)


def write_images(
    folder: Path, options: ImageOptions, omissions: Omissions, say: Say
) -> Iterator[str]:
    """Write the images of the selected tasks as a layout into a folder; yield sentences about it.

    Raises: Fatal if no task is left, or for a base that is none; Transient if something cannot be
    fetched for now.
    """
    wanted = select_tasks(options.selection)
    writer = LayoutWriter(folder)
    base = add_base(options.base, writer, say)
    with (
        tempfile.TemporaryDirectory(prefix='coevo-images-') as scratch,
        closing(open_sandbox(options.sandbox)) as sandbox,
    ):
        root = Path(scratch)
        root.chmod(0o755)
        builder = ImageBuilder(
            writer=writer,
            base=base,
            name=options.name,
            folder=root,
            sandbox=sandbox,
            omissions=omissions,
            say=say,
        )
        clones = options.selection.clones
        for repository, of_repository in open_repositories_with_tasks(wanted, clones, omissions):
            with tempfile.TemporaryDirectory(prefix='states-', dir=root) as name:
                states = StartStates(repository, Path(name))
                with closing(states.repository):
                    for assignment in of_repository:
                        texts = load_task_texts(repository, assignment, omissions)
                        if texts is not None:
                            builder.build(states, texts)
    refuse_empty_export(len(builder.rows), omissions)
    writer.write_index()
    rows = sorted((asdict(row) for row in builder.rows), key=lambda row: str(row['task_id']))
    (folder / ENVIRONMENTS).write_bytes(encode_json_lines(rows))
    yield from _describe_sizes(folder, builder.rows)


def _describe_sizes(folder: Path, rows: list[ImageRow]) -> Iterator[str]:
    stored = sum(path.stat().st_size for path in (folder / 'blobs').rglob('*') if path.is_file())
    whole = sum(row.bytes for row in rows)
    yield (
        f'{pluralise(len(rows), "image")}: {stored / 1e6:.0f} MB; without shared layers '
        f'{whole / 1e6:.0f} MB'
    )


def add_base(archive: Path | None, writer: LayoutWriter, say: Say) -> BaseImage:
    """Add the layers of the base to a layout: Debian packages, or the image of an archive."""
    if archive is not None:
        return copy_base(archive, writer)
    system = ensure_base_system_archive(SECONDS, say)
    blob = writer.add_blob(LAYER, partial(_copy_file, system))
    layer = Layer(what='base', blob=blob, diff_id=blob.digest)
    return BaseImage(
        layers=(layer,), settings=ImageSettings(variables={}), architecture=find_architecture()
    )


def _copy_file(path: Path, stream: IO[bytes]) -> None:
    with path.open('rb') as file:
        while block := file.read(_BLOCK):
            stream.write(block)
