"""Installed packages as a sandbox hands them over: what of an archive is written, and where."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coevo.languages.python.site_folder import DATE, MOST_BYTES, SiteFault, unpack_packages
from coevo.sandboxes.unpacking import END


def member(name: str, content: bytes = b'', **more: object) -> tuple[tarfile.TarInfo, bytes]:
    found = tarfile.TarInfo(name)
    found.size = len(content)
    for key, value in more.items():
        setattr(found, key, value)
    return found, content


def packed(*members: tuple[tarfile.TarInfo, bytes], ends: bool = True) -> io.BytesIO:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w') as archive:
        for one, content in (*members, *([member(END)] if ends else [])):
            archive.addfile(one, io.BytesIO(content))
    return io.BytesIO(stream.getvalue())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / 'site').mkdir()
    return tmp_path / 'site'


def test_unpacking_writes_files_and_folders_with_plain_rights_and_one_date(site: Path) -> None:
    large = os.urandom(9 << 20)
    unpack_packages(
        packed(
            member('.', type=tarfile.DIRTYPE),
            member('./shoe.libs', type=tarfile.DIRTYPE, mode=0o700),
            member('./bin/shoe', b'#!', mode=0o4755),
            member('./shoe/__init__.py', b'', mode=0o600, mtime=7),
            member('./shoe/large.so', large),
        ),
        site,
        site.parent / 'shared',
    )
    assert (site / 'shoe.libs').is_dir()
    assert (site / 'shoe/large.so').read_bytes() == large
    for name, rights in (('bin/shoe', 0o755), ('shoe/__init__.py', 0o644)):
        state = (site / name).stat()
        assert (state.st_mode & 0o7777, state.st_mtime) == (rights, DATE)


def test_equal_files_share_an_inode_unless_their_rights_differ(site: Path) -> None:
    files = [member('a', b'x'), member('b', b'x'), member('c', b'x', mode=0o755)]
    unpack_packages(packed(*files), site, site.parent / 'shared')
    first, second, third = ((site / name).stat() for name in 'abc')
    assert first.st_ino == second.st_ino != third.st_ino


def test_a_truncated_shared_file_is_written_again(site: Path) -> None:
    shared = site.parent / 'shared'
    unpack_packages(packed(member('a', b'whole')), site, shared)
    (kept,) = shared.glob('*/*')
    kept.unlink()
    kept.write_bytes(b'')
    unpack_packages(packed(member('b', b'whole')), site, shared)
    assert (site / 'b').read_bytes() == b'whole'


def test_links_and_devices_in_an_archive_are_left_out(site: Path) -> None:
    others = (
        member('link', type=tarfile.SYMTYPE, linkname='/etc/passwd'),
        member('hard', type=tarfile.LNKTYPE, linkname='kept'),
        member('pipe', type=tarfile.FIFOTYPE),
        member('device', type=tarfile.CHRTYPE),
    )
    unpack_packages(
        packed(*others, member('link/x', b'x'), member('kept', b'x')), site, site.parent / 'shared'
    )
    assert sorted(str(path.relative_to(site)) for path in site.rglob('*')) == [
        'kept',
        'link',
        'link/x',
    ]


@pytest.mark.parametrize(
    'name',
    [
        '/etc/x',
        '../x',
        'a/../../x',
        'x' * 300,
        '/'.join('x' * 300),
        '/'.join(['x' * 250] * 20),
        '/',
    ],
)
def test_a_member_name_that_is_no_path_below_the_folder_is_refused(site: Path, name: str) -> None:
    with pytest.raises(SiteFault):
        unpack_packages(packed(member(name, b'x')), site, site.parent / 'shared')
    assert list(site.rglob('*')) == []


def test_the_first_of_two_members_with_one_name_is_kept(site: Path) -> None:
    unpack_packages(packed(member('a', b'1'), member('a', b'2')), site, site.parent / 'shared')
    assert (site / 'a').read_bytes() == b'1'


def test_a_member_below_a_file_is_refused(site: Path) -> None:
    with pytest.raises(SiteFault):
        unpack_packages(
            packed(member('a', b'1'), member('a/b', b'2')), site, site.parent / 'shared'
        )


def test_a_member_above_the_size_limit_is_refused_before_it_is_read(site: Path) -> None:
    head = tarfile.TarInfo('a')
    head.size = MOST_BYTES + 1
    with pytest.raises(SiteFault, match='more than 8 GiB'):
        unpack_packages(io.BytesIO(head.tobuf() + bytes(1024)), site, site.parent / 'shared')


@pytest.mark.parametrize('ends', [True, False])
def test_an_archive_that_is_cut_or_lacks_its_end_mark_raises_a_tar_error(
    site: Path, ends: bool
) -> None:
    whole = packed(member('a', b'x' * 4096), ends=ends).getvalue()
    with pytest.raises(tarfile.TarError):
        unpack_packages(io.BytesIO(whole[:2048] if ends else whole), site, site.parent / 'shared')


def test_shared_files_on_another_file_system_are_copied(site: Path) -> None:
    memory = Path('/dev/shm')
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == site.stat().st_dev:
        pytest.skip('there is no other file system')
    with tempfile.TemporaryDirectory(dir=memory) as shared:
        unpack_packages(packed(member('bin/a', b'x', mode=0o755)), site, Path(shared))
    assert (site / 'bin/a').read_bytes() == b'x'
    assert (site / 'bin/a').stat().st_mode & 0o777 == 0o755


def test_a_shared_file_at_its_hard_link_limit_is_copied(site: Path) -> None:
    shared = site.parent / 'shared'
    unpack_packages(packed(member('a', b'x')), site, shared)
    (kept,) = shared.glob('*/*')
    try:
        for number in range(70_000):
            os.link(kept, site / str(number))
    except OSError:
        unpack_packages(packed(member('b', b'x'), member('c', b'x')), site, shared)
        assert (site / 'b').read_bytes() == b'x'
        assert (site / 'b').stat().st_ino == (site / 'c').stat().st_ino
    else:
        pytest.skip('this file system lets a file have any number of names')


def test_concurrent_installations_share_new_files(tmp_path: Path) -> None:
    """Each puts the same new content in its place: what one is about to link another replaces."""
    content = packed(*(member(f'shoe/{number}.py', b'%d' % number) for number in range(60)))

    def install(number: int) -> int:
        site = tmp_path / f'site-{number}'
        site.mkdir()
        unpack_packages(io.BytesIO(content.getvalue()), site, tmp_path / f'shared-{number // 8}')
        return len(list((site / 'shoe').iterdir()))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(install, range(40))) == [60] * 40
