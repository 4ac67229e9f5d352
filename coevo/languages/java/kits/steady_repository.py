"""A local repository of Maven without the times at which it was filled.

Equal libraries give equal bytes, so that images of them have equal digests wherever they are built.
Maven notes times in files about its artifacts, and in the archives of modules that it built.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path

from coevo.storage.durable import write_durably

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
    for about in sorted(folder.rglob(_ABOUT)):
        lines = about.read_bytes().splitlines()
        entries = sorted(line for line in lines if line and not line.startswith(b'#'))
        write_durably(about, [b''.join(entry + b'\n' for entry in entries)])
        own = {entry.removesuffix(_BUILT_HERE) for entry in entries if entry.endswith(_BUILT_HERE)}
        for file in sorted(about.parent.iterdir()):
            if os.fsencode(file.name) in own:
                _remove_dates_of_artifact(file)
    for metadata in sorted(folder.rglob(_LOCAL_METADATA)):
        write_durably(metadata, [_DATE.sub(_NO_DATE, metadata.read_bytes())])


def _remove_dates_of_artifact(file: Path) -> None:
    """Rewrite an archive that was built here, or remove it if nothing needs it."""
    if file.name.endswith(_NEEDLESS):
        file.unlink(missing_ok=True)
    elif file.suffix == '.jar' and file.is_file() and file.stat().st_size <= _MOST_ARCHIVE_BYTES:
        try:
            content = _rewrite(file)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
            return
        write_durably(file, [content])


def _rewrite(file: Path) -> bytes:
    """Return an archive with its entries in their order, stored, without times and extra fields.

    Raises: ValueError if they are too large; what `zipfile` raises for an archive that is none.
    """
    written, left = io.BytesIO(), _MOST_ARCHIVE_BYTES
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(written, 'w') as new:
        for entry in archive.infolist():
            with archive.open(entry) as stream:
                content = stream.read(left + 1)
            left -= len(content)
            if left < 0:
                raise ValueError('the archive is too large')
            plain = zipfile.ZipInfo(entry.filename, _FIRST_ZIP_DATE)
            plain.create_system = 3
            plain.external_attr = (0o40755 if entry.is_dir() else 0o100644) << 16
            new.writestr(plain, content)
    return written.getvalue()
