"""Read the JDK that POMs require, without running anything.

Settings in a parent POM outside the repository are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree import ElementTree

from coevo.git.repository import Repository
from coevo.languages.java.building.report import JdkDemand

_PROPERTIES = re.compile(
    r'(maven\.compiler\.(release|source|target)|(java|jdk)([.-](source|target|release))?[.-]?(version|level)?)$'
)
_COMPILER = 'maven-compiler-plugin'


def find_pom_demand(repository: Repository, rev: str) -> JdkDemand:
    """Return the range of JDKs that satisfies all POMs of a revision, read as text.

    Properties are resolved if the same file defines them.
    """
    lowest: list[int] = []
    highest: list[int] = []
    for path, entry in repository.tree(rev).items():
        if path.rpartition('/')[2] == 'pom.xml':
            demand = parse_pom_demand(repository.blob(entry.oid))
            lowest += [demand.lowest] if demand.lowest else []
            highest += [demand.highest] if demand.highest else []
    return JdkDemand(lowest=max(lowest, default=None), highest=min(highest, default=None))


# Cached, since neighbouring revisions share most of their POMs.
@lru_cache(maxsize=1024)
def parse_pom_demand(pom: bytes) -> JdkDemand:
    """Return the range of JDKs that one POM requires; unbounded if it cannot be parsed.

    Language levels give only a lower bound. The enforcer plugin and toolchains may give both.
    """
    try:
        root = ElementTree.fromstring(pom)
    except ElementTree.ParseError:
        return JdkDemand()
    properties = {
        child.tag.rpartition('}')[2]: (child.text or '').strip()
        for child in root.iterfind('{*}properties/*')
    }
    levels = [
        level
        for text in _find_language_levels(root, properties)
        if (level := _parse_feature_release(text, properties))
    ]
    required = [_parse_version_range(text, properties) for text in _find_required_versions(root)]
    lows = [*levels, *(low for low, _ in required if low)]
    highs = [high for _, high in required if high]
    return JdkDemand(lowest=max(lows, default=None), highest=min(highs, default=None))


def _find_language_levels(root: ElementTree.Element, properties: dict[str, str]) -> Iterator[str]:
    yield from (value for name, value in properties.items() if _PROPERTIES.match(name))
    for plugin in root.iterfind('.//{*}plugin'):
        if plugin.findtext('{*}artifactId') == _COMPILER:
            for name in ('release', 'source', 'target'):
                yield from (level.text or '' for level in plugin.iterfind(f'.//{{*}}{name}'))


def _find_required_versions(root: ElementTree.Element) -> Iterator[str]:
    """Yield the versions that the enforcer plugin or a toolchain requires."""
    for path in ('.//{*}requireJavaVersion/{*}version', './/{*}toolchains/{*}jdk/{*}version'):
        yield from (element.text or '' for element in root.iterfind(path))


def _parse_version_range(text: str, properties: dict[str, str]) -> tuple[int | None, int | None]:
    """Return the lowest and highest feature release in a version range of Maven.

    A bare version is a lower bound: `11` gives (11, None), `[8,12)` gives (8, 11), `[8]` gives (8,
    8).
    """
    lower, comma, upper = text.strip().strip('[]()').partition(',')
    high = _parse_feature_release(upper, properties)
    if high is not None and text.strip().endswith(')'):
        high -= 1
    if not comma and text.strip().startswith('['):
        high = _parse_feature_release(lower, properties)
    return _parse_feature_release(lower, properties), high


def _parse_feature_release(text: str, properties: dict[str, str]) -> int | None:
    """Return 8 for `8`, `1.8`, `1.8.0-40` or `${java.version}`; None for other text."""
    text = text.strip()
    reference = re.fullmatch(r'\$\{([^}]+)\}', text)
    if reference:
        text = properties.get(reference[1], '')
    match = re.match(r'(?:1\.)?(\d{1,2})(?![\d])', text)
    return int(match[1]) if match and 5 <= int(match[1]) <= 99 else None
