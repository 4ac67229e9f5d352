"""A driver of an oracle in the sandbox: the place of its tree, its programs, a request and the answer."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Job, Limits, Sandbox

LIMITS = Limits(
    cpu_seconds=7200,
    wall_seconds=14400,
    memory_bytes=8 << 30,
    processes=1024,
    file_bytes=1 << 30,
    disk_bytes=4 << 30,
)
_ANSWER_BYTES = 16 << 20


@contextmanager
def place_of_tree(root: Path) -> Iterator[Path]:
    """Where a tree is to be written; removed at the end."""
    folder = Path(mkdtemp(dir=root))
    folder.chmod(0o711)
    try:
        yield folder / 'tree'
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def readable_programs(root: Path) -> Path:
    """A copy of what runs inside that the sandbox's user can read."""
    folder = root / 'inside'
    if not folder.is_dir():
        shutil.copytree(
            Path(__file__).with_name('inside'),
            folder,
            ignore=shutil.ignore_patterns('__pycache__'),
        )
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)
    return folder


def ask(sandbox: Sandbox, job: Job, request: Mapping[str, Any]) -> dict[str, Any]:
    """What the driver says to a request; Transient if that is nothing."""
    with sandbox.start(job) as process:
        with contextlib.suppress(BrokenPipeError):  # it ended before it read, and has said nothing
            process.stdin.write(json.dumps(request).encode())
            process.stdin.close()
        text = process.stdout.read(_ANSWER_BYTES)
        process.wait()
        if not text:
            raise Transient(f'the oracle said nothing: {process.get_noise()[-2000:]}')
    found: dict[str, Any] = json.loads(text)
    return found
