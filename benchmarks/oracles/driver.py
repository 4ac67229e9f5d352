"""What all oracles have in common: a tree written anew, a driver in the sandbox, a request and its rulings."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from benchmarks.oracles.trees import write_cell_by_files
from coevo.git.repository import Repository
from coevo.languages.reading import LanguageReading
from coevo.model.errors import Transient
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Limits, Mount, Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace

LIMITS = Limits(
    cpu_seconds=7200,
    wall_seconds=14400,
    memory_bytes=8 << 30,
    processes=1024,
    file_bytes=1 << 30,
    disk_bytes=4 << 30,
)
_ANSWER_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A cell of a pair, in one module."""

    tests_rev: str
    code_rev: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What an oracle says of one method; `log` is for people, never for a verdict."""

    outcome: Outcome
    exception: str
    seconds: float
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """CPU seconds of what comes before the methods, and of each method's processes."""

    build_seconds: float
    rulings: tuple[Ruling, ...]
    log: str = ''

    @property
    def seconds(self) -> float:
        return self.build_seconds + sum(ruling.seconds for ruling in self.rulings)


class PlainCells:
    """The sandbox of an oracle, for one repository after the other.

    program  the module of `inside` whose `main` is the driver
    """

    def __init__(self, stack: ExitStack, program: str) -> None:
        self._sandbox: Sandbox = open_sandbox('bubblewrap')
        stack.callback(self._sandbox.close)
        self.root = stack.enter_context(open_workspace())
        # Python's isolated mode leaves the program's own folder out.
        self._start = (
            f'import sys; sys.path.insert(0, "/in"); from inside.{program} import main; main()'
        )

    @contextmanager
    def open_tree(
        self, reading: LanguageReading, repository: Repository, place: Place
    ) -> Iterator[Path]:
        """Write the files of a cell anew."""
        with open_tree_folder(self.root) as tree:
            write_cell_by_files(reading, repository, place.tests_rev, place.code_rev, tree)
            yield tree

    def ask(
        self,
        tree: Path,
        request: Mapping[str, Any],
        *,
        mounts: Sequence[Mount],
        sockets: Sequence[Mount] = (),
        environment: Mapping[str, str],
    ) -> Answer:
        """Ask the driver; Transient if it says nothing.

        mounts, environment  beside the tree and the driver
        """
        job = Job(
            argv=('/usr/bin/python3', '-I', '-B', '-c', self._start),
            mounts=(
                Mount(source=tree, target='/in/tree'),
                Mount(source=copy_programs(self.root), target='/in/inside'),
                *mounts,
            ),
            sockets=tuple(sockets),
            limits=LIMITS,
            environment=environment,
        )
        answer = ask_driver(self._sandbox, job, request)
        return Answer(
            build_seconds=answer['build_seconds'],
            rulings=tuple(
                Ruling(**{**each, 'outcome': Outcome(each['outcome'])})
                for each in answer['methods']
            ),
            log=answer.get('log', ''),
        )


def say_unbuildable(count: int) -> Answer:
    """Answer for so many methods whose code cannot be built."""
    ruling = Ruling(outcome=Outcome.UNBUILDABLE, exception='', seconds=0.0, log='')
    return Answer(build_seconds=0.0, rulings=(ruling,) * count)


@contextmanager
def open_tree_folder(root: Path) -> Iterator[Path]:
    """Give the path where a tree is to be written; it is removed at the end."""
    folder = Path(mkdtemp(dir=root))
    folder.chmod(0o711)
    try:
        yield folder / 'tree'
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy_programs(root: Path) -> Path:
    """Copy what runs inside, so that the sandbox's user can read it."""
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


def ask_driver(sandbox: Sandbox, job: Job, request: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the driver says to a request; Transient if that is nothing."""
    with sandbox.start(job) as process:
        with contextlib.suppress(BrokenPipeError):  # it ended before it read, and has said nothing
            process.stdin.write(json.dumps(request).encode())
            process.stdin.close()
        text = process.stdout.read(_ANSWER_BYTES)
        process.wait()
        if not text:
            raise Transient(f'the oracle said nothing: {process.get_last_error_output()[-2000:]}')
    answer: dict[str, Any] = json.loads(text)
    return answer
