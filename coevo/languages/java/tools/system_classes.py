"""The archive of a JDK's own classes (CDS), from which its JVMs start faster.

Debian makes it for JDK 8 and 11 when their package is installed, which unpacking does not do: a JVM of
8 that runs one test costs a fifth more without it, one of 11 a third.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path

from coevo.storage.durable import UNFINISHED

_NAME = 'classes.jsa'
_SECONDS = 300


def archive_classes(home: Path) -> None:
    """Write it where the JVM of a JDK looks for it, unless it is there; whole or not at all.

    Where that fails nothing is lost but time: a JVM does without.
    """
    for library in sorted(home.glob('**/server/libjvm.so')):
        archive = library.with_name(_NAME)
        new = library.with_name(f'{_NAME}{UNFINISHED}{secrets.token_hex(6)}')
        try:
            if not archive.exists() and _dump_archive(home, new):
                new.replace(archive)
        finally:
            new.unlink(missing_ok=True)


def _dump_archive(home: Path, file: Path) -> bool:
    """Whether a JVM wrote the archive to a file."""
    command = (
        *(home / 'bin/java', '-Xshare:dump', '-XX:+UnlockDiagnosticVMOptions'),
        f'-XX:SharedArchiveFile={file}',
    )
    try:
        done = subprocess.run(
            command,
            check=False,
            env={'PATH': os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and file.is_file()
