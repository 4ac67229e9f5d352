"""A release of toys under several licences: which texts it holds, and how the others are filled in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import describe_withheld_tasks, load_assignments
from coevo.evaluation.options import verify_and_get_sha256
from coevo.model.errors import Fatal
from coevo.model.listener import Listener
from coevo.snapshots.code_free.filling import FillSelection, fill_edition
from coevo.snapshots.snapshot import format_filling_command, open_snapshots
from coevo.snapshots.verification import verify_snapshot
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release, write_code_free_edition
from tests.git_server import Fault, GitBackend, serving
from tests.languages import toys
from tests.packagers.test_code_free import files, texts
from tests.projects import QUICK, write
from tests.repos import git

GPL = 'GNU General Public License\nVersion 3, 29 June 2007\n'
LICENCES = {'example/dock': GPL, 'example/ferry': toys.LICENCE, 'example/quay': toys.LICENCE}


def history(name: str, licence: str) -> list[dict[str, str | bytes | None]]:
    """A history in which a test has to follow its code."""
    return [
        {
            'toy.build': 'build: true\n',
            'LICENSE': licence,
            **toys.source(name, 'price: 1'),
            **toys.tests(name, 'follows: is ' + name + '.price 1'),
        },
        {
            **toys.source(name, 'price: 2'),
            **toys.tests(name, 'follows: is ' + name + '.price 2'),
        },
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Served repositories, the store that they were mined into, a release and its editions.

    release  what `coevo release` writes: without the texts of the dock, which is under the GPL
    whole    the release with all of its texts
    """

    served: Path
    url: str
    backend: GitBackend
    store: Path
    release: Path
    edition: Path
    whole: Path


@pytest.fixture(scope='module')
def world(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp('filling')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_CACHE', str(folder / 'cache'))
        backend = GitBackend(folder / 'served')
        with serving(backend) as url:
            for repo, licence in LICENCES.items():
                name = repo.partition('/')[2].title()
                write(folder / 'served' / repo, history(name, licence))
                source = str(folder / 'served' / repo)
                mine(MineOptions(source=source, store=folder / 'store', profile=QUICK, name=repo))
            options = ReleaseOptions(
                store=folder / 'store',
                snapshot=folder / 'release',
                code_free=folder / 'edition',
                urls={repo: f'{url}/{repo}' for repo in LICENCES},
            )
            said = publish_release(options).sentence
            assert 'texts of 1 of 3 tasks are withheld' in said
            assert 'GPL-3.0 1' in said
            write_code_free_edition(options)
            made = World(
                served=folder / 'served',
                url=url,
                backend=backend,
                store=folder / 'store',
                release=folder / 'release',
                edition=folder / 'edition',
                whole=folder / 'whole',
            )
            fill_edition(made.edition, made.whole, made.store)
            yield made


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))


def clones(world: World, folder: Path, *repos: str) -> Path:
    """Clones of some repositories in a new folder."""
    folder.mkdir(parents=True)
    for repo in repos:
        (folder / repo).parent.mkdir(exist_ok=True)
        git(folder, 'clone', '-q', '--bare', str(world.served / repo), f'{folder / repo}.git')
    return folder


def task_of(snapshot: Path, repo: str) -> str:
    sql = f"SELECT task_id FROM tasks WHERE repo = '{repo}'"
    ((task_id,),) = open_snapshots(snapshot).sql(sql).fetchall()
    return str(task_id)


def withheld(snapshot: Path) -> dict[str, bool]:
    """Whether the texts of each repository's task are withheld, as its row says."""
    sql = 'SELECT repo, texts_withheld FROM tasks'
    return dict(open_snapshots(snapshot).sql(sql).fetchall())


@pytest.fixture
def refusing(world: World) -> Iterator[World]:
    """The same world, but its server answers no request for the dock."""
    world.backend.faults.append(Fault(path='dock', status=404, times=None))
    yield world
    world.backend.faults.clear()


# -- what a release holds --


def test_release_holds_the_texts_of_permissive_rows_alone(world: World) -> None:
    assert verify_snapshot(world.release) == []
    assert withheld(world.release) == {
        'example/dock': True,
        'example/ferry': False,
        'example/quay': False,
    }
    held = '\n'.join(texts(world.release))
    assert 'Ferry.price' in held
    assert 'Dock.price' not in held
    assert 'Dock.price' in '\n'.join(texts(world.whole))


def test_verify_says_how_many_pairs_have_their_texts(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['verify', str(world.release)]) == 0
    assert '2 pairs have their texts; `coevo get`' in capsys.readouterr().out
    assert main(['verify', str(world.whole)]) == 0
    assert 'have their texts' not in capsys.readouterr().out


