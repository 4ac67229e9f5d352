"""Which JDKs to try for a pair of revisions, the likeliest first; pure but for reading the POMs.

What a POM demands gives the lowest and highest JDK that its authors can have meant. Between these
the one counts that most people built with when the revision was made, or, where the revision's own
files name others, the one of those that is nearest to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import date
from datetime import datetime
from datetime import timedelta
from functools import lru_cache
from itertools import zip_longest
from xml.etree import ElementTree

from coevo.git.repository import Repository
from coevo.languages.java.building.jdk_demand import JdkDemand
from coevo.languages.java.gradle import choice as gradle_choice
from coevo.languages.java.maven.named_jdks import named_jdks
from coevo.languages.java.places import POM
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.jdks import PREFERRED
from coevo.languages.java.tools.jdks import Jdk
from coevo.model.records import Pair

# Long-term releases and when they came (Oracle Java SE Support Roadmap).
LONG_TERM = (
    (8, date(2014, 3, 18)),
    (11, date(2018, 9, 25)),
    (17, date(2021, 9, 14)),
    (21, date(2023, 9, 19)),
    (25, date(2025, 9, 16)),
)

# Builds move to a new release when their tools do.
ADOPTION = timedelta(days=365)

# Each further try builds two revisions again.
MOST_TRIES = 3

_PROPERTIES = re.compile(
    r'(maven\.compiler\.(release|source|target)|(java|jdk)([.-](source|target|release))?[.-]?(version|level)?)$'
)
_COMPILER = 'maven-compiler-plugin'


def candidates(demand: JdkDemand, made: datetime | None, jdks: Sequence[Jdk]) -> tuple[Jdk, ...]:
    """At most `MOST_TRIES` JDKs, one of each feature release, in the order to try them.

    First the long-term release of the date, or the newest before it that the demand allows, or the
    oldest after it, among those that are named if there are any; then the nearest below, and the one
    that the POMs ask for, which their code may need whatever its date; then above and below by turns.
    A highest release that leaves none is passed over; so is a lowest, for the newest.
    """
    known = {jdk.feature: jdk for jdk in reversed(jdks)}
    enough = sorted(feature for feature in known if feature >= (demand.lowest or 0))
    if not enough:
        return (known[max(known)],) if known else ()
    allowed = [feature for feature in enough if feature <= (demand.highest or feature)] or enough
    wanted = max(usual(made), demand.lowest or 0)
    named = {max(feature, LONG_TERM[0][0]) for feature in demand.named}
    likely = [feature for feature in allowed if feature in named] or allowed
    first = max((feature for feature in likely if feature <= wanted), default=likely[0])
    below = [feature for feature in reversed(allowed) if feature < first]
    above = [feature for feature in allowed if feature > first]
    by_turns = (feature for both in zip_longest(below, above) for feature in both if feature)
    asked_for = below[-1:] if demand.lowest is not None else []
    order = dict.fromkeys((first, *below[:1], *asked_for, *by_turns))
    return tuple(known[feature] for feature in order)[:MOST_TRIES]


def usual(made: datetime | None) -> int:
    """The long-term release that a build of this day was usually made with."""
    if made is None:
        return PREFERRED
    day = made.date() - ADOPTION
    return max((release for release, came in LONG_TERM if came <= day), default=LONG_TERM[0][0])


def pair_candidates(
    repository: Repository, pair: Pair, jdks: Sequence[Jdk], gradles: Sequence[Gradle] = ()
) -> tuple[Jdk, ...]:
    """The JDKs for both ends of a pair: a label must never come from a change of JDK."""
    if len(jdks) == 1:
        return tuple(jdks)
    demands = [
        demand_of(repository, end.rev)
        if POM in repository.tree(end.rev)
        else gradle_choice.demand_of(repository, end.rev, gradles)
        for end in (pair.old, pair.new)
    ]
    lowest = [demand.lowest for demand in demands if demand.lowest]
    highest = [demand.highest for demand in demands if demand.highest]
    both = JdkDemand(
        lowest=max(lowest, default=None),
        highest=min(highest, default=None),
        named=named_jdks(repository, pair.new.rev),
    )
    return candidates(both, pair.new.committer_date, jdks)


# -- what POMs demand ------------------------------------------------------------------------------


def demand_of(repository: Repository, rev: str) -> JdkDemand:
    """What the POMs of a revision say, properties filled in as far as the same file has them."""
    lowest: list[int] = []
    highest: list[int] = []
    for path, entry in repository.tree(rev).items():
        if path.rpartition('/')[2] == 'pom.xml':
            found = read_demand(repository.blob(entry.oid))
            lowest += [found.lowest] if found.lowest else []
            highest += [found.highest] if found.highest else []
    return JdkDemand(lowest=max(lowest, default=None), highest=min(highest, default=None))


# Neighbouring revisions share most of their POMs.
@lru_cache(maxsize=1024)
def read_demand(pom: bytes) -> JdkDemand:
    """What one POM says; nothing where it cannot be parsed."""
    try:
        root = ElementTree.fromstring(pom)
    except ElementTree.ParseError:
        return JdkDemand()
    properties = {
        child.tag.rpartition('}')[2]: (child.text or '').strip()
        for child in root.iterfind('{*}properties/*')
    }
    levels = [level for text in _levels(root, properties) if (level := _feature(text, properties))]
    required = [_range(text, properties) for text in _required(root)]
    lows = [*levels, *(low for low, _ in required if low)]
    highs = [high for _, high in required if high]
    return JdkDemand(lowest=max(lows, default=None), highest=min(highs, default=None))


def _levels(root: ElementTree.Element, properties: dict[str, str]) -> Iterator[str]:
    yield from (value for name, value in properties.items() if _PROPERTIES.match(name))
    for plugin in root.iterfind('.//{*}plugin'):
        if plugin.findtext('{*}artifactId') == _COMPILER:
            for name in ('release', 'source', 'target'):
                yield from (level.text or '' for level in plugin.iterfind(f'.//{{*}}{name}'))


def _required(root: ElementTree.Element) -> Iterator[str]:
    """Versions that the enforcer plugin or a toolchain asks for."""
    for path in ('.//{*}requireJavaVersion/{*}version', './/{*}toolchains/{*}jdk/{*}version'):
        yield from (element.text or '' for element in root.iterfind(path))


def _range(text: str, properties: dict[str, str]) -> tuple[int | None, int | None]:
    """The bounds of a version range of Maven; a bare version is a lower bound."""
    lower, comma, upper = text.strip().strip('[]()').partition(',')
    high = _feature(upper, properties)
    if high is not None and text.strip().endswith(')'):
        high -= 1
    if not comma and text.strip().startswith('['):
        high = _feature(lower, properties)
    return _feature(lower, properties), high


def _feature(text: str, properties: dict[str, str]) -> int | None:
    """8 of `8`, `1.8`, `1.8.0-40` or `${java.version}`; None of what is no version of Java."""
    text = text.strip()
    reference = re.fullmatch(r'\$\{([^}]+)\}', text)
    if reference:
        text = properties.get(reference[1], '')
    match = re.match(r'(?:1\.)?(\d{1,2})(?![\d])', text)
    return int(match[1]) if match and 5 <= int(match[1]) <= 99 else None
