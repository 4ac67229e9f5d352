"""Archives that untrusted code made, unpacked beside a folder that all runs share."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from coevo.sandboxes.unpacking import END, unpack


def archive(members: Iterable[tuple[str, bytes, bytes]]) -> io.BytesIO:
    """Name, kind, and content or where a link leads."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w', format=tarfile.GNU_FORMAT) as tar:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = content.decode() if kind in (LINK, HARD) else ''
            member.size = len(content) if kind == PLAIN else 0
            tar.addfile(member, io.BytesIO(content))
    stream.seek(0)
    return stream


PLAIN, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    (tmp_path / 'shared' / 'a').mkdir(parents=True)
    (tmp_path / 'shared' / 'a' / 'a.jar').write_bytes(b'known')
    return tmp_path / 'shared'


def unpacked(shared: Path, *members: tuple[str, bytes, bytes]) -> dict[str, bytes]:
    folder = shared.with_name('new')
    folder.mkdir()
    unpack(archive([*members, (END, PLAIN, b'')]), folder, shared)
    found = (path for path in folder.rglob('*') if not path.is_dir())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_member_equal_to_a_shared_file_is_linked(shared: Path) -> None:
    members = (('./a/a.jar', PLAIN, b'known'), ('./b/b.jar', PLAIN, b'new'))
    assert unpacked(shared, *members) == {'a/a.jar': b'known', 'b/b.jar': b'new'}
    assert (shared / 'a' / 'a.jar').stat().st_nlink == 2


def test_a_shared_file_is_never_written(shared: Path) -> None:
    """A second member of the name would be written through the link."""
    members = (('a/a.jar', PLAIN, b'known'), ('a/a.jar', PLAIN, b'another'))
    assert unpacked(shared, *members) == {'a/a.jar': b'known'}
    assert (shared / 'a' / 'a.jar').read_bytes() == b'known'


def test_a_member_that_differs_from_the_shared_file_is_written_separately(shared: Path) -> None:
    assert unpacked(shared, ('a/a.jar', PLAIN, b'other')) == {'a/a.jar': b'other'}
    assert (shared / 'a' / 'a.jar').read_bytes() == b'known'


def test_no_member_is_written_outside_the_folder(shared: Path) -> None:
    members = (
        ('../out', PLAIN, b'x'),
        ('/tmp/coevo-out', PLAIN, b'x'),
        ('link', LINK, b'../shared'),
        ('link/a/a.jar', PLAIN, b'x'),
        ('hard', HARD, b'../shared/a/a.jar'),
        ('x' * 300, PLAIN, b'x'),
        ('f', PLAIN, b'x'),
        ('f/g', PLAIN, b'x'),
    )
    assert unpacked(shared, *members) == {'link/a/a.jar': b'x', 'f': b'x'}
    assert not (shared.with_name('out')).exists()
    assert (shared / 'a' / 'a.jar').read_bytes() == b'known'


def test_an_archive_that_is_cut_or_lacks_its_end_mark_raises_a_tar_error(shared: Path) -> None:
    whole = archive([('a', PLAIN, b'x' * 2000)]).getvalue()
    with pytest.raises(tarfile.TarError):
        unpack(io.BytesIO(whole[:1500]), shared.with_name('new'), shared)
    with pytest.raises(tarfile.TarError):
        unpack(io.BytesIO(whole), shared.with_name('newer'), shared)