def test_attribution_names_licence_text_address_and_commit_of_held_texts(world: World) -> None:
    text = (world.release / 'ATTRIBUTION').read_text()
    assert f'- address: {world.url}/example/ferry' in text
    head = git(world.served / 'example/ferry', 'rev-parse', 'HEAD').strip()
    assert f'- commit: {head}' in text
    assert toys.LICENCE in text
    assert 'example/dock' not in text
    assert GPL in (world.whole / 'ATTRIBUTION').read_text()


def test_code_free_edition_holds_no_licence_text_either(world: World) -> None:
    assert not (world.edition / 'ATTRIBUTION').exists()
    content = b''.join(path.read_bytes() for path in world.edition.rglob('*') if path.is_file())
    assert toys.LICENCE.encode() not in content


def test_filling_the_release_and_the_edition_give_the_same_bytes(
    world: World, tmp_path: Path
) -> None:
    report = fill_edition(world.release, tmp_path / 'filled', world.store)
    assert report.is_complete
    assert files(tmp_path / 'filled') == files(world.whole)
    assert verify_snapshot(world.whole) == []


def test_code_free_edition_is_made_of_a_release_that_withholds_texts(
    world: World, tmp_path: Path
) -> None:
    options = ReleaseOptions(
        store=world.store, snapshot=world.release, code_free=tmp_path / 'again'
    )
    write_code_free_edition(options)
    assert files(tmp_path / 'again') == files(world.edition)


# -- filling in part --


@pytest.mark.slow
def test_filling_in_two_steps_gives_the_same_bytes_as_at_once(
    refusing: World, tmp_path: Path
) -> None:
    out = tmp_path / 'out'
    some = clones(refusing, tmp_path / 'some', 'example/ferry', 'example/quay')
    first = fill_edition(refusing.edition, out, some)
    assert [each.repo for each in first.lacking] == ['example/dock']
    assert withheld(out) == {'example/dock': True, 'example/ferry': False, 'example/quay': False}
    assert verify_snapshot(out) == []
    rest = clones(refusing, tmp_path / 'rest', 'example/dock')
    assert fill_edition(refusing.edition, out, rest).is_complete
    assert files(out) == files(refusing.whole)


@pytest.mark.slow
def test_order_of_filling_leaves_no_trace(world: World, tmp_path: Path) -> None:
    for name, repos in (('one', ('ferry', 'quay')), ('two', ('quay', 'ferry'))):
        for repo in repos:
            selection = FillSelection(repositories=(f'example/{repo}',))
            fill_edition(world.edition, tmp_path / name, None, selection)
    assert files(tmp_path / 'one') == files(tmp_path / 'two')


def test_whole_release_is_left_as_it_is(world: World, tmp_path: Path) -> None:
    before = files(world.whole)
    assert fill_edition(world.edition, world.whole, None).is_complete
    assert files(world.whole) == before


