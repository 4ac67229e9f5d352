"""Files that a partial clone lacks cost only the pairs whose builds or tests read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from tests.coevo.languages.golang.place import GO_MOD
from tests.miners.test_holes import LARGE, partial
from tests.projects import Mined, mined, write

NEEDS_GO = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')


def mine_partial_clone(folder: Path, steps: list[dict[str, str | bytes | None]]) -> Mined:
    """Mine a repository of which the clone lacks every file of more than 4 KiB."""
    repo = write(folder / 'shop', steps)
    return mined(partial(repo, folder / 'some.git', 'blob:limit=4k'), folder / 'store')


def python_step(factor: int, test: str) -> dict[str, str | bytes | None]:
    """A function that multiplies by a factor, and the body of its test."""
    return {
        'till.py': f'def price(n):\n    return {factor} * n\n',
        'tests/test_till.py': f'from till import price\n\n\ndef test_price():\n{test}',
    }


def test_python_pair_loses_nothing_by_an_absent_file_until_a_test_reads_it(tmp_path: Path) -> None:
    reading = "    assert open('docs/large.png', 'rb').read()\n    assert price(2) == 14\n"
    found = mine_partial_clone(
        tmp_path,
        [
            {
                'pyproject.toml': '[project]\nname = "till"\nversion = "1"\n',
                'docs/large.png': LARGE,
                **python_step(5, '    assert price(2) == 10\n'),
            },
            python_step(6, '    assert price(2) == 12\n'),
            python_step(7, reading),
        ],
    )
    check_one_update_and_one_pair_without_an_object(found, 'test_price', 'docs/large.png')


def go_step(factor: int, test: str, more: str = '') -> dict[str, str | bytes | None]:
    """A function that multiplies by a factor, the body of its test, and the head of that file."""
    return {
        'till.go': f'package shop\n\nfunc Price(n int) int {{ return {factor} * n }}\n',
        'till_test.go': (
            f'package shop\n\nimport (\n\t"testing"\n{more})\n\n'
            f'func TestPrice(t *testing.T) {{\n{test}}}\n'
        ),
    }


def go_check(expected: int) -> str:
    return f'\tif Price(2) != {expected} {{\n\t\tt.Fatal(Price(2))\n\t}}\n'


def mine_go(folder: Path, last: dict[str, str | bytes | None]) -> Mined:
    """Mine a module with a large file whose second commit needs nothing of it."""
    first = {**GO_MOD, 'testdata/large.bin': LARGE, **go_step(5, go_check(10))}
    return mine_partial_clone(folder, [first, go_step(6, go_check(12)), last])


@NEEDS_GO
def test_go_pair_loses_nothing_by_an_absent_file_until_a_test_reads_it(tmp_path: Path) -> None:
    reading = '\tif b, _ := os.ReadFile("testdata/large.bin"); len(b) == 0 {\n\t\tt.Fatal()\n\t}\n'
    found = mine_go(tmp_path, go_step(7, reading + go_check(14), '\t"os"\n'))
    check_one_update_and_one_pair_without_an_object(found, 'TestPrice', 'testdata/large.bin')


@NEEDS_GO
def test_go_pair_is_dropped_once_a_package_embeds_an_absent_file(tmp_path: Path) -> None:
    last = go_step(7, go_check(14))
    last['data.go'] = (
        'package shop\n\nimport _ "embed"\n\n//go:embed testdata/large.bin\nvar Data []byte\n'
    )
    found = mine_go(tmp_path, last)
    check_one_update_and_one_pair_without_an_object(found, 'TestPrice', 'testdata/large.bin')


def check_one_update_and_one_pair_without_an_object(found: Mined, method: str, path: str) -> None:
    assert [(row.test_method, row.label) for row in found.methods] == [(method, 'update')]
    dropped = [drop for drop in found.drops if drop.reason == 'object_missing']
    assert [(str(drop.stage), drop.unit) for drop in dropped] == [('pair', 'pair')]
    assert all(row.pair_id != dropped[0].pair_id for row in found.methods)
    (kept,) = (row for row in found.pairs if row.runtime is not None)
    assert kept.absent_files == (path,)
