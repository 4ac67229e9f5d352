"""Repairs with and without what speaks for the test's own fault, run for real on two dates."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from coevo.engine.evidence import decide
from coevo.engine.execution import evaluate
from coevo.engine.repairs import RepairKind
from coevo.engine.repairs import guard_repairs
from coevo.engine.repairs import repair_kind
from coevo.engine.results import Step
from coevo.engine.results import Wanted
from coevo.git.repository import Repository
from coevo.languages.java.maven import PairWorkshop
from coevo.languages.java.maven import Site
from coevo.languages.java.maven import Yards
from coevo.model.identity import method_id
from coevo.model.quality import RepairGuard
from coevo.model.records import Cause
from coevo.model.records import Label
from coevo.model.records import Outcome
from coevo.model.records import Walk
from coevo.sandboxes import libfaketime
from miners.diffs.changes import diff
from miners.diffs.siblings import siblings
from miners.walks.pairs import Route
from miners.walks.pairs import visit
from tests.once import Once
from tests.projects import NAME
from tests.projects import junit
from tests.projects import pom
from tests.projects import source
from tests.projects import write

YEAR = 'int year = java.time.Year.now().getValue();'
# The commits are of 2024.
OLD = {
    **junit('FaultTest', 'adds: assertEquals(3, 1 + 1);', 'stands: assertEquals(1, Till.last());'),
    **junit('TornTest', 'torn: assertEquals(1, Till.last()'),
    **junit('OldYearTest', f'expires: {YEAR} assertTrue("" + year, year <= 2024);'),
    **junit('NewYearTest', 'begins: fail("not yet");'),
}
NEW = {
    **junit('FaultTest', 'adds: assertEquals(2, 1 + 1);', 'stands: assertEquals(1, Till.last());'),
    **junit('TornTest', 'torn: assertEquals(1, Till.last());'),
    **junit('OldYearTest', f'expires: {YEAR} assertTrue("" + year, year >= 2024);'),
    **junit('NewYearTest', f'begins: {YEAR} assertTrue("" + year, year > 2024);'),
}
LONELY = 'alone: assertEquals({}, 1 + 1);'


def below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f'{folder}/{path}': text for path, text in files.items()}


def module(name: str) -> dict[str, str]:
    text = pom().replace('<artifactId>shop<', f'<artifactId>{name}<')
    return below(name, {'pom.xml': text})


PARENT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>parent</artifactId><version>1</version>
  <packaging>pom</packaging>
  <modules><module>main</module><module>lone</module></modules>
</project>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Causes and guards by test method; `no_clock` are the guards of a machine without one."""

    causes: dict[str, Cause | None]
    guards: dict[str, RepairGuard]
    no_clock: dict[str, RepairGuard]
    runs: int


@pytest.fixture(scope='module')
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    folder = tmp_path_factory.mktemp('repairs')
    steps = [
        {
            'pom.xml': PARENT,
            **module('main'),
            **module('lone'),
            **below('main', source('Till', '    public static int last() { return 1; }\n')),
            **below('main', OLD),
            **below('lone', junit('LonelyTest', LONELY.format(3))),
        },
        {**below('main', NEW), **below('lone', junit('LonelyTest', LONELY.format(2)))},
    ]
    repository = Repository(write(folder / 'repository', steps) / '.git')
    (pair,) = visit(
        repository, Route(repo=NAME, language='java', walk=Walk.PARENTS, ref='HEAD')
    ).pairs
    change = diff(repository, pair)
    wanted = [Wanted(method_id=method_id(pair, one), candidate=one) for one in change.candidates]
    names = {item.method_id: item.candidate.method.test_method for item in wanted}
    near = partial(siblings, repository, pair.old.rev)
    with ExitStack() as stack:
        site = Site(repository, sandbox='bubblewrap', stack=stack)
        workshops = [PairWorkshop(Yards(site)) for _ in range(2)]
        for workshop in workshops:
            stack.callback(workshop.close)
        evaluation = evaluate(Once(workshops[0]), pair, wanted)
        found = {
            item.method_id: decide(item.candidate, item.method_id, evaluation, build_changed=False)
            for item in wanted
        }
        repairs = [item for item in wanted if found[item.method_id].label is Label.REPAIR]
        guards = guard_repairs(workshops[0], pair, evaluation, repairs, wanted, near)
        runs = evaluation.cost.counts[Step.RUN_FOR_GUARD]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(libfaketime, 'PLACES', ())
            workshops[1].build(pair)
            no_clock = guard_repairs(workshops[1], pair, evaluation, repairs, wanted, near)
    return Guarded(
        causes={names[item.method_id]: found[item.method_id].cause for item in repairs},
        guards={names[id_]: guard for id_, guard in guards.items()},
        no_clock={names[id_]: guard for id_, guard in no_clock.items()},
        runs=runs,
    )


F, P, C = Outcome.FAIL, Outcome.PASS, Outcome.COMPILE_ERROR


@pytest.mark.jvm
@pytest.mark.parametrize(
    ('name', 'cause', 'sibling', 'old', 'new'),
    [
        ('adds', Cause.TEST, 'shop.FaultTest#stands', F, P),
        ('torn', Cause.SYNTAX, 'shop.FaultTest#stands', C, P),
        ('expires', Cause.TEST, 'shop.FaultTest#stands', P, P),
        ('begins', Cause.TEST, 'shop.FaultTest#stands', F, F),
        ('alone', Cause.TEST, None, F, P),
    ],
)
def test_a_repair_is_guarded(
    guarded: Guarded, name: str, cause: Cause, sibling: str | None, old: Outcome, new: Outcome
) -> None:
    assert guarded.causes[name] is cause
    assert guarded.guards[name] == RepairGuard(
        sibling=sibling, clock_told_cold=old, clock_tnew_cnew=new
    )


@pytest.mark.jvm
def test_without_a_clock_nothing_but_the_compiler_is_known(guarded: Guarded) -> None:
    told = {name: guard.clock_told_cold for name, guard in guarded.no_clock.items()}
    assert told == {**dict.fromkeys(guarded.guards, None), 'torn': C}
    assert {guard.clock_tnew_cnew for guard in guarded.no_clock.values()} == {None}
    assert guarded.no_clock['adds'].sibling == 'shop.FaultTest#stands'


@pytest.mark.jvm
def test_guards_share_processes(guarded: Guarded) -> None:
    """One for the siblings, one for each module and end, and one again for what the clock turned."""
    assert guarded.runs == 1 + 4 + 2


@pytest.mark.parametrize(
    ('label', 'cause', 'kind'),
    [
        (Label.REPAIR, Cause.SYNTAX, RepairKind.SYNTAX),
        (Label.REPAIR, Cause.TEST, RepairKind.EXECUTION),
        (Label.REPAIR, Cause.ENVIRONMENT, None),
        (Label.UPDATE, Cause.PRODUCTION, None),
        (None, None, None),
    ],
)
def test_the_kinds_of_tam_eval(
    label: Label | None, cause: Cause | None, kind: RepairKind | None
) -> None:
    assert repair_kind(label, cause) is kind
