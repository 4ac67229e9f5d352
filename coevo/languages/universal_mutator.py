"""Makes mutants of a source file by the command of universalmutator (Groce et al., 2018).

The tool rewrites text by regular expressions, line by line. It neither compiles nor runs anything
here. Since its expressions meet untrusted text, the time of its process is limited.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Language, Node, Parser

from coevo.languages.mutation import (
    Mutant,
    MutationTimeout,
    choose_encoding,
    find_documenting_lines,
    is_comment,
)
from coevo.model.errors import Fatal

CPU_LIMIT = 300
"""CPU seconds for one file. CPU time does not depend on how busy the machine is."""

# The process sets its own limit, because no thread may run between fork and exec.
_LIMITED = (
    'import resource, runpy, sys; most = int(sys.argv[1]); '
    'resource.setrlimit(resource.RLIMIT_CPU, (most, most)); '
    'sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name="__main__")'
)
_KILLED = (-signal.SIGXCPU, -signal.SIGKILL)

# The tool takes these for the start of a comment, or of text that is not mutated, in all languages
# and even inside strings. A line with one is never mutated; it is blanked, so that the lines below
# it are.
_MARKS = ('/*', '{-', '@BEGIN_TEST_CODE')


@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalMutator:
    """The tool with the rules of one language. Fulfils `coevo.languages.mutation.SourceMutation`.

    suffix     the ending of the language's file names, by which the tool selects its rules
    grammar    the grammar of the language
    documents  returns whether a node only documents
    cpu_limit  CPU seconds for one file
    """

    suffix: str
    grammar: Language
    documents: Callable[[Node], bool] = is_comment
    cpu_limit: int = CPU_LIMIT

    def is_installed(self) -> bool:
        """Return whether the tool is installed."""
        return is_installed()

    def find_documenting_lines(self, source: bytes) -> frozenset[int]:
        """Return the 1-based lines of a file that contain only documentation, such as comments.

        They are not mutated, since the tool would find operators in prose.
        """
        root = Parser(self.grammar).parse(source).root_node
        return find_documenting_lines(source, root, self.documents)

    def make_mutants(self, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
        """Run the tool on a file and return its mutants of some lines, always in the same order.

        Lines that only document are not mutated. See `SourceMutation.make_mutants`.
        """
        texts = [
            line.rstrip('\r').replace('\r', ' ') for line in _decode_source(source).split('\n')
        ]
        wanted = set(lines) - self.find_documenting_lines(source)
        asked_lines = sorted(line for line in wanted if 0 < line <= len(texts))
        if not asked_lines:
            return ()
        seen = _blank_other_lines(texts, asked_lines)
        with tempfile.TemporaryDirectory(prefix='coevo-mutants-') as folder:
            _run_tool(self, Path(folder), seen, asked_lines)
            return tuple(_load_mutants(self, Path(folder), seen, asked_lines))


def is_installed() -> bool:
    """Return whether the tool is installed beside this Python interpreter."""
    return _locate_tool().exists()


def _decode_source(source: bytes) -> str:
    return source.decode(choose_encoding(source))


def _blank_other_lines(texts: list[str], asked: list[int]) -> list[str]:
    """Return the lines of the file, with each line left empty that is not to be mutated.

    These are lines that were not asked for, and lines with a mark that stops the tool. Otherwise
    the tool would mutate every line before it drops the unwanted ones, and write the whole file for
    each mutant.
    """
    wanted = set(asked)
    return [
        text if number in wanted and not any(mark in text for mark in _MARKS) else ''
        for number, text in enumerate(texts, 1)
    ]


def _run_tool(tool: UniversalMutator, folder: Path, seen: list[str], asked: list[int]) -> None:
    name = f'Source{tool.suffix}'
    source = folder / name  # own name: Source and a suffix of coevo's
    source.write_text('\n'.join(seen) + '\n', encoding='utf-8', newline='')
    (folder / 'lines').write_text('\n'.join(map(str, asked)))
    (folder / 'out').mkdir()
    arguments = [name, '--noCheck', '--mutantDir', 'out', '--lines', 'lines']
    try:
        subprocess.run(
            [
                sys.executable,
                '-I',
                '-X',
                'utf8',
                '-c',
                _LIMITED,
                str(tool.cpu_limit),
                str(_require_tool()),
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
            raise MutationTimeout from error
        raise


def _require_tool() -> Path:
    if not is_installed():
        raise Fatal('universalmutator is not installed; run `make setup`')
    return _locate_tool()


def _locate_tool() -> Path:
    return Path(sys.executable).parent / 'mutate'  # own name: this interpreter's


def _load_mutants(
    tool: UniversalMutator, folder: Path, seen: list[str], asked: list[int]
) -> Iterator[Mutant]:
    written = (folder / 'out').glob(f'Source.mutant.*{tool.suffix}')
    for path in sorted(written, key=lambda path: int(path.suffixes[-2][1:])):
        text = path.read_bytes().decode()
        yield _build_mutant(text.removesuffix('\n').split('\n'), seen, asked)


def _build_mutant(mutated: list[str], seen: list[str], asked: list[int]) -> Mutant:
    """Return the mutant that a file of the tool contains, as a replacement of one line.

    If several requested lines fit, because neighbouring lines are equal, the first one counts.
    """
    same_start = _count_equal_first_lines(mutated, seen)
    same_end = _count_equal_first_lines(mutated[::-1], seen[::-1])
    line = next(line for line in asked if len(seen) - same_end <= line <= same_start + 1)
    stop = line + len(mutated) - len(seen)
    return Mutant(line=line, original=seen[line - 1], mutated='\n'.join(mutated[line - 1 : stop]))


def _count_equal_first_lines(one: list[str], other: list[str]) -> int:
    """Return how many lines at the start of two texts are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
