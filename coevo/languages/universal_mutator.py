"""Mutants of a Java file by universalmutator (Groce et al., 2018), as its own command.

The tool rewrites text by regular expressions, line by line; it neither compiles nor runs anything
here. Its expressions are given the text of strangers, so its process is bounded in time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal

CPU_LIMIT = 300
"""CPU seconds that the tool may take for one file; a busy machine does not come near it earlier."""

# Its own process says how much it may use, since no thread may between fork and exec.
_LIMITED = (
    'import resource, runpy, sys; most = int(sys.argv[1]); '
    'resource.setrlimit(resource.RLIMIT_CPU, (most, most)); '
    'sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name="__main__")'
)
_KILLED = (-signal.SIGXCPU, -signal.SIGKILL)

# What it heeds of lines that it is not asked to mutate: comments, and marks of its own.
_HEEDED = ('/*', '*/', '{-', '-}', '@BEGIN_TEST_CODE', '@END_TEST_CODE')


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A line that is another; `line` is 1-based, texts are without the line's end.

    What replaces the line may be two lines.
    """

    line: int
    original: str
    mutated: str

    def applied(self, source: bytes) -> bytes:
        """The whole file with the line replaced."""
        own = source.split(b'\n')
        end = b'\r' if own[self.line - 1].endswith(b'\r') else b''
        encoding = _encoding(source)
        own[self.line - 1] = b'\n'.join(
            text.encode(encoding) + end for text in self.mutated.split('\n')
        )
        return b'\n'.join(own)


class OutOfTime(Exception):
    """The tool did not end in time for a file."""


def is_installed() -> bool:
    return _place().exists()


def mutants_of(
    source: bytes, lines: Collection[int], cpu_limit: int = CPU_LIMIT
) -> tuple[Mutant, ...]:
    """All mutants that the tool emits for some lines of a Java file, in its order.

    OutOfTime where it does not end; Fatal where it is not installed.
    """
    texts = [line.rstrip('\r').replace('\r', ' ') for line in _text(source).split('\n')]
    asked = sorted(line for line in set(lines) if 0 < line <= len(texts))
    if not asked:
        return ()
    seen = _shown(texts, asked)
    with tempfile.TemporaryDirectory(prefix='coevo-mutants-') as folder:
        _run(Path(folder), seen, asked, cpu_limit)
        return tuple(_read(Path(folder), seen, asked))


def _text(source: bytes) -> str:
    return source.decode(_encoding(source))


def _encoding(source: bytes) -> str:
    """One that gives back the same bytes, whatever they are."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return 'latin-1'
    return 'utf-8'


def _shown(texts: list[str], asked: list[int]) -> list[str]:
    """The file with lines left empty from which nothing follows for those asked for.

    The tool writes the whole file for each mutant, and mutates every line before it drops what
    was not asked for.
    """
    wanted = set(asked)
    return [
        text if number in wanted or any(mark in text for mark in _HEEDED) else ''
        for number, text in enumerate(texts, 1)
    ]


def _run(folder: Path, seen: list[str], asked: list[int], cpu_limit: int) -> None:
    (folder / 'Source.java').write_text('\n'.join(seen) + '\n', encoding='utf-8', newline='')
    (folder / 'lines').write_text('\n'.join(map(str, asked)))
    (folder / 'out').mkdir()
    arguments = ['Source.java', '--noCheck', '--mutantDir', 'out', '--lines', 'lines']
    try:
        subprocess.run(
            [
                sys.executable,
                '-I',
                '-X',
                'utf8',
                '-c',
                _LIMITED,
                str(cpu_limit),
                str(_tool()),
                *arguments,
            ],
            cwd=folder,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        if error.returncode in _KILLED:
            raise OutOfTime from error
        raise


def _tool() -> Path:
    if not is_installed():
        raise Fatal('universalmutator is not installed; run `make setup`')
    return _place()


def _place() -> Path:
    return Path(sys.executable).parent / 'mutate'


def _read(folder: Path, seen: list[str], asked: list[int]) -> Iterator[Mutant]:
    written = (folder / 'out').glob('Source.mutant.*.java')
    for path in sorted(written, key=lambda path: int(path.suffixes[-2][1:])):
        text = path.read_bytes().decode()
        yield _mutant(text.removesuffix('\n').split('\n'), seen, asked)


def _mutant(mutated: list[str], seen: list[str], asked: list[int]) -> Mutant:
    """A mutant from the file that the tool wrote: the first line asked for that can be its line."""
    same_start = _common(mutated, seen)
    same_end = _common(mutated[::-1], seen[::-1])
    line = next(line for line in asked if len(seen) - same_end <= line <= same_start + 1)
    stop = line + len(mutated) - len(seen)
    return Mutant(line=line, original=seen[line - 1], mutated='\n'.join(mutated[line - 1 : stop]))


def _common(one: list[str], other: list[str]) -> int:
    """How many lines are equal from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
