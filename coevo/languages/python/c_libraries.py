"""C libraries for test processes, compiled with this machine's compiler into the tool cache.

One library serves all interpreters, since each is built without their headers.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from coevo.languages.python import inside
from coevo.model.errors import Transient
from coevo.storage.disk import find_cache_folder

OBSERVER = 'observer'  # confirms passes
SLEEP = 'sleep'  # for faked clocks

_COMPILERS = ('cc', 'gcc', 'clang')
_FLAGS = ('-O2', '-shared', '-fPIC', '-fvisibility=hidden')
_SECONDS = 120


@functools.cache
def find_compiler() -> str | None:
    """Return the path of a C compiler; None if this machine has none."""
    return next((program for name in _COMPILERS if (program := shutil.which(name))), None)


def compile_library(name: str) -> Path | None:
    """Return the path of the compiled `inside/NAME.c`, compiled now or before.

    None if this machine has no C compiler.

    Raises:
        Transient: the compiler failed
    """
    program = find_compiler()
    if program is None:
        return None
    source = Path(str(inside.__file__)).parent / f'{name}.c'
    text = source.read_bytes() + ' '.join((*_FLAGS, platform.machine())).encode()
    folder = find_cache_folder() / 'pythons/libraries'
    target = (
        folder / f'{name}-{hashlib.sha256(text).hexdigest()[:32]}.so'
    )  # own name: a library of coevo's
    if not target.is_file():
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        _compile(program, source, target)
    return target


def _compile(program: str, source: Path, place: Path) -> None:
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix='.new-', suffix='.so')
    os.close(descriptor)
    new = Path(name)  # own name: tempfile's
    try:
        subprocess.run(
            [program, *_FLAGS, '-o', new, source, '-ldl'],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
        )
        new.chmod(0o644)
        new.rename(place)
    except (OSError, subprocess.SubprocessError) as error:
        stderr = getattr(error, 'stderr', None) or str(error).encode()
        raise Transient(
            f'{program} does not compile {source.name}: {stderr[-300:].decode(errors="replace")}'
        ) from error
    finally:
        new.unlink(missing_ok=True)
