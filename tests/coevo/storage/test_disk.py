"""Trouble with the disk is said in a sentence that names the file, and leaves nothing half-written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.storage.disk import can_user_fix, describe_trouble
from coevo.storage.store import Store
from tests import segments
from tests.coevo.display.test_terminal import run

FULL = [
    ('query "$S" "FROM methods" --format csv --out "$OUT/a.csv"', 'a.csv'),
    ('report identification "$S" --export "$OUT/labels"', 'labels'),
    ('pipeline publish "$S" "$OUT/published"', 'published'),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(('command', 'name'), FULL)
def test_exceeded_file_size_limit_is_reported_with_the_file_and_leaves_nothing(
    made: Path, tmp_path: Path, command: str, name: str
) -> None:
    """A limit of the size of files is what a full disk is, but for the number."""
    # Python would keep byte code that the limit cut off, and fail to read it ever after.
    limited = f'export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1; coevo {command}'
    done = run(limited, made, OUT=str(tmp_path))
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f'coevo: {tmp_path}')
    assert name in line
    assert 'allow larger files there' in line
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system without room."""
    folder = tmp_path / 'tiny'
    folder.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('file systems are mounted by root alone')
    try:
        yield folder
    finally:
        subprocess.run(['umount', str(folder)], check=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('command', 'name'),
    [
        ('query "$S" "FROM methods" --format csv --out "$OUT/a.csv"', 'a.csv'),
        ('report identification "$S" --export "$OUT/labels"', 'labels'),
        ('pipeline publish "$S" "$OUT/published"', 'published'),
    ],
)
def test_full_disk_is_reported_with_the_output_path(
    made: Path, tiny: Path, command: str, name: str
) -> None:
    (tiny / 'others').write_bytes(bytes(60 << 10))
    done = run(f'coevo {command}', made, OUT=str(tiny))
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f'coevo: {tiny}')
    assert 'No space left on device' in line
    assert 'make room there' in line
    assert 'standard output' not in line
    assert [each.name for each in tiny.iterdir()] == ['others']


def test_full_disk_error_without_a_file_name_names_the_full_path(tiny: Path) -> None:
    """What a write to an open file says has no name of the file."""
    (tiny / 'others').write_bytes(bytes(60 << 10))
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for words in (['mine', 'x', '--store', str(tiny / 'store')], ['mine', 'x', f'--store={tiny}']):
        assert describe_trouble(error, words).startswith(
            f'{tiny} cannot be used (No space left on device)'
        )
    assert describe_trouble(error, ['mine']).startswith('a file cannot be used')


def test_unwritable_standard_output_is_reported_as_such(made: Path) -> None:
    done = run('coevo query "$S" "FROM methods" --format csv >/dev/full', made)
    assert done.returncode == 2
    assert done.stderr.startswith('coevo: standard output cannot be used (No space left on device)')


def test_unreadable_folder_is_not_taken_for_empty(tmp_path: Path) -> None:
    """Else a release would lack what lies in it, and be good."""
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    (folder,) = (tmp_path / 'store' / 'partitions').iterdir()
    folder.chmod(0)
    try:
        # Root reads what it may not read, unless that right is taken away.
        drop = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all']
        asked = f'from coevo.storage.store import Store; Store(__import__("pathlib").Path({str(tmp_path / "store")!r})).list_partitions()'
        done = subprocess.run(
            [*(drop if os.geteuid() == 0 else ()), sys.executable, '-c', asked],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        folder.chmod(0o755)
    assert 'PermissionError' in done.stderr
    assert store.list_partitions()


@pytest.mark.parametrize(
    ('number', 'name', 'is_ours'),
    [
        (errno.ENOENT, '{}/in/a', False),
        (errno.ENOENT, '{}/in', False),
        (errno.ENOENT, '{}/in/a/b', True),
        (errno.ENOENT, '{}/else', True),
        (errno.ENOENT, None, True),
        (errno.EEXIST, '{}/file', False),
        (errno.EEXIST, '{}', True),
        (errno.EEXIST, None, True),
        (errno.EACCES, '{}/else', False),
        (errno.EBADF, '{}/in/a', True),
    ],
)
def test_missing_or_existing_file_not_named_in_the_command_is_a_bug(
    tmp_path: Path, number: int, name: str | None, is_ours: bool
) -> None:
    (tmp_path / 'file').touch()
    error = OSError(number, os.strerror(number), name and name.format(tmp_path))
    words = ['query', f'--out={tmp_path}/in/a']
    assert can_user_fix(error, words) is not is_ours
    assert can_user_fix(error, ['query', '--out', f'{tmp_path}/in/a']) is not is_ours


def test_failed_copy_names_the_full_destination() -> None:
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), '/from', None, '/to')
    assert describe_trouble(error).startswith('/to cannot be used')
