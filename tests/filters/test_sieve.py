from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from coevo.model.profiles import Profile, load_profile
from coevo.model.reasons import EXPLANATIONS, OWNERS, DiffReason, Reason
from coevo.model.records import Candidate, Commit, Pair, TestMethod, compute_candidate_id
from coevo.model.words import MethodChange, Stage, Walk
from filters import (
    CHANGE_FILTERS,
    FILTERS,
    METHOD_FILTERS,
    PAIR_FILTERS,
    filter_candidates,
    filter_pair,
    gap,
    repair_only,
    sample,
)
from filters.reasons import FILE, render_reasons_toml

START = datetime(2020, 1, 1, tzinfo=UTC)
PROFILE = replace(load_profile('whole'), unchanged_sample=10, unchanged_limit=20)


@dataclass(frozen=True, kw_only=True)
class Difference:
    pair: Pair
    source_changed: bool = True
    tests_changed: bool = True
    candidates: tuple[Candidate, ...] = ()
    reason: DiffReason | None = None


def pair(hours: float | None = 1, walk: Walk = Walk.PARENTS, new: str = 'b') -> Pair:
    later = None if hours is None else START + timedelta(hours=hours)
    return Pair(
        repo='local/x',
        language='java',
        walk=walk,
        old=Commit(rev='a', parents=(), author_date=START, committer_date=START),
        new=Commit(rev=new, parents=(), author_date=later, committer_date=later),
        old_is_ancestor=True,
    )


def candidates(change: MethodChange, count: int) -> tuple[Candidate, ...]:
    methods = [
        TestMethod(module='.', test_file='T.java', test_class='T', test_method=f'{change}{i}')
        for i in range(count)
    ]
    return tuple(
        Candidate(
            change=change,
            old=None if change is MethodChange.INSERTED else method,
            new=None if change is MethodChange.DELETED else method,
            old_source=None,
            new_source=None,
        )
        for method in methods
    )


ALL = tuple(c for change in MethodChange for c in candidates(change, 30))


def kept(change: Difference, profile: Profile = PROFILE) -> Counter[MethodChange]:
    """What stays, by change, after the first law: nothing is lost, and once only."""
    left, drops = filter_candidates(change, profile)
    ids = {compute_candidate_id(change.pair, candidate) for candidate in change.candidates}
    assert len(ids) == len(change.candidates)
    if not any(drop.stage is Stage.PAIR for drop in drops):
        assert ids == {compute_candidate_id(change.pair, c) for c in left} | {
            drop.key for drop in drops
        }
        assert len(ids) == len(left) + len(drops)
    assert all(drop.unit == drop.stage.unit for drop in drops)
    return Counter(candidate.change for candidate in left)


def test_pair_with_source_and_test_changes_keeps_a_limited_unchanged_sample() -> None:
    change = Difference(pair=pair(), candidates=ALL)
    expected = Counter({**dict.fromkeys(MethodChange, 30), MethodChange.UNCHANGED: 20})
    assert kept(change) == expected
    drops = filter_candidates(change, PROFILE)[1]
    assert {drop.reason for drop in drops} == {sample.Reason.NOT_SAMPLED}


def test_pair_with_source_and_test_changes_keeps_all_without_a_limit() -> None:
    change = Difference(pair=pair(), candidates=ALL)
    assert kept(change, replace(PROFILE, unchanged_limit=None)) == dict.fromkeys(MethodChange, 30)


def test_context_changed_tests_are_kept_up_to_their_limit() -> None:
    change = Difference(pair=pair(), candidates=ALL)
    limited = replace(PROFILE, context_limit=10)
    assert kept(change, limited)[MethodChange.CONTEXT_CHANGED] == 10
    assert kept(change, limited)[MethodChange.CHANGED] == 30
    narrower, wider = (
        set(filter_candidates(change, replace(PROFILE, context_limit=limit))[0])
        for limit in (3, 10)
    )
    assert narrower < wider, 'a smaller sample is the beginning of the larger one'
    lost = {drop.change: drop.reason for drop in filter_candidates(change, limited)[1]}
    assert lost[MethodChange.CONTEXT_CHANGED] == sample.Reason.NOT_SAMPLED


def test_pair_with_source_changes_only_keeps_a_sample_of_unchanged_tests() -> None:
    change = Difference(
        pair=pair(), tests_changed=False, candidates=candidates(MethodChange.UNCHANGED, 30)
    )
    assert kept(change) == {MethodChange.UNCHANGED: 10}


