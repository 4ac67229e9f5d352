"""Run tests of a compiled package in one fresh process in the sandbox, and read what happened from its channel.

A verdict needs begin and end of a test under the run's nonce, which the test process does not know, and
the exit status: our program above it says what it hears from it (`inside/run.go`).
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.languages.golang.channel import GoProcessReport, GoTestReport, read_events
from coevo.languages.golang.launch import make_test_job
from coevo.languages.golang.places import BINARY, TREE_FILE
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.test_processes import (
    MOST_KILLS,
    WALL_PER_CPU,
    CpuBounds,
    describe_ending,
    send_only_order,
    watch_limits,
)
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job, Sandbox

LOADING_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoCellLayout:
    """What test processes of a cell have in common: its tree, the binary, the folder in which they run.

    binary  where it lies, and the name that it has
    root    where the tree is laid out
    """

    prepared: PreparedToolchain
    tree: Path
    binary: tuple[Path, str]
    root: str
    folder: str

    def make_job(self, mode: str, cpu_seconds: float) -> Job:
        """mode  of our program: `run` or `session`"""
        binary_path, name = self.binary
        wall = cpu_seconds * WALL_PER_CPU
        return make_test_job(
            self.prepared, mode, self.tree, (binary_path, f'{BINARY}/{name}'), cpu_seconds, wall
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoTestRun:
    """One process that runs some tests.

    limits       CPU seconds for each test, by name
    cpu_seconds  for all of them together; None is what these may use together
    variables    of its environment, beside those of all
    files        those of which it is to be told what is executed; None where nothing is
    sources      of these, where the tree does not show what was compiled
    watched      the import path of the package whose tests an observer watches; None where nobody does
    lines        that it watches, too, by path in the repository
    """

    ground: GoCellLayout
    limits: Mapping[str, float]
    cpu_seconds: float | None
    variables: Mapping[str, str]
    files: tuple[str, ...] | None = None
    sources: Mapping[str, bytes] = field(default_factory=dict)
    watched: str | None = None
    lines: Mapping[str, Collection[int]] = field(default_factory=dict)

    @property
    def most_cpu_seconds(self) -> float:
        return self.cpu_seconds or sum(self.limits.values()) + LOADING_SECONDS

    @property
    def order(self) -> dict[str, object]:
        return {
            'Tree': TREE_FILE,
            'Root': self.ground.root,
            'Folder': self.ground.folder,
            'Binary': f'{BINARY}/{self.ground.binary[1]}',
            'Arguments': _make_arguments(list(self.limits)),
            'Variables': dict(self.variables),
            'Profile': self.files is not None,
            'Files': list(self.files or ()),
            'Sources': {path: b64encode(text).decode() for path, text in self.sources.items()},
            'Watch': self.watched and self._make_watch_order(self.watched),
        }

    def _make_watch_order(self, package: str) -> dict[str, object]:
        lines = {path: sorted(numbers) for path, numbers in sorted(self.lines.items())}
        return {'Package': package, 'Tests': list(self.limits), 'Lines': lines}

    @property
    def bounds(self) -> CpuBounds[str]:
        return CpuBounds(
            tests=self.limits,
            loading=LOADING_SECONDS,
            whole=self.most_cpu_seconds,
            loading_is='cpu',
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoRunResult:
    """What was heard of a process, how it ended, what it cost and wrote."""

    heard: GoProcessReport
    status: str
    cpu_seconds: float
    noise: str


def is_killed(heard: GoProcessReport, status: str) -> bool:
    """Whether somebody killed it before all was said."""
    complete = all(test.verdict is not None for test in heard.tests.values())
    return status in KILLED and heard.late is None and not complete


def run_tests(sandbox: Sandbox, run: GoTestRun) -> GoRunResult:
    """One run; another one if the process was killed, for which nobody's tests need be the reason."""
    used = 0.0
    for _ in range(MOST_KILLS):
        done = _run_once(sandbox, run)
        used += done.cpu_seconds
        if not is_killed(done.heard, done.status):
            break
    return GoRunResult(heard=done.heard, status=done.status, cpu_seconds=used, noise=done.noise)


def _make_arguments(names: Sequence[str]) -> list[str]:
    """What a test binary is started with; it has no time limit of its own."""
    chosen = '|'.join(map(re.escape, dict.fromkeys(names)))
    return [f'-test.run=^({chosen})$', '-test.paniconexit0', '-test.timeout=0', '-test.count=1']


def _run_once(sandbox: Sandbox, run: GoTestRun) -> GoRunResult:
    nonce, key = (secrets.token_hex(16) for _ in range(2))
    heard = GoProcessReport(tests={name: GoTestReport() for name in run.limits}, key=key)
    process = sandbox.start(run.ground.make_job('run', run.most_cpu_seconds))
    try:
        send_only_order(process, {**run.order, 'Nonce': nonce, 'Key': key})
        with watch_limits(process, heard, run.bounds):
            for event in read_events(process.stdout, nonce):
                heard.handle_event(event)
        status = describe_ending(process)
        used, noise = process.get_cpu_seconds(), process.get_noise()
    finally:
        process.close()
    if not process.exceeded and heard.status is not None:
        status = heard.status
    return GoRunResult(heard=heard, status=status, cpu_seconds=used, noise=noise)
