"""The orders to processes that run tests of a compiled package, fresh or in an open session.

A verdict needs begin and end of a test under the run's nonce, which the test process does not know,
and the exit status. Coevo's program above the test process reports them (`inside/run.go`,
`inside/session.go`).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from coevo.languages.core.cell_files import StandIn
from coevo.languages.core.test_processes import WALL_PER_CPU, CpuBounds
from coevo.languages.core.test_runs import SESSION_SECONDS, RunResult
from coevo.languages.golang.channel import GoProcessReport, GoTestReport
from coevo.languages.golang.launch import make_test_job
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import BINARY, CACHES, OVERLAY, TREE_FILE
from coevo.languages.verdicts import CoveredLine, ExecutedMethod, Trace
from coevo.sandboxes.sandbox import Job

LOADING_SECONDS = 120.0

# What developers type, with a package testing that reports outcomes apart from its text.
_PROJECT_COMMAND = ('test', f'-overlay={OVERLAY}/plain.json', '-count=1', '.')


@dataclass(frozen=True, slots=True, kw_only=True)
class GoCellLayout:
    """The tree, binary and working folder that all test processes of a cell share.

    It is a `coevo.languages.core.test_runs.SessionOrders`, and the key of the cell's session.

    binary     its path on the host, and its file name; None if `go test` makes it
    root       the folder in which the tree is laid out
    folder     the package folder, in which the tests run
    packages   see `make_test_job`
    stand_ins  files of the tree of which the clone lacks the content
    """

    prepared: PreparedToolchain
    tree: Path
    binary: tuple[Path, str] | None
    root: str
    folder: str
    packages: Path | None = None
    stand_ins: tuple[StandIn, ...] = ()

    def make_job(self, mode: str, cpu_seconds: float) -> Job:
        """Return the sandbox job of a test process.

        mode         of coevo's program: `run` or `session`
        cpu_seconds  its limit of CPU time; the limit of wall time is ten times as high
        """
        binary = self.binary and (self.binary[0], f'{BINARY}/{self.binary[1]}')
        wall = cpu_seconds * WALL_PER_CPU
        return make_test_job(
            self.prepared,
            mode,
            self.tree,
            binary,
            cpu_seconds,
            wall,
            self.packages,
        )

    def make_command(self, names: Sequence[str]) -> tuple[str, list[str]]:
        """Return the program that runs these tests, and its arguments: the binary, or `go test`.

        `go test` runs all tests of the package, whatever the names.
        """
        if self.binary is None:
            return f'{self.prepared.toolchain.home_in_sandbox}/bin/go', list(_PROJECT_COMMAND)
        return f'{BINARY}/{self.binary[1]}', _make_arguments(names)

    def make_session_job(self) -> Job:
        """Return the sandbox job that starts a session, which runs tests several times."""
        return self.make_job('session', SESSION_SECONDS)

    def make_session_head(self) -> bytes:
        """Return b'': a session reads nothing before its first run."""
        return b''

    def make_session_order(
        self, run: GoTestRun, nonce: str, key: str, mark: str
    ) -> tuple[bytes, ...]:
        """Return the order for one run in a session, as one line; see `SessionOrders`."""
        return (run.make_run_order(nonce, key, Mark=mark).encode() + b'\n',)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoTestRun:
    """One process that runs some tests. Fulfils `coevo.languages.core.test_runs.TestRun`.

    limits       CPU seconds for each test, by the key of `make_test_key`
    cpu_seconds  for all tests together; None for the sum of their limits and the time for loading
    variables    environment variables beyond those of all processes
    files        the files whose executed lines are reported; None for no report
    sources      the compiled text of these files, if it is not that of the tree
    watched      the import path of the package whose tests an observer watches; None for no
                 observer
    lines        further lines that it watches, by path in the repository
    loading      CPU seconds until the first test begins
    """

    ground: GoCellLayout
    limits: Mapping[str, float]
    cpu_seconds: float | None
    variables: Mapping[str, str]
    files: tuple[str, ...] | None = None
    sources: Mapping[str, bytes] = field(default_factory=dict)
    watched: str | None = None
    lines: Mapping[str, Collection[int]] = field(default_factory=dict)
    loading: float = LOADING_SECONDS

    line_bytes: ClassVar[int] = 1 << 21

    @property
    def most_cpu_seconds(self) -> float:
        """The CPU seconds for the whole run: `cpu_seconds`, or all limits with loading."""
        return self.cpu_seconds or sum(self.limits.values()) + self.loading

    def make_report(self, key: str) -> GoProcessReport:
        """Return an empty report with an entry for each test.

        key  authenticates the events that no test may forge
        """
        return GoProcessReport(tests={name: GoTestReport() for name in self.limits}, key=key)

    def make_run_order(self, nonce: str, key: str, **more: str) -> str:
        """Return the order to coevo's program in the sandbox as JSON, without the end of the line.

        nonce  must precede each event of the run
        key    authenticates the events that no test may forge
        more   further entries of the order
        """
        program, arguments = self.ground.make_command(
            [_extract_test_name(key) for key in self.limits]
        )
        order = {
            'Nonce': nonce,
            'Key': key,
            'Tree': TREE_FILE,
            'Root': self.ground.root,
            'Folder': self.ground.folder,
            'StandIns': [stand_in.path for stand_in in self.ground.stand_ins],
            'Caches': [] if self.ground.packages is None else [CACHES[1]],
            'Binary': program,
            'Arguments': arguments,
            'Tests': list(self.limits),
            'Variables': dict(self.variables),
            'Profile': self.files is not None,
            'Files': list(self.files or ()),
            'Sources': {path: b64encode(text).decode() for path, text in self.sources.items()},
            'Watch': self.watched and self._make_watch_order(self.watched),
        }
        return json.dumps({**order, **more})

    def _make_watch_order(self, package: str) -> dict[str, object]:
        lines = {path: sorted(numbers) for path, numbers in sorted(self.lines.items())}
        return {'Package': package, 'Tests': list(self.limits), 'Lines': lines}

    @property
    def bounds(self) -> CpuBounds[str]:
        """The CPU seconds that the tests, loading and the whole run may use."""
        return CpuBounds(
            tests=self.limits,
            loading=self.loading,
            whole=self.most_cpu_seconds,
            loading_is='cpu',
        )


GoRunResult = RunResult[GoProcessReport]


def _extract_test_name(key: str) -> str:
    """Return the name of a test from its key in the binary."""
    return key.partition('#')[2]


def _make_arguments(names: Sequence[str]) -> list[str]:
    """Return the arguments of a test binary that runs the tests with these names once.

    The binary gets no time limit of its own.
    """
    chosen = '|'.join(map(re.escape, dict.fromkeys(names)))
    return [f'-test.run=^({chosen})$', '-test.paniconexit0', '-test.timeout=0', '-test.count=1']


_RECEIVER = re.compile(r'\(\*?(\w+)\)\.')


def parse_trace(told: Iterable[dict[str, Any]], files: Collection[str]) -> Trace:
    """Return the executed functions, and the lines of some files, from the events of a process.

    Events of an unexpected form are skipped. A file without events has no lines.

    files  the source files whose lines are wanted
    """
    executed: set[ExecutedMethod] = set()
    lines: dict[str, tuple[CoveredLine, ...]] = dict.fromkeys(sorted(files), ())
    for event in told:
        file = event.get('file')
        if not isinstance(file, str):
            continue
        executed.update(_parse_functions(file, str(event.get('package')), event.get('functions')))
        if file in lines:
            lines[file] = tuple(_parse_lines(event.get('lines')))
    return Trace(executed=tuple(sorted(executed, key=_make_sort_key)), lines=lines)


def _make_sort_key(one: ExecutedMethod) -> tuple[str, int, str]:
    return one.file or '', one.first_line, one.method


def _name_owner(package: str, method: str) -> str:
    receiver = _RECEIVER.match(method)
    return f'{package}${receiver[1]}' if receiver else package


def _parse_functions(file: str, package: str, rows: object) -> Iterator[ExecutedMethod]:
    """Yield the executed functions; rows that coevo's program would not write are left out."""
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str() as name, int() as first, int() as last]:
                yield ExecutedMethod(
                    type=_name_owner(package, name),
                    method=name,
                    # A package may have several functions `init`, and two packages may have the
                    # same name.
                    descriptor=f'{file}:{first}',
                    file=file,
                    first_line=first,
                    last_line=last,
                )


def _parse_lines(rows: object) -> Iterator[CoveredLine]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [int() as line, int() as known, int() as hit] if 0 <= hit <= known:
                yield CoveredLine(
                    line=line,
                    missed_instructions=known - hit,
                    covered_instructions=hit,
                )
