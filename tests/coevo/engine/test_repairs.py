"""Repairs with and without what speaks for the test's own fault, run for real on two dates."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import pytest

from coevo.engine.evidence import (
    RepairKind,
    classify_repair,
    decide_candidate,
    run_and_collect_repair_evidence,
)
from coevo.engine.execution import evaluate_pair
from coevo.engine.results import SelectedMethod, Step
from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.model.quality import RepairGuard
from coevo.model.records import compute_candidate_id
from coevo.model.words import BreakageCause, Label, Outcome, Walk
from coevo.sandboxes import clock
from miners.diffs.changes import diff_pair
from miners.diffs.siblings import find_siblings
from miners.walks.pairs import Route, visit_route
from tests.languages import toy, toys
from tests.languages.table import known_toy
from tests.languages.toys import in_module
from tests.projects import NAME, write

# The commits are of 2024.
OLD = {
    **toys.tests('Fault', 'adds: is Till.sum 3', 'stands: is Till.last 1'),
    **toys.tests('Torn', 'torn: is Till.last "1'),
    **toys.tests('OldYear', 'expires: sh test $(date +%Y) -le 2024'),
    **toys.tests('NewYear', 'begins: fail'),
}
NEW = {
    **toys.tests('Fault', 'adds: is Till.sum 2', 'stands: is Till.last 1'),
    **toys.tests('Torn', 'torn: is Till.last 1'),
    **toys.tests('OldYear', 'expires: sh test $(date +%Y) -ge 2024'),
    **toys.tests('NewYear', 'begins: sh test $(date +%Y) -gt 2024'),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Causes and guards by test method; `no_clock` are the guards of a machine without one."""

    causes: dict[str, BreakageCause | None]
    guards: dict[str, RepairGuard]
    no_clock: dict[str, RepairGuard]
    runs: int


@pytest.fixture(scope='module')
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    folder = tmp_path_factory.mktemp('repairs')
    steps = [
        {
            **toys.BUILD,
            **in_module('main', toys.BUILD),
            **in_module('lone', toys.BUILD),
            **in_module('main', toys.source('Till', 'last: 1', 'sum: 2')),
            **in_module('main', OLD),
            **in_module('lone', toys.tests('Lonely', 'alone: is Till.sum 3')),
        },
        {
            **in_module('main', NEW),
            **in_module('lone', toys.tests('Lonely', 'alone: is Till.sum 2')),
        },
    ]
    with known_toy():
        return guarded_in(Repository(write(folder / 'repository', steps) / '.git'))


def guarded_in(repository: Repository) -> Guarded:
    route = Route(repo=NAME, language=toy.NAME, walk=Walk.PARENTS, ref='HEAD')
    (pair,) = visit_route(repository, route).pairs
    change = diff_pair(repository, pair)
    selected = [
        SelectedMethod(method_id=compute_candidate_id(pair, one), candidate=one)
        for one in change.candidates
    ]
    names = {item.method_id: item.candidate.method.test_method for item in selected}
    near = partial(find_siblings, repository, pair.old.rev)
    with ExitStack() as stack:
        engine = toy.make_engine(RunSettings(repository=repository, sandbox='bubblewrap'), stack)
        builders = [engine.make_builder() for _ in range(2)]
        for builder in builders:
            stack.callback(builder.close)
        evaluation = evaluate_pair(builders[0], pair, selected)
        found = {
            item.method_id: decide_candidate(
                item.candidate, item.method_id, evaluation, build_changed=False
            )
            for item in selected
        }
        repairs = [item for item in selected if found[item.method_id].label is Label.REPAIR]
        guards = run_and_collect_repair_evidence(evaluation, repairs, selected, near)
        runs = evaluation.cost.counts[Step.RUN_FOR_GUARD]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, 'PLACES', ())
            other = replace(evaluation, built=builders[1].build(pair))
            no_clock = run_and_collect_repair_evidence(other, repairs, selected, near)
    return Guarded(
        causes={names[item.method_id]: found[item.method_id].cause for item in repairs},
        guards={names[id_]: guard for id_, guard in guards.items()},
        no_clock={names[id_]: guard for id_, guard in no_clock.items()},
        runs=runs,
    )


F, P, C = Outcome.FAIL, Outcome.PASS, Outcome.COMPILE_ERROR


@pytest.mark.parametrize(
    ('name', 'cause', 'sibling', 'old', 'new'),
    [
        ('adds', BreakageCause.TEST, 'shop.FaultTest#stands', F, P),
        ('torn', BreakageCause.SYNTAX, 'shop.FaultTest#stands', C, P),
        ('expires', BreakageCause.TEST, 'shop.FaultTest#stands', P, P),
        ('begins', BreakageCause.TEST, 'shop.FaultTest#stands', F, F),
        ('alone', BreakageCause.TEST, None, F, P),
    ],
)
def test_repair_guard_records_a_passing_sibling_and_outcomes_at_the_commit_date(
    guarded: Guarded,
    name: str,
    cause: BreakageCause,
    sibling: str | None,
    old: Outcome,
    new: Outcome,
) -> None:
    assert guarded.causes[name] is cause
    assert guarded.guards[name] == RepairGuard(
        sibling=sibling, clock_t_old_c_old=old, clock_t_new_c_new=new
    )


def test_repair_guard_without_a_clock_has_no_dated_outcome_but_compile_error(
    guarded: Guarded,
) -> None:
    told = {name: guard.clock_t_old_c_old for name, guard in guarded.no_clock.items()}
    assert told == {**dict.fromkeys(guarded.guards, None), 'torn': C}
    assert {guard.clock_t_new_c_new for guard in guarded.no_clock.values()} == {None}
    assert guarded.no_clock['adds'].sibling == 'shop.FaultTest#stands'


def test_repair_guards_share_processes(guarded: Guarded) -> None:
    """One for the siblings, one for each module and end, and one again for what the clock turned."""
    assert guarded.runs == 1 + 4 + 2


@pytest.mark.parametrize(
    ('label', 'cause', 'kind'),
    [
        (Label.REPAIR, BreakageCause.SYNTAX, RepairKind.SYNTAX),
        (Label.REPAIR, BreakageCause.TEST, RepairKind.EXECUTION),
        (Label.REPAIR, BreakageCause.ENVIRONMENT, None),
        (Label.UPDATE, BreakageCause.PRODUCTION, None),
        (None, None, None),
    ],
)
def test_repair_is_classified_by_the_kinds_of_tam_eval(
    label: Label | None, cause: BreakageCause | None, kind: RepairKind | None
) -> None:
    assert classify_repair(label, cause) is kind
