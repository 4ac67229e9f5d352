"""Code of others, run in the sandbox for what it writes to its standard output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from coevo.sandboxes.sandbox import Job, Limits, Mount, open_sandbox

LIMITS = Limits(
    cpu_seconds=600,
    wall_seconds=3000,
    memory_bytes=8 << 30,
    processes=512,
    file_bytes=1 << 28,
    disk_bytes=1 << 30,
    bounds_addresses=False,  # Node's engine reserves far more than it uses
)


def output(
    argv: Sequence[str], mounts: Sequence[Mount], environment: Mapping[str, str] | None = None
) -> bytes:
    job = Job(argv=tuple(argv), limits=LIMITS, mounts=tuple(mounts), environment=environment or {})
    with closing(open_sandbox('bubblewrap')) as sandbox, sandbox.start(job) as process:
        return process.stdout.read()
