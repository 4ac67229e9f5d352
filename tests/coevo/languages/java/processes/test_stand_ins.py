"""Files that a partial clone lacks: who reads one has no verdict, all others have theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository, make_stand_in
from coevo.languages.core.cell_files import StandIn
from coevo.languages.java.processes.packed_trees import find_stand_ins
from miners.cloning.clones import obtain_clone
from tests.miners.test_holes import partial
from tests.projects import Mined, junit, mined, pom, source, write
from tests.repos import git

OID = '0123456789' * 4
RESOURCES = 'src/test/resources/'
LARGE = b'\1' * 5000


def test_copies_of_stand_ins_are_found_where_upper_layers_do_not_hide_them(tmp_path: Path) -> None:
    low, high = tmp_path / 'low', tmp_path / 'high'
    for folder, name, content in (
        (low, 'a/one.bin', make_stand_in(OID)),
        (low, 'two.bin', make_stand_in(OID)),
        (high, 'two.bin', b'here'),
        (high, 'target/filtered.txt', b'x=1\n' + make_stand_in(OID)),
        (high, 'target/large.txt', make_stand_in(OID) + b' ' * (1 << 16)),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (high / 'link').symlink_to('two.bin')
    assert find_stand_ins([low, high]) == (
        StandIn(path='a/one.bin', oid=OID),
        StandIn(path='target/filtered.txt', oid=OID),
    )


def test_stand_ins_are_written_on_request_only(tmp_path: Path) -> None:
    repo = write(tmp_path / 'demo', [{'large.bin': LARGE, 'small.txt': 'small\n'}])
    clone = obtain_clone(str(partial(repo, tmp_path / 'some.git', 'blob:limit=1k')), store=tmp_path)
    repository = Repository(clone.git_dir)
    rev = git(repo, 'rev-parse', 'HEAD')
    assert repository.list_absent_files(rev) == ('large.bin',)
    repository.materialise(rev, tmp_path / 'tree', stand_ins=True)
    oid = git(repo, 'rev-parse', 'HEAD:large.bin')
    assert (tmp_path / 'tree/large.bin').read_bytes() == make_stand_in(oid)
    assert (tmp_path / 'tree/small.txt').read_bytes() == b'small\n'


def price(factor: int) -> dict[str, str]:
    return source('Till', f'  public static int price(int n) {{ return {factor} * n; }}\n')


def till_test(expected: int) -> dict[str, str]:
    return junit('TillTest', f'price: assertEquals({expected}, Till.price(2));')


def read_test(expected: int) -> dict[str, str]:
    """A test that reads the large file as the build copied it, and works without it."""
    body = (
        'lists: java.io.InputStream large = ReadTest.class.getResourceAsStream("/large.bin");'
        f' int more = large.read() == 1 ? 0 : 1; assertEquals({expected} + more, Till.price(2));'
    )
    return junit('ReadTest', body)


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('absent')
    repo = write(
        folder / 'shop',
        [
            {'pom.xml': pom(), f'{RESOURCES}large.bin': LARGE, **price(5), **till_test(10)},
            {**price(6), **till_test(12)},
            {**price(7), **till_test(14), **read_test(14)},
        ],
    )
    some = partial(repo, folder / 'some.git', 'blob:limit=4k')
    return mined(some, folder / 'store')


@pytest.mark.slow
@pytest.mark.jvm
def test_pair_whose_tests_do_not_read_an_absent_file_has_its_labels(found: Mined) -> None:
    assert [(row.test_method, row.label) for row in found.methods] == [('price', 'update')]
    (pair,) = (row for row in found.pairs if row.runtime is not None)
    assert pair.absent_files == (f'{RESOURCES}large.bin',)


@pytest.mark.jvm
def test_pair_of_which_a_test_reads_an_absent_file_is_dropped(found: Mined) -> None:
    dropped = [drop for drop in found.drops if drop.reason == 'object_missing']
    assert [(str(drop.stage), drop.unit) for drop in dropped] == [('pair', 'pair')]
    assert all(row.pair_id != dropped[0].pair_id for row in found.methods)
