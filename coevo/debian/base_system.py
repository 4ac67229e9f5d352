"""A file system of Debian packages for images: unpacked, never configured.

No script of a package runs, so no root is needed and equal packages give equal bytes. What their
scripts would have made and programs need is written here: accounts, links of the merged /usr, awk.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from coevo.debian.apt import Apt, DebianPackage, DebianSuite, list_suites_to_search
from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once, name_file_in_errors

# Increase this when the same packages give other bytes.
_VERSION = 1

PROGRAMS = (
    *('base-files', 'bash', 'coreutils', 'dash', 'diffutils', 'findutils', 'git', 'grep', 'gzip'),
    *('hostname', 'libc-bin', 'mawk', 'ncurses-base', 'patch', 'procps', 'sed', 'tar', 'xz-utils'),
)
"""The packages without which no task can be worked on."""

# What interpreters, JDKs and wheels are linked to. A release has one of several names of a library.
_LIBRARIES = (
    *('libasound2', 'libasound2t64', 'libbz2-1.0', 'libcrypt1', 'libdb5.3', 'libdb5.3t64'),
    *('libexpat1', 'libffi8', 'libfontconfig1', 'libfreetype6', 'libgcc-s1', 'libgdbm6'),
    *('libgdbm6t64', 'libgomp1', 'libharfbuzz0b', 'libjpeg62-turbo', 'liblcms2-2', 'liblzma5'),
    *('libncursesw6', 'libnsl2', 'libreadline8', 'libreadline8t64', 'libsqlite3-0', 'libssl3'),
    *('libssl3t64', 'libstdc++6', 'libtirpc3', 'libtirpc3t64', 'libuuid1', 'zlib1g'),
)

# Folders that are links into /usr, into which old packages still put files.
_MERGED = re.compile(r'(bin|lib|lib32|lib64|libx32|sbin)(?=/|$)')
_NEEDLESS = re.compile(r'usr/share/(doc/(?!.*/copyright$)|info/|lintian/|locale/|man/)')
_RECORD = 'usr/share/coevo/packages.json'
_ARCHIVE = 'layer.tar'
_TEXTS = {
    'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
    'etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    'etc/passwd': 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n',
    # Whoever runs the image may not own its files.
    'etc/gitconfig': '[safe]\n\tdirectory = *\n',
}


def ensure_base_system_archive(file_time: int, say: Say) -> Path:
    """Return the archive of a base system of this machine's release of Debian.

    It is made once, of the newest versions that the machine's archive then has, and stays in the
    tool cache until it is removed there, so that images that are built later share it.

    seconds  the time of all files

    Raises: Fatal if there is no apt; Transient if packages cannot be fetched.
    """
    suite = list_suites_to_search()[0]
    recipe = (_VERSION, file_time, suite.name, PROGRAMS, _LIBRARIES, _TEXTS)
    key = hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]
    target = find_cache_folder() / 'images' / f'base-{key}'
    if not target.is_dir():
        with build_folder_once(target) as new:
            if new is not None:
                _build_base_system(suite, new / _ARCHIVE, file_time, say)
    return target / _ARCHIVE


def _build_base_system(suite: DebianSuite, archive: Path, file_time: int, say: Say) -> None:
    apt = Apt(suite, archive.parent.parent / 'apt')
    say(f'looking for the base of the images in {suite.name}')
    apt.update()
    packages = apt.resolve((*PROGRAMS, *sorted(apt.find_candidates(_LIBRARIES))))
    say(f'fetching {len(packages)} packages of the base')
    files = apt.download(packages)
    with (
        name_file_in_errors(archive),
        tarfile.open(archive, 'w', format=tarfile.GNU_FORMAT) as tar,
    ):
        _write_system(files, _encode_package_record(suite, packages), tar, file_time)


def _encode_package_record(suite: DebianSuite, packages: Sequence[DebianPackage]) -> bytes:
    content = {'suite': suite.name, 'packages': [asdict(package) for package in packages]}
    return json.dumps(content, indent=1).encode() + b'\n'


def _write_system(
    packages: Sequence[Path], record: bytes, tar: tarfile.TarFile, file_time: int
) -> None:
    written = set[str]()
    for member, content in _list_own_members(record):
        written.add(member.name)
        member.mtime = file_time
        tar.addfile(member, content)
    for package in packages:
        for archive, member in _iterate_package_members(package):
            if member.name in written or _NEEDLESS.match(member.name):
                continue
            written.add(member.name)
            member.mtime, member.uname, member.gname = file_time, '', ''
            member.pax_headers = {}
            tar.addfile(member, archive.extractfile(member) if member.isreg() else None)


def _list_own_members(record: bytes) -> Iterator[tuple[tarfile.TarInfo, io.BytesIO | None]]:
    """Yield what no package has."""
    for folder, mode in (('usr', 0o755), ('etc', 0o755), ('tmp', 0o1777), ('root', 0o700)):
        member = tarfile.TarInfo(folder)
        member.type, member.mode = tarfile.DIRTYPE, mode
        yield member, None
    for name in ('bin', 'lib', 'lib64', 'sbin'):
        yield _make_link(name, f'usr/{name}'), None
    yield _make_link('usr/bin/awk', 'mawk'), None
    for path, content in {_RECORD: record, **{p: t.encode() for p, t in _TEXTS.items()}}.items():
        member = tarfile.TarInfo(path)
        member.size, member.mode = len(content), 0o644
        yield member, io.BytesIO(content)


def _make_link(path: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
    return member


def _iterate_package_members(package: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the members of a package, with the paths of the merged /usr.

    Raises: Transient if the package cannot be read.
    """
    command = ['dpkg-deb', '--fsys-tarfile', str(package)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None, 'it is a pipe'
        try:
            with tarfile.open(fileobj=process.stdout, mode='r|') as archive:
                for member in archive:
                    member.name = _map_to_merged_usr(member.name)
                    if member.islnk():
                        member.linkname = _map_to_merged_usr(member.linkname)
                    if member.name not in ('', '.'):
                        yield archive, member
        except tarfile.TarError as error:
            raise Transient(f'{package.name} could not be read: {error}') from error
    if process.returncode:
        raise Transient(f'{package.name} could not be read')


def _map_to_merged_usr(path: str) -> str:
    path = path.removeprefix('./')
    return f'usr/{path}' if _MERGED.match(path) else path
