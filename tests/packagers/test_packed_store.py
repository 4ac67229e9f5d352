"""A store without code gives, with clones, the segments, measures and releases of the store."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.git.repository import Repository
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.profiles import load_profile
from coevo.storage import archive, measures
from coevo.storage.store import Store
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from packagers import packed_store
from packagers.store_unpacking import unpack_store
from tests.languages import toys
from tests.packagers.test_code_free import files
from tests.projects import NAME, QUICK, options, write
from tests.repos import git

pytestmark = pytest.mark.usefixtures('toy')

STEPS: list[dict[str, str | bytes | None]] = [
    {
        **toys.BUILD,
        'LICENSE': toys.LICENCE,
        **toys.source('Till', f'price: {price}', 'stays: 31415926535'),
        **toys.tests('Till', f'follows: is Till.price {price}', 'stays: is Till.stays 31415926535'),
    }
    for price in (1_000_001, 2_000_002, 3_000_003)
]
REACHED = datetime(2024, 2, 1, tzinfo=UTC)
LINES = ('follows: is Till.price 2000002', 'follows: is Till.price 3000003')


def make_options(folder: Path, store: Path | None = None) -> MineOptions:
    return options(
        folder / 'repository', store or folder / 'store', profile=load_profile('default')
    )


@pytest.fixture(scope='module')
def store(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with measures, and a month that was released of it."""
    folder = tmp_path_factory.mktemp('shop')
    write(folder / 'repository', STEPS)
    assert mine(make_options(folder)).tasks == 2
    release(folder / 'store', folder / 'released')
    return folder / 'store'


@pytest.fixture(scope='module')
def pack(store: Path) -> Path:
    out = store.with_name('pack')
    assert main(['pipeline', 'pack', '--store', str(store), '--out', str(out)]) == 0
    return out


def release(store: Path, snapshot: Path) -> dict[str, str]:
    """Release January 2024 of a store; return the files."""
    publish_release(
        ReleaseOptions(store=store, snapshot=snapshot, month='2024-01', reached=REACHED)
    )
    return files(snapshot)


def load_records(folder: Path) -> list[object]:
    """Return walk, segments and measures of the one partition of a store."""
    store = Store(folder)
    (partition,) = store.list_partitions()
    names = sorted(measures.find_latest_measures(store.storage, partition).values())
    return [
        store.load_walk(partition),
        *store.load_current_segments(partition),
        *(measures.load_measures(store.storage, partition, name) for name in names),
    ]


def unpack_content(pack: Path) -> dict[str, bytes]:
    """Return all pieces of the partition's file, uncompressed."""
    (file,) = pack.glob('*/*/*.coevo')
    pieces = archive.decode_archive(file.read_bytes()).pieces
    return {name: piece.unpack() for name, piece in pieces.items()}


def replace_piece(pack: Path, name: str, data: bytes) -> None:
    (file,) = pack.glob('*/*/*.coevo')
    pieces = archive.decode_archive(file.read_bytes()).pieces
    file.write_bytes(archive.encode_archive({**pieces, name: archive.pack_piece(data)}))


def test_unpacked_store_has_the_same_records_and_releases_the_same_bytes(
    store: Path, pack: Path, tmp_path: Path
) -> None:
    report = unpack_store(pack, Store(tmp_path / 'store'), store)
    assert [*report.sentences] == ['2 of 2 pairs are in the store']
    assert load_records(tmp_path / 'store') == load_records(store)
    assert len(load_records(store)) == 5
    shutil.copytree(store / 'clones', tmp_path / 'store/clones')
    released = release(tmp_path / 'store', tmp_path / 'released')
    assert released == files(store.with_name('released'))


def test_pack_holds_no_line_of_the_code(store: Path, pack: Path) -> None:
    (partition,) = Store(store).list_partitions()
    stored = ''.join(str(segment) for segment in Store(store).load_current_segments(partition))
    assert all(line in stored for line in LINES)
    content = b''.join(unpack_content(pack).values()).decode()
    assert not any(line in content for line in LINES)


def test_mining_goes_on_from_an_unpacked_store(store: Path, pack: Path, tmp_path: Path) -> None:
    unpack_store(pack, Store(tmp_path / 'store'), store)
    report = mine(make_options(store.parent, tmp_path / 'store'))
    assert (report.executed, report.reused) == (0, 2)


def test_equal_stores_give_equal_packs(store: Path, pack: Path, tmp_path: Path) -> None:
    unpack_store(pack, Store(tmp_path / 'store'), store)
    shutil.copytree(store / 'clones', tmp_path / 'store/clones')
    (tmp_path / 'pack').mkdir()
    shutil.copyfile(pack / 'pack.json', tmp_path / 'pack/pack.json')
    (tmp_path / 'pack/left over').touch()
    command = ['pipeline', 'pack', '--store', str(tmp_path / 'store'), '--out']
    assert main([*command, str(tmp_path / 'pack')]) == 0
    assert files(tmp_path / 'pack') == files(pack)


