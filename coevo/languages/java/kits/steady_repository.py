"""A local repository of Maven without the times at which it was filled.

Equal libraries give equal bytes, so that images of them have equal digests wherever they are built.
Maven notes times in files about its artifacts, and in the archives of modules that it built.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from contextlib import suppress
from pathlib import Path

from coevo.storage.bounded_reading import UnreadableContent, load_member, open_zip

_ABOUT = '_remote.repositories'
# The end of a line about an artifact that is from no other repository.
_BUILT_HERE = b'>='
_LOCAL_METADATA = 'maven-metadata-local.xml'
_DATE = re.compile(rb'(?<=<lastUpdated>)\d+|(?<=<updated>)\d+')
_NO_DATE = b'20000101000000'
# Nothing is compiled or run with them, and documentation has dates in its text.
_NEEDLESS = ('-javadoc.jar', '-sources.jar')
_FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_MOST_ARCHIVE_BYTES = 256 << 20


def remove_dates(folder: Path) -> None:
    """Take the times out of a local repository, whose files nothing else may share but by links.

    Archives of the modules that were built here get the first time that a ZIP can have; those with
    their sources or documentation are removed. An archive that cannot be read stays as it is.
    """
    for about in sorted(path for path in folder.rglob(_ABOUT) if path.is_file()):
        lines = about.read_bytes().splitlines()
        entries = sorted(line for line in lines if line and not line.startswith(b'#'))
        _replace_content(about, b''.join(entry + b'\n' for entry in entries))
        own = {entry.removesuffix(_BUILT_HERE) for entry in entries if entry.endswith(_BUILT_HERE)}
        for file in sorted(about.parent.iterdir()):
            if os.fsencode(file.name) in own and file.is_file():
                _remove_dates_of_artifact(file)
    for metadata in sorted(path for path in folder.rglob(_LOCAL_METADATA) if path.is_file()):
        _replace_content(metadata, _DATE.sub(_NO_DATE, metadata.read_bytes()))


def _replace_content(file: Path, content: bytes) -> None:
    """Write a file anew; other links to it keep the old content.

    Nothing is synced, since an interrupt leaves the whole folder to be made again.
    """
    file.unlink()
    file.write_bytes(content)


def _remove_dates_of_artifact(file: Path) -> None:
    """Rewrite an archive that was built here, or remove it if nothing needs it."""
    if file.name.endswith(_NEEDLESS):
        file.unlink()
    elif file.suffix == '.jar' and file.stat().st_size <= _MOST_ARCHIVE_BYTES:
        with suppress(UnreadableContent):
            _replace_content(file, _rewrite(file))


def _rewrite(file: Path) -> bytes:
    """Return an archive with its entries in their order, stored, without times and extra fields.

    Raises: UnreadableContent, also if they are too large.
    """
    written, left = io.BytesIO(), _MOST_ARCHIVE_BYTES
    with open_zip(file) as archive, zipfile.ZipFile(written, 'w') as new:
        for entry in archive.infolist():
            content = load_member(archive, entry.filename, most=left)
            left -= len(content)
            plain = zipfile.ZipInfo(entry.filename, _FIRST_ZIP_DATE)
            plain.create_system = 3
            plain.external_attr = (0o40755 if entry.is_dir() else 0o100644) << 16
            new.writestr(plain, content)
    return written.getvalue()