def test_one_task_is_filled_alone(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, task = tmp_path / 'out', task_of(world.edition, 'example/quay')
    assert main(['get', str(world.edition), '--out', str(out), '--only-task', task]) == 0
    assert withheld(out) == {'example/dock': True, 'example/ferry': True, 'example/quay': False}
    assert main(['prompt', str(out), task]) == 0
    assert 'QuayTest' in capsys.readouterr().out


def test_descriptions_of_a_half_filled_folder_do_not_say_that_it_holds_no_code(
    world: World, tmp_path: Path
) -> None:
    selection = FillSelection(repositories=('example/quay',))
    for step in (selection, FillSelection(repositories=('example/ferry',))):
        fill_edition(world.edition, tmp_path / 'out', world.store, step)
        card = (tmp_path / 'out/README.md').read_text()
        assert 'code-free' not in card
        assert 'contains no code' not in card
        assert card.count('**Texts in this folder.**') == 1
        assert '`ATTRIBUTION` has it' in card
        about = json.loads((tmp_path / 'out/croissant.json').read_text())
        assert 'code-free' not in about['name'] + about['description']
        sizes = {each['@id']: each.get('sha256') for each in about['distribution']}
        files = json.loads((tmp_path / 'out/manifest.json').read_text())['files']
        assert {name: sizes[name] for name in files if name in sizes} == {
            name: files[name]['sha256'] for name in files if name in sizes
        }
    assert verify_snapshot(tmp_path / 'out') == []


def test_texts_that_a_release_has_need_no_filling(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['get', str(world.release), '--out', str(tmp_path / 'out')]
    assert main([*words, '--only-repository', 'example/quay']) == 0
    said = capsys.readouterr()
    assert 'these texts are in the edition already' in said.out + said.err
    assert not (tmp_path / 'out').exists()


def test_unknown_names_are_refused(world: World, tmp_path: Path) -> None:
    for selection in (FillSelection(tasks=('f' * 16,)), FillSelection(repositories=('a/b',))):
        with pytest.raises(Fatal, match='has no'):
            fill_edition(world.edition, tmp_path / 'out', None, selection)
    assert [*tmp_path.iterdir()] == []


def test_half_filled_folder_serves_its_tasks_and_names_the_command_for_others(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dock = task_of(world.release, 'example/dock')
    assert main(['prompt', str(world.release), dock]) == 2
    assert f'`coevo get {world.release} --only-tasks {dock}`' in capsys.readouterr().err
    for place in (world.release, world.edition):
        with pytest.raises(Fatal, match=f'`coevo get {place} --only-tasks {dock}` fills them in'):
            load_assignments(place, {dock})
    with pytest.raises(Fatal, match=f'`coevo get {world.edition}` fills them in'):
        load_assignments(world.edition)
    loaded = {each.task.repo for each in load_assignments(world.release)}
    assert loaded == {'example/ferry', 'example/quay'}
    assert '1 of 3 tasks' in (describe_withheld_tasks(world.release) or '')
    assert describe_withheld_tasks(world.whole) is None
    # What is scored here counts as scored on the release.
    assert verify_and_get_sha256(world.release) == verify_and_get_sha256(world.whole)
    assert main(['show', str(world.release), dock]) == 0
    assert f'--only-tasks {dock}' in capsys.readouterr().out
    checkout = ['checkout', str(world.release), task_of(world.release, 'example/ferry')]
    assert main([*checkout, str(tmp_path / 'start')]) == 0


def test_suggested_command_names_three_tasks_at_most() -> None:
    assert format_filling_command('2026-06', *'abc') == '`coevo get 2026-06 --only-tasks a b c`'
    assert format_filling_command('2026-06', *'abcd') == '`coevo get 2026-06 --only-tasks a b c …`'


# -- what Git says --


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('fault', 'said'),
    [
        (Fault(path='ferry', status=404, times=None), 'has no such repository'),
        (Fault(path='ferry', status=401, times=None), 'refused'),
        (Fault(path='ferry', status=403, times=None), 'refused'),
        (Fault(path='POST .*ferry', after=10, times=None), 'Git said: '),
    ],
)
def test_each_repository_says_what_git_said(
    world: World, tmp_path: Path, fault: Fault, said: str
) -> None:
    world.backend.faults.append(fault)
    try:
        report = fill_edition(world.edition, tmp_path / 'out', None)
    finally:
        world.backend.faults.clear()
    (lacking,) = report.lacking
    assert (lacking.repo, lacking.filled) == ('example/ferry', 0)
    assert said in lacking.why
    assert 'Git said: ' in lacking.why
    assert withheld(tmp_path / 'out')['example/dock'] is False


def test_host_that_is_down_is_no_repository_that_is_gone(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = Path(shutil.copytree(world.edition, tmp_path / 'edition'))
    world.backend.faults.append(Fault(path='.', after=0, times=None))
    try:
        out = tmp_path / 'out'
        assert main(['get', str(edition), '--out', str(out)]) == 1
    finally:
        world.backend.faults.clear()
    said = capsys.readouterr().err
    assert 'no text could be filled in' in said
    assert not out.exists()


def test_clone_without_the_commit_is_named_with_the_file_that_it_lacks(
    refusing: World, tmp_path: Path
) -> None:
    some = clones(refusing, tmp_path / 'some', 'example/ferry', 'example/quay')
    short = tmp_path / 'some/example/dock.git'
    source = f'file://{refusing.served}/example/dock'
    git(tmp_path, 'clone', '-q', '--bare', '--depth=1', source, str(short))
    report = fill_edition(refusing.edition, tmp_path / 'out', some)
    (lacking,) = report.lacking
    assert f'{short} lacks' in lacking.why


# -- trouble --


def test_interrupted_filling_changes_nothing_and_goes_on(world: World, tmp_path: Path) -> None:
    out = tmp_path / 'out'
    fill_edition(world.edition, out, None, FillSelection(repositories=('example/ferry',)))
    before = files(out)

    def interrupt(step: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_edition(world.edition, out, None, listener=Listener(step=interrupt))
    assert files(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ['cache', 'out']
    assert fill_edition(world.edition, out, None).is_complete
    assert files(out) == files(world.whole)


@pytest.mark.slow
def test_kill_between_the_two_renames_loses_nothing(world: World, tmp_path: Path) -> None:
    out = tmp_path / 'out'
    fill_edition(world.edition, out, None, FillSelection(repositories=('example/ferry',)))
    (tmp_path / '.out.new-texts').mkdir()
    out.rename(tmp_path / '.out.new-texts/before')
    selection = FillSelection(repositories=('example/quay',))
    fill_edition(world.edition, out, None, selection)
    assert withheld(out) == {'example/dock': True, 'example/ferry': False, 'example/quay': False}


def test_full_disk_is_one_sentence_and_changes_nothing(world: World, tmp_path: Path) -> None:
    """The limit on the size of files stands for the disk."""
    limit = 'import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); '
    run = 'from coevo.command.main import main; sys.exit(main(sys.argv[1:]))'
    command = ['get', str(world.edition), '--out', str(tmp_path / 'out')]
    done = subprocess.run(
        [sys.executable, '-c', limit + run, *command, '--store', str(world.store)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert 'Traceback' not in done.stderr
    assert str(tmp_path / 'out') in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != 'cache'] == []


def test_edition_of_a_later_schema_asks_for_a_newer_coevo(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = Path(shutil.copytree(world.edition, tmp_path / 'edition'))
    content = json.loads((edition / 'manifest.json').read_text())
    (edition / 'manifest.json').write_text(json.dumps({**content, 'schema_version': 99}))
    assert main(['get', str(edition), '--out', str(tmp_path / 'out')]) == 2
    assert 'update coevo' in capsys.readouterr().err


@pytest.mark.parametrize('content', ['file', 'release', 'another'])
def test_folder_that_holds_something_else_is_left_alone(
    world: World, tmp_path: Path, content: str
) -> None:
    out = tmp_path / 'out'
    if content == 'file':
        out.mkdir()
        (out / 'notes.txt').write_text('mine')
    elif content == 'release':
        shutil.copytree(world.edition, out)
    else:
        shutil.copytree(world.release, out)
        manifest = json.loads((out / 'manifest.json').read_text())
        manifest['edition']['manifest_sha256'] = 'f' * 64
        (out / 'manifest.json').write_text(json.dumps(manifest))
    before = files(out)
    with pytest.raises(Fatal, match='is there already'):
        fill_edition(world.edition, out, world.store)
    assert files(out) == before


def test_file_of_the_user_in_a_filled_folder_is_not_lost(world: World, tmp_path: Path) -> None:
    out = tmp_path / 'out'
    fill_edition(world.edition, out, None, FillSelection(repositories=('example/ferry',)))
    (out / 'notes.txt').write_text('mine')
    before = files(out)
    with pytest.raises(Fatal, match=r'has notes\.txt, which is no part of the snapshot'):
        fill_edition(world.edition, out, None)
    assert files(out) == before


def test_verification_finds_a_row_that_hides_what_is_withheld(world: World, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(world.release, tmp_path / 'changed'))
    manifest = json.loads((changed / 'manifest.json').read_text())
    manifest['edition']['filled'].pop('example/quay')
    (changed / 'manifest.json').write_text(json.dumps(manifest))
    rules = {finding.rule for finding in verify_snapshot(changed)}
    assert rules == {'text_of_others', 'manifest'}


@pytest.mark.parametrize('same_writer', [True, False])
def test_other_bytes_are_damage_unless_another_writer_made_the_release(
    world: World, tmp_path: Path, same_writer: bool
) -> None:
    """Another version of PyArrow writes other bytes; what is filled in can be used all the same."""
    edition, out = Path(shutil.copytree(world.edition, tmp_path / 'edition')), tmp_path / 'out'
    full = json.loads((edition / 'full-manifest.json').read_text())
    full['files']['data/methods/part-0.parquet']['sha256'] = 'f' * 64
    (edition / 'full-manifest.json').write_text(json.dumps(full))
    content = json.loads((edition / 'manifest.json').read_text())
    digest = files(edition)['full-manifest.json']
    size = (edition / 'full-manifest.json').stat().st_size
    content['files']['full-manifest.json'] = {'sha256': digest, 'size': size}
    content['edition'] |= {'files': full['files'], 'manifest_sha256': digest}
    if not same_writer:
        content['edition']['written_by'] = 'pyarrow 1.0.0'
    (edition / 'manifest.json').write_text(json.dumps(content))
    report = fill_edition(edition, out, world.store)
    said = '\n'.join(report.sentences)
    assert report.is_complete is not same_writer
    assert out.exists() is not same_writer
    if same_writer:
        assert 'data/methods/part-0.parquet came out with other bytes' in said
    else:
        assert 'pyarrow 1.0.0 wrote it' in said
        assert verify_snapshot(out) == []
        assert not any(withheld(out).values())