def test_pair_with_test_changes_only_keeps_changed_tests() -> None:
    some = tuple(c for c in ALL if c.change is not MethodChange.UNCHANGED)
    change = Difference(pair=pair(), source_changed=False, candidates=some)
    assert kept(change) == {MethodChange.CHANGED: 30}
    assert {drop.reason for drop in filter_candidates(change, PROFILE)[1]} == {
        repair_only.Reason.NO_SOURCE_CHANGE
    }


def test_pair_without_code_changes_is_dropped() -> None:
    change = Difference(
        pair=pair(),
        source_changed=False,
        tests_changed=False,
        reason=DiffReason.COMMENTS_OR_FORMATTING_ONLY,
    )
    left, (drop,) = filter_candidates(change, PROFILE)
    assert left == ()
    assert (drop.stage, drop.unit, drop.key) == (Stage.PAIR, 'pair', change.pair.pair_id)
    assert drop.reason == 'comments_or_formatting_only'


def test_unchanged_sample_depends_on_the_pair_and_not_on_order() -> None:
    some = candidates(MethodChange.UNCHANGED, 30)
    change = Difference(pair=pair(), tests_changed=False, candidates=some)
    drawn = set(filter_candidates(change, PROFILE)[0])
    turned = replace(change, candidates=tuple(reversed(some)))
    assert set(filter_candidates(turned, PROFILE)[0]) == drawn
    other = replace(change, pair=pair(new='c'))
    assert set(filter_candidates(other, PROFILE)[0]) != drawn


@pytest.mark.parametrize(
    ('hours', 'reason'),
    [
        (12, None),
        (12.01, gap.Reason.GAP_TOO_LONG),
        (0, None),
        (-0.5, gap.Reason.GAP_NEGATIVE),
        (None, gap.Reason.GAP_UNKNOWN),
    ],
)
def test_commit_gap_is_limited_for_the_states_walk_only(
    hours: float | None, reason: str | None
) -> None:
    profile = load_profile('testevo')
    drop = filter_pair(pair(hours, Walk.STATES), profile)
    assert (drop and drop.reason) == reason
    assert filter_pair(pair(hours, Walk.PARENTS), profile) is None
    left, drops = filter_candidates(
        Difference(pair=pair(hours, Walk.STATES), candidates=ALL), profile
    )
    assert bool(left) == (reason is None)
    if reason is not None:
        assert [d.reason for d in drops] == [reason]


def test_no_gap_is_too_long_without_a_limit() -> None:
    profile = replace(load_profile('testevo'), gap_hours=None)
    assert filter_pair(pair(1e4, Walk.STATES), profile) is None


def test_every_reason_of_the_sieve_belongs_to_one_filter() -> None:
    stages = {Stage.PAIR: (*PAIR_FILTERS, *CHANGE_FILTERS), Stage.FILTER: tuple(METHOD_FILTERS)}
    # Found when a pair is read or built.
    read = [Reason.UNREADABLE_OBJECT, Reason.OBJECT_MISSING, Reason.RUNTIME_MISSING]
    elsewhere = {Stage.PAIR: read, Stage.FILTER: []}
    for stage, names in stages.items():
        reasons = [reason for name in names for reason in FILTERS[name].Reason]
        assert sorted([*reasons, *elsewhere[stage]]) == sorted(
            r for r, owner in OWNERS.items() if owner is stage
        )


def test_every_drop_reason_has_an_explanation() -> None:
    reasons = [reason for filter_ in FILTERS.values() for reason in filter_.Reason]
    assert all(EXPLANATIONS[reason] for reason in reasons)


def test_coevo_knows_the_reasons_that_the_filters_state() -> None:
    """If not: make docs."""
    assert render_reasons_toml() == FILE.read_text(encoding='utf-8')


def test_a_reason_keeps_its_place_and_outlives_its_filter() -> None:
    known = {Stage.FILTER: {'of_a_former_filter': 'It was so.', 'not_sampled': 'An old sentence.'}}
    stages = tomllib.loads(render_reasons_toml(known))
    assert list(stages) == ['pair', 'filter', 'track']
    (former, sampled, *others) = stages['filter'].items()
    assert former == ('of_a_former_filter', 'It was so.')
    assert sampled == ('not_sampled', sample.Reason.NOT_SAMPLED.clause)
    assert {name for name, _ in others} == {
        reason for filter_ in METHOD_FILTERS.values() for reason in filter_.Reason
    } - {'not_sampled'}
