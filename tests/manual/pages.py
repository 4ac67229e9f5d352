"""The pages that people read, and the fenced blocks that stand in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md')))

_FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    page: Path
    language: str
    text: str


def blocks(page: Path, language: str, *, under: str | None = None) -> Iterator[Block]:
    """Yield the blocks of a page in a language, in order.

    under  a heading of the page; then only the blocks of its section, with all subsections
    """
    text = page.read_text() if under is None else section(page, under)
    for block in _FENCE.finditer(text):
        if block[1] == language:
            yield Block(page=page, language=language, text=block[2])


def section(page: Path, heading: str) -> str:
    """Return the text below a heading, up to the next one of its level or above."""
    lines = page.read_text().splitlines(keepends=True)
    (start,) = (at for at, line in enumerate(lines) if re.fullmatch(rf'#+ {heading}\n', line))
    level = lines[start].index(' ')
    rest = itertools.takewhile(
        lambda line: not re.match(rf'#{{1,{level}}} ', line), lines[start + 1 :]
    )
    return ''.join(rest)


def all_blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in any language, in order."""
    for found in _FENCE.finditer(text):
        yield Block(page=ROOT, language=found[1], text=found[2])


def commands(page: Path) -> Iterator[str]:
    """Each line of shell that a page shows, without what is only said about it."""
    for block in blocks(page, 'sh'):
        for line in block.text.replace('\\\n', ' ').splitlines():
            words = line.strip()
            if words and not words.startswith('#'):
                yield words


def answered(page: Path, about: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page that have some words, each with the lines that it shows as their answer."""
    found = _FENCE.findall(page.read_text())
    for (kind, command), (next_kind, answer) in itertools.pairwise([*found, ('', '')]):
        if kind == 'sh' and about in command:
            yield command.strip(), answer.splitlines() if next_kind == 'text' else []
