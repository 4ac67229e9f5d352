"""`coevo images`: layers, layouts and archives, and images that run."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.start_states import StartStates
from coevo.exports.images.archives import copy_base, write_archive
from coevo.exports.images.building import ImageBuilder
from coevo.exports.images.layout import (
    SECONDS,
    LayerEntry,
    LayoutWriter,
    list_folder,
    load_image_descriptors,
    write_layer,
)
from coevo.exports.selection import LeftOut, Omissions, encode_json_lines, load_task_texts
from coevo.languages.kits import EnvironmentLost, Kit, NoKits, ProjectFile
from coevo.model.errors import Fatal
from coevo.model.pair_rows import Environment
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.sandboxes.job import Mount
from coevo.sandboxes.sandbox import open_sandbox
from tests.exports.conftest import Toys
from tests.exports.root_file_systems import (
    load_blob,
    load_config,
    load_rows,
    member,
    run_in_image,
    unpack_image,
    write_tiny_base,
)
from tests.exports.test_training import GOLD, contents
from tests.folders import open_folder
from tests.languages import toy

TEST = 'grep -q "is Till.price 2" test_till.toy && .venv/check && test "$TOY" = 1'
ENVIRONMENT = Environment(runtime='1.0', build_tool='toys', test_command=TEST, libraries=())


class _ToyKits(NoKits):
    """Kits with a program, a link, and what the test command expects beside the start state."""

    def __init__(self, *rest: Any) -> None:
        self._folder: Path = rest[1]
        (self._folder / 'program').write_text('#!/bin/sh\nexit 0\n')
        (self._folder / 'program').chmod(0o700)

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        assert (place / 'start/test_till.toy').is_file()
        return Kit(
            mounts=(Mount(source=self._folder, target='/kit'),),
            environment={'TOY': '1', 'PATH': '/kit:/usr/bin'},
            beside={'.venv/check': ProjectFile(target='/kit/program')},
        )


class _KitsWithLibraries(NoKits):
    """Kits of one runtime with other libraries for each task."""

    def __init__(self, *rest: Any) -> None:
        self._folder: Path = rest[1]
        for name in ('runtime', 'libraries'):
            (self._folder / name).mkdir()
        (self._folder / 'runtime/program').write_text('runtime')

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        (self._folder / 'libraries' / task.task_id).write_text(task.task_id)
        return Kit(
            mounts=(Mount(source=self._folder / 'libraries', target='/kit/libraries'),),
            system=(Mount(source=self._folder / 'runtime', target='/kit/runtime'),),
            selected={'/kit/libraries': (task.task_id,)},
            environment={},
        )


class _LostKits(NoKits):
    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        raise EnvironmentLost(f'the packages of {task.task_id} cannot be had')


class _PartialKits(NoKits):
    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        return Kit(mounts=(), environment={}, is_whole=False)


@pytest.fixture(scope='session')
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp('base') / 'base.tar'
    write_tiny_base(base)
    return base


@pytest.fixture(scope='session')
def assignments(toy_tasks: Toys) -> list[Assignment]:
    ids = {task.task_id for task in toy_tasks.tasks.values()}
    return list(load_assignments(toy_tasks.snapshot, ids))


def build(
    toy_tasks: Toys,
    assignments: list[Assignment],
    base: Path,
    out: Path,
    environment: Environment | None = ENVIRONMENT,
) -> Omissions:
    """Write the images of tasks with an environment, which toys lack in their snapshot."""
    omissions = Omissions()
    out.mkdir()
    writer = LayoutWriter(out)
    tasks = [one.task for one in assignments]
    with (
        open_folder() as scratch,
        closing(open_sandbox('bubblewrap')) as sandbox,
        open_task_repository(tasks, Path(toy_tasks.store)) as repository,
    ):
        builder = ImageBuilder(
            writer=writer,
            base=copy_base(base, writer),
            name='toys',
            folder=scratch,
            sandbox=sandbox,
            omissions=omissions,
            say=lambda sentence: None,
        )
        states = StartStates(repository, scratch / 'states')
        for one in assignments:
            texts = load_task_texts(repository, one, omissions)
            assert texts is not None
            task = dataclasses.replace(one.task, environment=environment)
            changed = dataclasses.replace(texts.assignment, task=task)
            builder.build(states, dataclasses.replace(texts, assignment=changed))
        writer.write_index()
    rows = [dataclasses.asdict(row) for row in builder.rows]
    (out / 'environments.jsonl').write_bytes(encode_json_lines(rows))
    return omissions


@pytest.fixture(scope='session')
def layout(
    toy_tasks: Toys,
    assignments: list[Assignment],
    tiny_base: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The images of the update, first, and of the generation."""
    folder = tmp_path_factory.mktemp('images') / 'layout'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toy, 'make_agent_kits', _ToyKits)
        ordered = sorted(assignments, key=lambda one: one.task.track is not Track.UPDATE)
        assert not build(toy_tasks, ordered, tiny_base, folder).counts
    return folder


