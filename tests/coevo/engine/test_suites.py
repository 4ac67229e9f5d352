"""All tests of a revision on their own code: what is told, once, and within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from coevo.engine.suites import SuiteAnswerCache, TestsOf, has_passed
from coevo.git.repository import Repository
from coevo.languages.engine import BuiltPair, RunSettings
from coevo.model.words import Walk
from miners.diffs.siblings import group_methods_by_module
from miners.walks.pairs import Route, visit_route
from tests.languages import toy, toys
from tests.languages.table import known_toy
from tests.languages.toy import running
from tests.languages.toys import in_module
from tests.projects import NAME, write

BUDGET = 300.0
TILL = toys.source('Till', 'last: 1')
RINGS = 'rings: is Till.last 1'
HELPER = 'main/test_helper.toy'


def of_till(*tests: str) -> dict[str, str]:
    return in_module('main', toys.tests('Till', RINGS, *tests))


def keeping(*tests: str) -> dict[str, str]:
    return in_module('more', toys.tests('Keep', *tests))


KEEPS = keeping('keeps: pass', 'holds: pass')

# Each step is a revision; what one has broken the next one mends.
STEPS = {
    'pass': {
        **toys.BUILD,
        **in_module('main', toys.BUILD),
        **in_module('more', toys.BUILD),
        **in_module('main', TILL),
        **of_till('skips: skip'),
        **KEEPS,
    },
    'broken 2 of 5': of_till('errs: throw Trouble', 'compiles: call Till.none'),
    'broken 1 of 4, environment 1': of_till('fails: fail', 'phones: dial') | keeping('keeps: pass'),
    'pass but for environment 1 of 3': of_till('phones: dial'),
    'broken 1 of 4': of_till('kills: exit 7', 'goesOn: pass'),
    'timeout 1 of 4': of_till('spins: hang', 'goesOn: pass'),
    'uncompilable: main': {
        **of_till(),
        **in_module('main', toys.tests('Helper', '_none: call Till.none')),
    },
    'none passes of 1': {
        HELPER: None,
        'main/test_till.toy': None,
        **keeping('keeps: skip'),
    },
    'unbuildable: more: ': {**of_till(), 'more/toy.build': 'build: exit 1\n'},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The builds of each step, and what answers for one under a budget, with its CPU seconds."""

    built: tuple[BuiltPair, ...]
    tests: TestsOf
    suites: SuiteAnswerCache

    def answer(self, number: int, seconds: float | None = None) -> tuple[str, float]:
        """Of one step, found once; within a budget of its own, found again."""
        suites = self.suites if seconds is None else SuiteAnswerCache(self.tests, seconds)
        return suites.get_answer_and_cpu_seconds_spent(self.built[number], self.built[number].new)


@contextmanager
def asked(folder: Path, steps: list[Mapping[str, str | bytes | None]]) -> Iterator[Asked]:
    repository = Repository(write(folder / 'repository', steps) / '.git')
    pairs = visit_route(
        repository, Route(repo=NAME, language=toy.NAME, walk=Walk.PARENTS, ref='HEAD')
    ).pairs[::-1]
    tests = partial(group_methods_by_module, repository, language=toy.NAME)
    with ExitStack() as stack:
        builder = toy.make_engine(
            RunSettings(repository=repository, sandbox='bubblewrap'), stack
        ).make_builder()
        stack.callback(builder.close)
        first = replace(pairs[0], new=pairs[0].old)
        built = tuple(builder.build(pair) for pair in (first, *pairs))
        yield Asked(built=built, tests=tests, suites=SuiteAnswerCache(tests, BUDGET))


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, 'SECONDS', 1.0)
        with known_toy(), asked(tmp_path_factory.mktemp('suites'), list(STEPS.values())) as found:
            yield found


@pytest.mark.sampled(4)
@pytest.mark.parametrize('number', range(len(STEPS)), ids=[f'{n}-{s}' for n, s in enumerate(STEPS)])
def test_suite_answer_summarises_the_outcomes_of_all_tests(place: Asked, number: int) -> None:
    answer, cpu_seconds = place.answer(number)
    assert answer.startswith(tuple(STEPS)[number])
    assert (answer == tuple(STEPS)[number]) is (not answer.startswith('unbuildable'))
    assert (cpu_seconds > 0) is (not answer.startswith('unbuildable'))


def test_suite_of_a_revision_is_run_only_once(place: Asked) -> None:
    first, _ = place.answer(0)
    assert place.answer(0) == (first, 0.0)


def test_suite_beyond_its_budget_is_answered_as_not_run(place: Asked) -> None:
    spinning = list(STEPS).index('timeout 1 of 4')
    # What a process takes is more than that, whatever the machine.
    answer, cpu_seconds = place.answer(spinning, 0.001)
    assert answer == 'not_run: budget'
    assert cpu_seconds > 0
    assert place.answer(0, 0.0)[0] == 'not_run: budget'


def test_broken_tests_are_reported_even_if_the_budget_stops_the_rest(place: Asked) -> None:
    """The module that comes first uses all that there is; what was found of it stands."""
    _, needed = place.answer(1, BUDGET)
    answer, _ = place.answer(1, needed * 0.1)
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
def test_suite_answer_means_passed_broken_or_unknown(
    answer: str | None, verdict: bool | None
) -> None:
    assert has_passed(answer) is verdict
