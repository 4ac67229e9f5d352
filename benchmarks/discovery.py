"""Crawls of 3,500 repositories behind GitHub's cap of 1,000 hits, and what they cost.

    python -m benchmarks.discovery [RESULTS.csv]

The repositories are those of the tests' GitHub, a real HTTP server on loopback. Requests are
counted by that server; the time that GitHub's quota would take is arithmetic: 30 searches a minute
and 5,000 other requests an hour for each token, both windows full at the start.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import tables
from flows.crawling.crawls import load_repositories
from flows.discovery import CrawlOptions, CrawlReport, crawl
from miners.discovery.candidate_profiles import load_profile
from miners.discovery.github_tokens import GitHubToken
from tests.github_server import Budgets, Hosted, Server, World, serving

RESULTS = Path(__file__).parent / 'results' / 'discovery.csv'

COUNT = 3500
TOKENS = 2
SEED = 6

_START = datetime(2009, 1, 1, tzinfo=UTC)
_SECONDS = 16 * 365 * 86_400
_NO_LIMIT = 10**9
_SEARCHES_A_MINUTE, _OTHERS_AN_HOUR = 30, 5000

Spread = Callable[[random.Random, int], tuple[int, datetime]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A crawl after a change of the world."""

    name: str
    change: Callable[[World], None]


def any_time(draw: random.Random) -> datetime:
    return _START + timedelta(seconds=draw.randrange(_SECONDS))


def power_law(draw: random.Random, number: int) -> tuple[int, datetime]:
    """Stars like those of Java on GitHub: few have many."""
    return int(500 * (1 - draw.random()) ** -0.9), any_time(draw)


def tied(draw: random.Random, number: int) -> tuple[int, datetime]:
    """Most have the same number of stars; a third of these were created on one day."""
    if number > 2500:
        return power_law(draw, number)
    day = datetime(2016, 5, 4, tzinfo=UTC) + timedelta(seconds=draw.randrange(86_400))
    return 500, day if number <= 1000 else any_time(draw)


def same_second(draw: random.Random, number: int) -> tuple[int, datetime]:
    """More than 1,000 that nothing tells apart."""
    if number > 1100:
        return power_law(draw, number)
    return 777, datetime(2016, 5, 4, 3, 2, 1, tzinfo=UTC)


CASES: dict[str, Spread] = {'power law': power_law, 'tied': tied, 'same second': same_second}


def world(spread: Spread) -> World:
    """One in three has a POM at its root, as many licences as there are on GitHub."""
    draw = random.Random(SEED)
    return World.of(hosted(draw, number, spread) for number in range(1, COUNT + 1))


def hosted(draw: random.Random, number: int, spread: Spread) -> Hosted:
    stars, created = spread(draw, number)
    licences = ('Apache-2.0', 'MIT', 'GPL-3.0', 'NOASSERTION', None)
    return Hosted(
        id=number,
        owner=f'owner{number % 700}',
        name=f'repository{number}',
        stars=stars,
        license=draw.choices(licences, (40, 25, 10, 10, 15))[0],
        created_at=f'{created:%Y-%m-%dT%H:%M:%SZ}',
        files=('pom.xml', 'src') if draw.random() < 1 / 3 else ('build.gradle', 'src'),
    )


def nothing(world: World) -> None:
    pass


def a_month(world: World) -> None:
    """Most gain stars, a third is pushed to, some POMs change, a few are renamed, gone or new."""
    draw = random.Random(SEED)
    for one in list(world):
        one.stars += draw.randrange(20)
        if draw.random() < 1 / 3:
            one.pushed_at = '2026-01-31T00:00:00Z'
    for number in draw.sample(sorted(world.repositories), 20):
        world.rename(number, f'elsewhere/repository{number}')
    for number in draw.sample(sorted(world.repositories), 10):
        world.delete(number)
    for number in range(COUNT + 1, COUNT + 31):
        world.add(hosted(draw, number, power_law))


STEPS = (
    Step(name='first', change=nothing),
    Step(name='unchanged', change=nothing),
    Step(name='a month later', change=a_month),
)


def run(case: str, store: Path) -> Iterator[dict[str, object]]:
    """The rows of one case: a crawl for each step, in one store."""
    plenty = Budgets(limits={'search': _NO_LIMIT, 'core': _NO_LIMIT, 'graphql': _NO_LIMIT})
    secrets = [f'token{number}' for number in range(TOKENS)]
    tokens = tuple(GitHubToken(number=n, secret=secret) for n, secret in enumerate(secrets, 1))
    with serving(Server(world=world(CASES[case]), budgets=plenty)) as server:
        for step in STEPS:
            step.change(server.world)
            before = Counter(plenty.counted)
            asked, began = len(server.asked), time.process_time()
            report = crawl(
                CrawlOptions(
                    store=store, profile=load_profile('testevo'), tokens=tokens, api=server.api
                )
            )
            spent = Counter(plenty.counted) - before
            yield {
                'case': case,
                'crawl': step.name,
                **found(server, report, store),
                'requests': len(server.asked) - asked,
                **quota(spent),
                'cpu_seconds_with_server': round(time.process_time() - began, 1),
            }


def found(server: Server, report: CrawlReport, store: Path) -> dict[str, object]:
    rows = load_repositories(store, report.stamp)
    numbers = Counter(row.github_id for row in rows)
    there = set(server.world.repositories)
    return {
        'repositories': len(there),
        'found': len(there & set(numbers)),
        'twice': sum(count > 1 for count in numbers.values()),
        'proven': report.proven,
        'unsplit': len(report.unsplit),
        'kept': report.kept,
        'events': len(report.events),
    }


def quota(spent: Counter[str]) -> dict[str, object]:
    """What counted, and the minutes that it takes with one token and with several."""
    searches, others = spent['search'], spent['core']
    return {
        'counted_searches': searches,
        'counted_others': others,
        'minutes_1_token': minutes(searches, others, 1),
        f'minutes_{TOKENS}_tokens': minutes(searches, others, TOKENS),
    }


def minutes(searches: int, others: int, tokens: int) -> int:
    """Whole windows that have to pass before the last request of each kind is granted."""
    full = max(0, -(-searches // (_SEARCHES_A_MINUTE * tokens)) - 1)
    return full + 60 * max(0, -(-others // (_OTHERS_AN_HOUR * tokens)) - 1)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    rows = []
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix='coevo-discovery-') as store:
            for row in run(case, Path(store)):
                rows.append(row)
                print(row, flush=True)
    tables.write(path, rows)


if __name__ == '__main__':
    main()