def list_own_layers(row: dict[str, Any]) -> list[str]:
    """The digests of the layers of an image above its base."""
    return [*row['environment'], row['revision'], row['start']]


def test_start_fails_in_its_image_and_gold_passes(layout: Path, tmp_path: Path) -> None:
    row = load_rows(layout)[0]
    root = tmp_path / 'root'
    unpack_image(layout, row, root)
    assert run_in_image(layout, row, root, row['test_command']).returncode == 1
    (root / 'app/test_till.toy').write_text(GOLD)
    passed = run_in_image(layout, row, root, row['test_command'])
    assert passed.returncode == 0, passed.stderr
    assert run_in_image(layout, row, root, 'cat </dev/tcp/1.1.1.1/53').returncode != 0
    settings = load_config(layout, row)['config']
    assert 'PATH=/kit:/usr/bin:/bin' in settings['Env']
    assert 'BASE=tiny' in settings['Env']


def test_start_state_in_an_image_is_a_clean_repository_without_gold(
    layout: Path, tmp_path: Path
) -> None:
    row = load_rows(layout)[0]
    unpack_image(layout, row, tmp_path / 'root')
    git = ['git', '-c', 'safe.directory=*', '-C', str(tmp_path / 'root/app')]
    status = subprocess.run([*git, 'status', '--porcelain'], capture_output=True, check=True)
    assert status.stdout == b''
    log = subprocess.run([*git, 'rev-list', '--all'], capture_output=True, check=True)
    assert len(log.stdout.split()) == 1
    shown = subprocess.run(
        [*git, 'cat-file', '--batch-all-objects', '--batch'], capture_output=True, check=True
    )
    assert b'is Till.price 1' in shown.stdout
    layers = [load_blob(layout, digest) for digest in list_own_layers(row)]
    assert not any(b'is Till.price 2' in text for text in (*layers, shown.stdout))


