"""Source levels that the JDK refuses, raised as a person would: properties first, then the POM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

PROPERTIES = ('-Dmaven.compiler.source=8', '-Dmaven.compiler.target=8')

_LEVEL = re.compile(
    r'<(?:maven\.compiler\.)?(?:testSource|testTarget|testRelease|source|target|release)>'
    r'\s*(?:(?P<level>[\d.]+)|\$\{(?P<name>[\w.-]+)\})\s*</'
)
_REFUSED = r'(?:1\.)?[1-6](?:\.0)?'


def choose_level_properties(tree: Path) -> Sequence[str]:
    """Choose Maven's level-8 properties, unless some POM of the tree asks for more than 8."""
    levels = [level for pom in _list_poms(tree) for level in _read_levels(pom)]
    return () if any(level > 8 for level in levels) else PROPERTIES


def raise_literals(tree: Path) -> None:
    """Put 8 in place of levels below 7 that stand in a POM, where properties cannot reach."""
    for pom in _list_poms(tree):
        text = pom.read_text(errors='surrogateescape')
        names = {match['name'] for match in _LEVEL.finditer(text) if match['name']}
        for name in (*names, 'source', 'target', 'release'):
            tag = re.escape(name)
            text = re.sub(rf'<{tag}>\s*{_REFUSED}\s*</{tag}>', f'<{name}>8</{name}>', text)
        pom.write_text(text, errors='surrogateescape')


def _list_poms(tree: Path) -> Iterator[Path]:
    return (path for path in sorted(tree.rglob('pom.xml')) if not path.is_symlink())


def _read_levels(pom: Path) -> Iterator[int]:
    text = pom.read_text(errors='replace')
    for match in _LEVEL.finditer(text):
        literal = match['level'] or _read_property(text, match['name'])
        numbers = re.findall(r'\d+', literal or '')
        if numbers:
            yield int(numbers[-1] if numbers[0] == '1' and len(numbers) > 1 else numbers[0])


def _read_property(text: str, name: str) -> str | None:
    found = re.search(rf'<{re.escape(name)}>\s*([\d.]+)\s*</', text)
    return found[1] if found else None
