"""Read the top-level build files of a source distribution without unpacking it.

Arguments: the archive, names of files. Standard output has for each file a line with its number of
bytes, then the bytes; a file that cannot be read is empty. It runs in the sandbox, as an archive
may expand to more than the machine's memory.
"""

import contextlib
import re
import sys
import tarfile
import zipfile
import zlib

_MOST_BYTES = 1 << 20
_DAMAGED = (
    OSError,
    ValueError,
    EOFError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def main(place, names):
    """Write the named top-level files of an archive to standard output; a missing one is empty."""
    wanted = {name: re.compile(r'(\./)?[^/]+/' + re.escape(name)) for name in names}
    content_by_name = {}
    with contextlib.suppress(*_DAMAGED):  # what was read before the damage counts
        for path, read in _iterate_zip(place) if place.endswith('.zip') else _iterate_tar(place):
            for name, form in wanted.items():
                if name not in content_by_name and form.fullmatch(path):
                    content_by_name[name] = read(_MOST_BYTES)
            if len(content_by_name) == len(wanted):
                break
    for name in names:
        content = content_by_name.get(name, b'')
        sys.stdout.buffer.write(b'%d\n' % len(content) + content)
    sys.stdout.buffer.flush()


def _iterate_zip(place):
    with zipfile.ZipFile(place) as archive:
        for path in archive.namelist():
            yield path, lambda size, path=path: archive.open(path).read(size)


def _iterate_tar(place):
    with tarfile.open(place) as archive:
        for member in archive:
            if member.isfile():
                yield (
                    member.name,
                    lambda size, member=member: archive.extractfile(member).read(size),
                )


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
