"""Run a job to its end, with limits that a test can wait for."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.sandboxes.sandbox import Job, Limits, Sandbox

LIMITS = Limits(
    cpu_seconds=30,
    wall_seconds=60,
    memory_bytes=1 << 30,
    processes=64,
    file_bytes=1 << 30,
    disk_bytes=8 << 20,
)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a job."""

    status: int
    output: str
    noise: str
    exceeded: str | None
    cpu_seconds: float


def run(sandbox: Sandbox, job: Job) -> Done:
    with sandbox.start(job) as process:
        process.stdin.close()
        output = process.stdout.read().decode(errors='replace')
        status = process.wait(timeout=60)
        return Done(
            status,
            output,
            process.get_last_error_output(),
            process.exceeded,
            process.get_cpu_seconds(),
        )