def test_same_tasks_give_the_same_bytes_and_share_layers(
    toy_tasks: Toys,
    assignments: list[Assignment],
    layout: Path,
    tiny_base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(toy, 'make_agent_kits', _ToyKits)
    before = os.umask(0o077)
    try:
        build(toy_tasks, assignments[::-1], tiny_base, tmp_path / 'again')
    finally:
        os.umask(before)
    one, two = (contents(folder) for folder in (layout, tmp_path / 'again'))
    assert one.keys() == two.keys()
    for name in one.keys() - {'environments.jsonl'}:
        assert one[name] == two[name], name
    rows = load_rows(layout)
    assert sorted(map(str, rows)) == sorted(map(str, load_rows(tmp_path / 'again')))
    assert len({tuple(row['environment']) for row in rows}) == 1
    assert len({row['revision'] for row in rows}) == 1
    assert len({row['start'] for row in rows}) == len(rows) == 2


def test_tasks_with_other_libraries_share_their_runtime_below_them(
    toy_tasks: Toys,
    assignments: list[Assignment],
    tiny_base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(toy, 'make_agent_kits', _KitsWithLibraries)
    build(toy_tasks, assignments, tiny_base, tmp_path / 'out')
    (runtime, own), (other_runtime, other) = (
        row['environment'] for row in load_rows(tmp_path / 'out')
    )
    assert runtime == other_runtime
    assert own != other


def test_entries_of_layers_say_nothing_of_the_machine(layout: Path) -> None:
    for digest in list_own_layers(load_rows(layout)[0]):
        with tarfile.open(fileobj=io.BytesIO(load_blob(layout, digest))) as tar:
            entries = tar.getmembers()
        assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries} == {
            (0, 0, '', SECONDS)
        }
        assert {entry.mode for entry in entries} <= {0o644, 0o755, 0o777}
        names = [entry.name for entry in entries]
        assert names == sorted(names)


@pytest.mark.parametrize(
    ('environment', 'kits', 'reason'),
    [
        (None, _ToyKits, LeftOut.NO_ENVIRONMENT),
        (ENVIRONMENT, _LostKits, LeftOut.ENVIRONMENT_LOST),
        (ENVIRONMENT, _PartialKits, LeftOut.NOT_RUNNABLE),
    ],
)
def test_task_without_an_environment_is_counted(
    environment: Environment | None,
    kits: type[NoKits],
    reason: LeftOut,
    toy_tasks: Toys,
    assignments: list[Assignment],
    tiny_base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(toy, 'make_agent_kits', kits)
    omissions = build(toy_tasks, assignments, tiny_base, tmp_path / 'out', environment)
    assert omissions.counts == {reason: 2}
    assert load_image_descriptors(tmp_path / 'out') == {}


# -- layers ---------------------------------------------------------------------------------------


def list_names(folder: Path, *, follows: bool = False) -> dict[str, LayerEntry]:
    return dict(list_folder(folder, 'kit', follows=follows))


def test_byte_code_of_another_time_is_left_out(tmp_path: Path) -> None:
    for name, flags, seconds in (('old', 0, 1), ('new', 0, SECONDS), ('hashed', 1, 7)):
        head = b'code' + flags.to_bytes(4, 'little') + seconds.to_bytes(4, 'little')
        (tmp_path / f'{name}.pyc').write_bytes(head + bytes(8))
    (tmp_path / 'short.pyc').write_bytes(b'code')
    assert list_names(tmp_path).keys() == {'kit', 'kit/new.pyc', 'kit/hashed.pyc'}


def test_links_are_followed_out_of_the_systems_own_folders_alone(tmp_path: Path) -> None:
    (tmp_path / 'kit').mkdir()
    (tmp_path / 'outside').mkdir()
    (tmp_path / 'outside/file').write_text('text')
    for name, target in (('out', '../outside'), ('file', '../outside/file'), ('lost', 'nowhere')):
        (tmp_path / f'kit/{name}').symlink_to(target)
    kept = list_names(tmp_path / 'kit')
    assert {name: entry.target for name, entry in kept.items()} == {
        'kit': None,
        'kit/out': '../outside',
        'kit/file': '../outside/file',
        'kit/lost': 'nowhere',
    }
    followed = list_names(tmp_path / 'kit', follows=True)
    assert followed['kit/file'].source is not None
    assert followed['kit/out/file'].source is not None
    assert followed['kit/lost'].target == 'nowhere'


def test_names_of_any_bytes_and_lengths_are_kept() -> None:
    names = ['a/' + 'long' * 60, b'b/\xff'.decode('utf-8', 'surrogateescape'), 'c/\n']
    stream = io.BytesIO()
    write_layer({name: LayerEntry(content=b'x', mode=0o644) for name in names}, stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream, errors='surrogateescape') as tar:
        assert {entry.name for entry in tar} == {*names, 'a', 'b', 'c'}


# -- archives and bases ---------------------------------------------------------------------------


def copy_into(archive: Path, folder: Path) -> list[str]:
    folder.mkdir()
    return [layer.diff_id for layer in copy_base(archive, LayoutWriter(folder)).layers]


def test_exported_archive_is_a_base_again(layout: Path, tmp_path: Path) -> None:
    row = load_rows(layout)[0]
    words = ['images', 'export', str(layout), '--out', str(tmp_path / 'one.tar')]
    assert main([*words, '--only-tasks', row['task_id']]) == 0
    own = [*row['base'], *row['environment'], row['revision'], row['start']]
    assert copy_into(tmp_path / 'one.tar', tmp_path / 'copy') == own
    with tarfile.open(tmp_path / 'one.tar') as tar:
        listed = json.load(tar.extractfile('manifest.json'))  # type: ignore[arg-type]
        assert [entry['RepoTags'] for entry in listed] == [[row['image']]]
        assert 'oci-layout' in tar.getnames()


def test_export_has_the_same_bytes_twice(layout: Path) -> None:
    streams = [io.BytesIO(), io.BytesIO()]
    for stream in streams:
        write_archive(layout, load_image_descriptors(layout), stream)
    assert streams[0].getvalue() == streams[1].getvalue()


def test_compressed_base_has_the_same_layers(tiny_base: Path, tmp_path: Path) -> None:
    write_tiny_base(tmp_path / 'small.tar', compressed=True)
    own = copy_into(tiny_base, tmp_path / 'one')
    assert copy_into(tmp_path / 'small.tar', tmp_path / 'two') == own


def write_text(path: Path) -> None:
    path.write_text('text')


def write_other_archive(path: Path) -> None:
    with tarfile.open(path, 'w') as tar:
        tar.addfile(*member('file', b'text'))


def write_damaged_base(path: Path) -> None:
    write_tiny_base(path, damaged=True)


def write_hostile_base(path: Path) -> None:
    with tarfile.open(path, 'w') as tar:
        tar.addfile(*member('manifest.json', b'[{"Config": "../../etc/passwd", "Layers": []}]'))


@pytest.mark.parametrize(
    'write', [write_text, write_other_archive, write_damaged_base, write_hostile_base]
)
def test_what_is_no_image_is_no_base(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / 'base.tar')
    with pytest.raises(Fatal, match='is not an archive of an image'):
        copy_into(tmp_path / 'base.tar', tmp_path / 'out')


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / 'tiny'
    folder.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('file systems are mounted by root alone')
    try:
        yield folder
    finally:
        subprocess.run(['umount', str(folder)], check=True)


def fail(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence with which a command ends with status 2."""
    capsys.readouterr()
    assert main(words) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    return sentence


def test_full_disk_within_a_layer_leaves_nothing(
    toy_tasks: Toys, tiny_base: Path, tiny_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['images', 'build', toy_tasks.snapshot, '--store', toy_tasks.store]
    out = str(tiny_disk / 'images')
    said = fail([*words, '--base', str(tiny_base), '--out', out], capsys)
    assert 'No space left on device' in said
    assert str(tiny_disk) in said
    assert list(tiny_disk.iterdir()) == []


def test_full_disk_leaves_no_half_archive(
    layout: Path, tiny_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tiny_disk / 'all.tar'
    said = fail(['images', 'export', str(layout), '--out', str(out)], capsys)
    assert said.startswith(f'coevo: {out}')
    assert list(tiny_disk.iterdir()) == []


def test_snapshot_without_environments_has_no_images(
    toy_tasks: Toys, tiny_base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['images', 'build', toy_tasks.snapshot, '--store', toy_tasks.store]
    said = fail([*words, '--base', str(tiny_base), '--out', str(tmp_path / 'out')], capsys)
    assert LeftOut.NO_ENVIRONMENT.clause in said
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('step', ['load', 'push', 'base'])
def test_missing_engine_is_one_sentence(
    step: str,
    toy_tasks: Toys,
    layout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('DOCKER_HOST', f'unix://{tmp_path}/no-socket')
    out = str(tmp_path / 'out')
    words = {
        'load': ['images', 'load', str(layout)],
        'push': ['images', 'push', str(layout), '--to', 'registry.test/tasks'],
        'base': ['images', 'build', toy_tasks.snapshot, '--out', out, '--base', 'debian:12'],
    }
    said = fail(words[step], capsys)
    assert said.startswith(f'coevo: no container engine answers at {tmp_path}/no-socket (')
    assert 'DOCKER_HOST' in said
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['load', '{nothing}'], 'has no images; write some with'),
        (['export', '{nothing}', '--out', 'x'], 'has no images; write some with'),
        (['export', '{layout}', '--out', '{layout}'], 'already exists'),
        (['load', '{layout}', '--only-tasks', 'nobody'], 'has no image of nobody'),
        (['push', '{layout}', '--to', 'Evil; rm'], 'is no name of an image'),
    ],
)
def test_bad_words_are_one_sentence(
    words: list[str],
    said: str,
    layout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {'nothing': tmp_path / 'nothing', 'layout': layout}
    assert said in fail(['images', *(word.format(**places) for word in words)], capsys)


# -- a container engine ---------------------------------------------------------------------------


@pytest.fixture
def engine(daemon: None) -> Iterator[Any]:
    import docker

    with closing(docker.from_env()) as client:
        yield client


@pytest.mark.docker
def test_loaded_image_runs_without_network(layout: Path, engine: Any, tmp_path: Path) -> None:
    from docker.types import Ulimit

    row = load_rows(layout)[0]
    assert main(['images', 'load', str(layout), '--only-tasks', row['task_id']]) == 0
    manifest = json.loads(load_blob(layout, row['digest']))
    assert engine.images.get(row['image']).id == manifest['config']['digest']
    (tmp_path / 'gold').write_text(GOLD)

    def run(command: str) -> int:
        container = engine.containers.run(
            row['image'],
            ['sh', '-c', command],
            detach=True,
            network_mode='none',
            ulimits=[Ulimit(name=name, soft=1024, hard=1024) for name in ('nofile', 'nproc')],
            volumes={str(tmp_path): {'bind': '/gold', 'mode': 'ro'}},
        )
        try:
            return int(container.wait(timeout=600)['StatusCode'])
        finally:
            container.remove(force=True)

    assert run(row['test_command']) == 1
    assert run(f'cat /gold/gold > test_till.toy && {row["test_command"]}') == 0
    assert run('grep -q lo: /proc/net/dev && ! grep -q eth /proc/net/dev') == 0


@pytest.mark.docker
@pytest.mark.usefixtures('engine')
def test_base_that_cannot_be_pulled_is_named(
    toy_tasks: Toys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['images', 'build', toy_tasks.snapshot, '--store', toy_tasks.store]
    assert main([*words, '--base', '127.0.0.1:9/base:1', '--out', str(tmp_path / 'out')]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith('coevo: 127.0.0.1:9/base:1 cannot be pulled (')
    assert 'http+docker' not in said
    assert not (tmp_path / 'out').exists()