def test_pairs_whose_files_no_clone_has_are_added_by_a_second_call(
    store: Path, pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clones = tmp_path / 'clones'
    git(tmp_path, 'init', '-q', '--bare', str(clones / f'{NAME}.git'))
    command = ['pipeline', 'unpack', str(pack), '--store', str(tmp_path / 'store')]
    assert main([*command, '--clones', str(clones)]) == 1
    said = capsys.readouterr().out
    assert f'{NAME} (parents): 2 of 2 pairs are lacking' in said
    assert 'The same command adds the others' in said
    assert main([*command, '--clones', str(store)]) == 0
    assert load_records(tmp_path / 'store') == load_records(store)


@pytest.mark.parametrize('name', ['walk', 'sources', 'recipes', 'segments', 'measures'])
def test_malformed_pieces_are_refused(store: Path, pack: Path, tmp_path: Path, name: str) -> None:
    hurt = Path(shutil.copytree(pack, tmp_path / 'pack'))
    replace_piece(hurt, name, b'[[1, 2\n')
    with pytest.raises(DamagedSnapshot, match='is damaged'):
        unpack_store(hurt, Store(tmp_path / 'store'), store)
    assert not [*(tmp_path / 'store').rglob('*.segment')]


def test_record_with_another_text_is_refused(store: Path, pack: Path, tmp_path: Path) -> None:
    hurt = Path(shutil.copytree(pack, tmp_path / 'pack'))
    lines = unpack_content(pack)['recipes'].splitlines()
    replace_piece(hurt, 'recipes', b'\n'.join(reversed(lines)))
    with pytest.raises(DamagedSnapshot):
        unpack_store(hurt, Store(tmp_path / 'store'), store)
    assert not [*(tmp_path / 'store').rglob('*.segment')]


@pytest.mark.parametrize('name', ['../outside', 'months/../../outside', 'clones/x'])
def test_documents_stay_in_their_folders(
    store: Path, pack: Path, tmp_path: Path, name: str
) -> None:
    hurt = Path(shutil.copytree(pack, tmp_path / 'pack'))
    data = archive.encode_archive({name: archive.pack_piece(b'hostile')})
    (hurt / packed_store.DOCUMENTS).write_bytes(data)
    with pytest.raises(Fatal):
        unpack_store(hurt, Store(tmp_path / 'store'), store)
    assert not [*tmp_path.rglob('outside')]
    assert not (tmp_path / 'store/clones').exists()


def test_private_store_is_not_packed(store: Path, tmp_path: Path) -> None:
    private = Path(shutil.copytree(store, tmp_path / 'store'))
    Store(private).mark_private()
    with pytest.raises(Fatal, match='private'):
        packed_store.pack_store(Store(private), tmp_path / 'pack', no_clone)
    assert not (tmp_path / 'pack').exists()


def test_store_is_not_replaced_by_a_pack(store: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(store, tmp_path / 'store'))
    for out in (other, store):
        command = ['pipeline', 'pack', '--store', str(other), '--out', str(out)]
        assert main(command) == 2
    assert load_records(other) == load_records(store)


def test_what_was_mined_since_stays_current(store: Path, pack: Path, tmp_path: Path) -> None:
    unpack_store(pack, Store(tmp_path / 'store'), store)
    mine(replace(make_options(store.parent, tmp_path / 'store'), profile=QUICK))
    mined = load_records(tmp_path / 'store')
    unpack_store(pack, Store(tmp_path / 'store'), store)
    assert load_records(tmp_path / 'store') == mined
    assert mined[1:3] != load_records(store)[1:3]


@pytest.mark.parametrize(('kind', 'left'), [('repository', 0), ('pair', 1)])
def test_withdrawn_rows_are_not_packed(
    store: Path, tmp_path: Path, kind: str, left: int, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(shutil.copytree(store, tmp_path / 'store'))
    (partition,) = Store(other).list_partitions()
    pair = next(Store(other).load_current_segments(partition)).pair
    name = pair.repo if kind == 'repository' else pair.pair_id
    command = ['pipeline', 'withdraw', '--store', str(other), f'--{kind}', name]
    assert main([*command, '--reason', 'its owners asked for it']) == 0
    out = tmp_path / 'pack'
    status = main(['pipeline', 'pack', '--store', str(other), '--out', str(out)])
    assert status == (0 if left else 2)
    if left:
        assert pair.pair_id not in unpack_content(out)['segments'].decode()
        assert f'{left} pairs of 1 partitions' in capsys.readouterr().out


def test_text_in_place_of_a_row_is_refused(store: Path, pack: Path, tmp_path: Path) -> None:
    hurt = Path(shutil.copytree(pack, tmp_path / 'pack'))
    record = {'record': {'test_patch': {'text': 0}}, 'sha256': ''}
    replace_piece(hurt, 'segments', json.dumps(record).encode())
    with pytest.raises(DamagedSnapshot):
        unpack_store(hurt, Store(tmp_path / 'store'), store)


def test_folder_that_is_no_pack_is_neither_replaced_nor_read(store: Path, tmp_path: Path) -> None:
    (tmp_path / 'mine').mkdir()
    (tmp_path / 'mine/notes').write_text('dear')
    with pytest.raises(Fatal, match='is no pack'):
        packed_store.pack_store(Store(store), tmp_path / 'mine', no_clone)
    with pytest.raises(Fatal, match='is no pack'):
        unpack_store(tmp_path / 'mine', Store(tmp_path / 'store'), None)
    (tmp_path / 'mine/pack.json').write_text(json.dumps({'coevo-packed-store': 2}))
    with pytest.raises(Fatal, match='update coevo'):
        unpack_store(tmp_path / 'mine', Store(tmp_path / 'store'), None)
    assert (tmp_path / 'mine/notes').read_text() == 'dear'


def no_clone(repo: str) -> Repository:
    raise AssertionError(repo)
