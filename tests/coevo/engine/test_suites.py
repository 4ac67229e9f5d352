"""All tests of a revision on their own code: what is told, once, and within a budget."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from coevo.engine.suites import Suites
from coevo.engine.suites import passes
from coevo.git.repository import Repository
from coevo.languages.base import Build
from coevo.languages.base import Workshop
from coevo.languages.java.maven import PairWorkshop
from coevo.languages.java.maven import Site
from coevo.languages.java.maven import Yards
from coevo.languages.java.maven import launch
from coevo.languages.java.maven import workshop as workshops
from coevo.model.records import Walk
from miners.diffs.siblings import methods_by_module
from miners.walks.pairs import Route
from miners.walks.pairs import visit
from tests.projects import NAME
from tests.projects import junit
from tests.projects import pom
from tests.projects import source
from tests.projects import write

BUDGET = 300.0
PARENT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>parent</artifactId><version>1</version>
  <packaging>pom</packaging>
  <modules><module>main</module><module>more</module></modules>
</project>
"""
TILL = source('Till', '    public static int last() { return 1; }\n')
RINGS = 'rings: assertEquals(1, Till.last());'
HELPER = 'src/test/java/shop/Helper.java'


def of_till(*methods: str) -> dict[str, str]:
    return in_module('main', junit('TillTest', RINGS, *methods))


def in_module(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f'{folder}/{path}': text for path, text in files.items()}


def own_pom(name: str) -> dict[str, str]:
    return {f'{name}/pom.xml': pom().replace('<artifactId>shop<', f'<artifactId>{name}<')}


KEEPS = in_module('more', junit('KeepTest', 'keeps: assertTrue(true);', 'holds: assertTrue(true);'))

# Each step is a revision; what one has broken the next one mends.
STEPS = {
    'pass': {
        'pom.xml': PARENT,
        **own_pom('main'),
        **own_pom('more'),
        **in_module('main', TILL),
        **of_till('skips: org.junit.Assume.assumeTrue(false);'),
        **KEEPS,
    },
    'broken 2 of 5': of_till(
        'errs: throw new IllegalStateException();', 'compiles: int none = Till.none();'
    ),
    'broken 1 of 4, environment 1': of_till(
        'fails: fail();', 'phones: java.net.InetAddress.getByName("shop.invalid");'
    )
    | in_module('more', junit('KeepTest', 'keeps: assertTrue(true);')),
    'pass but for environment 1 of 3': of_till(
        'phones: java.net.InetAddress.getByName("a.invalid");'
    ),
    'broken 1 of 4': of_till('kills: Runtime.getRuntime().halt(7);', 'goesOn: assertTrue(true);'),
    'timeout 1 of 4': of_till('spins: while (Till.last() > 0) { }', 'goesOn: assertTrue(true);'),
    'uncompilable: main': {
        **of_till(),
        f'main/{HELPER}': 'package shop;\n\nclass Helper { int none() { return ""; } }\n',
    },
    'none passes of 1': {
        f'main/{HELPER}': None,
        'main/src/test/java/shop/TillTest.java': None,
        **in_module('more', junit('KeepTest', 'keeps: org.junit.Assume.assumeTrue(false);')),
    },
    'unbuildable: more: ': {
        **of_till(),
        **in_module('more', source('Bag', '    public static int none() { return ""; }\n')),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The builds of each step, and what answers for one under a budget, with its CPU seconds."""

    builds: tuple[Build, ...]
    answer: Callable[[Build, float], tuple[str, float]]
    suites: Suites
    workshop: Workshop


@contextmanager
def asked(folder: Path, steps: list[Mapping[str, str | bytes | None]]) -> Iterator[Asked]:
    repository = Repository(write(folder / 'repository', steps) / '.git')
    pairs = visit(
        repository, Route(repo=NAME, language='java', walk=Walk.PARENTS, ref='HEAD')
    ).pairs[::-1]
    suites = Suites(partial(methods_by_module, repository), BUDGET)
    with ExitStack() as stack:
        site = Site(repository, sandbox='bubblewrap', stack=stack)
        workshop = PairWorkshop(Yards(site))
        stack.callback(workshop.close)
        builds = [workshop.build(pair) for pair in pairs]
        yield Asked(
            builds=(builds[0][0], *(new for _, new in builds)),
            answer=lambda build, seconds: Suites(
                partial(methods_by_module, repository), seconds
            ).answer(workshop, build),
            suites=suites,
            workshop=workshop,
        )


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (workshops, launch):
            patch.setattr(module, 'LEAST_CPU_LIMIT', 4.0)
        with asked(tmp_path_factory.mktemp('suites'), list(STEPS.values())) as found:
            yield found


@pytest.mark.jvm
@pytest.mark.parametrize('number', range(len(STEPS)), ids=[f'{n}-{s}' for n, s in enumerate(STEPS)])
def test_a_suite_is_told(place: Asked, number: int) -> None:
    answer, cpu_seconds = place.suites.answer(place.workshop, place.builds[number])
    assert answer.startswith(tuple(STEPS)[number])
    assert (answer == tuple(STEPS)[number]) is (not answer.startswith('unbuildable'))
    assert (cpu_seconds > 0) is (not answer.startswith('unbuildable'))


@pytest.mark.jvm
def test_a_suite_is_run_once(place: Asked) -> None:
    first, _ = place.suites.answer(place.workshop, place.builds[0])
    assert place.suites.answer(place.workshop, place.builds[0]) == (first, 0.0)


@pytest.mark.jvm
def test_a_budget_that_does_not_last_says_nothing(place: Asked) -> None:
    spinning = place.builds[list(STEPS).index('timeout 1 of 4')]
    # What compiling takes is more than that, whatever the machine.
    answer, cpu_seconds = place.answer(spinning, 0.001)
    assert answer == 'not_run: budget'
    assert cpu_seconds > 0
    assert place.answer(place.builds[0], 0.0)[0] == 'not_run: budget'


@pytest.mark.jvm
def test_what_is_broken_is_told_though_the_rest_was_not_run(place: Asked) -> None:
    """The module that comes first uses all that there is; what was found of it stands."""
    kills = place.builds[1]
    _, needed = place.answer(kills, BUDGET)
    answer, _ = place.answer(kills, needed * 0.3)
    assert answer.startswith('broken ')
    assert ', not run ' in answer


@pytest.mark.parametrize(
    ('answer', 'verdict'),
    [
        ('pass', True),
        ('pass but for environment 2 of 120', True),
        ('broken 1 of 2', False),
        ('none passes of 4', False),
        ('unbuildable: no pass', False),
        ('timeout 1 of 2', None),
        ('not_run: budget', None),
        (None, None),
    ],
)
def test_an_answer_passes_or_not_or_says_nothing(answer: str | None, verdict: bool | None) -> None:
    assert passes(answer) is verdict
