"""Say which pairs of a repository a run would execute, without executing anything.

The commits are walked and the pairs compared and filtered as `flows.pipeline.mine` does it, with
the same functions. Nothing but the clone is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener
from coevo.model.profiles import Profile
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.words import MethodChange, Walk
from coevo.storage.store import Partition, Store
from filters import filter_candidates
from flows.clones import open_clone
from flows.mining import compute_segment_key, list_missing_objects
from flows.missing_pairs import list_pairs_kept_stale
from flows.options import MineOptions
from flows.pipeline import build_mining_run, build_tools, list_routes
from flows.segment_keys import compute_basis
from miners.diffs.changes import diff_pair
from miners.walks.pairs import Route, Visit, visit_route


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlan:
    """The plan for a pair: whether it would run, and why not.

    tests     the number of tests that would be run, by what happened to them
    reasons   the number of drops before anything is run, by reason; the pair itself is one of them
              if it is dropped whole
    is_known  whether the store has the results, so that nothing is run
    is_deferred  whether the pair has more tests to run than `most_tests` allows, so that it waits
    """

    pair: Pair
    tests: Mapping[MethodChange, int]
    reasons: Mapping[str, int]
    is_known: bool = False
    is_deferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningPlan:
    """The plan for one language of a repository, pairs newest first.

    walk_reasons  the number of visited commits that end no pair, by reason
    """

    repo: str
    language: str
    visited: int
    walk_reasons: Mapping[str, int]
    pairs: tuple[PairPlan, ...]

    @property
    def pairs_to_run(self) -> tuple[PairPlan, ...]:
        """The pairs with a test to run, whether or not the store has their results."""
        return tuple(plan for plan in self.pairs if plan.tests)

    @property
    def pairs_to_run_per_commit(self) -> float:
        """The number of pairs with a test to run for each visited commit; 0 without commits."""
        return len(self.pairs_to_run) / self.visited if self.visited else 0.0


def plan_mining(
    options: MineOptions, listener: Listener = SILENT, *, asks_store: bool = True
) -> tuple[MiningPlan, ...]:
    """Return what a run with these options would do, for each language of the repository.

    Under the walk `window` a run may leave out more, since it builds nearer states to find these.

    asks_store  whether to find out which pairs the store knows

    Raises: Fatal if nothing can be mined, or for the walk `single_revision`; Transient for the
    network.
    """
    if options.walk is Walk.SINGLE_REVISION:
        raise Fatal(
            'what is run of single revisions is known only once they are built: leave out --dry, or '
            'the family'
        )
    with open_clone(options, listener) as (clone, repository):
        plans = []
        for route in list_routes(options, clone, repository):
            seen = visit_route(repository, route)
            known = _find_known_pairs(options, repository, route, seen) if asks_store else ()
            plans.append(
                MiningPlan(
                    repo=route.repo,
                    language=route.language,
                    visited=len(seen.visited),
                    walk_reasons=Counter(str(drop.reason) for drop in seen.drops),
                    pairs=tuple(_plan_pairs(options, repository, seen, known, listener)),
                )
            )
        return tuple(plans)


def _find_known_pairs(
    options: MineOptions, repository: Repository, route: Route, seen: Visit
) -> frozenset[str]:
    """Return the ids of the pairs that the store has with the present code and options.

    With `keep_stale` these are all pairs that it has.
    """
    store = Store(options.store)
    partition = Partition(repo=route.repo, language=route.language, walk=route.walk)
    keys = store.list_keys(partition)
    if not keys:
        return frozenset()
    if options.keep_stale:
        return list_pairs_kept_stale(options, store, partition, repository, seen.pairs, SILENT)
    language = LANGUAGES[route.language]
    with closing(language.make_refactoring_finder()) as refactorings:
        run = build_mining_run(
            options,
            build_tools(options, repository, language, refactorings),
            compute_basis(options.profile, route.language),
            store.find_walk(partition),
            seen.pairs,
        )
        return frozenset(
            pair.pair_id for pair in seen.pairs if compute_segment_key(run, pair) in keys
        )


def _plan_pairs(
    options: MineOptions,
    repository: Repository,
    seen: Visit,
    known: Collection[str],
    listener: Listener,
) -> Iterator[PairPlan]:
    """Yield the plan of each pair, newest first as in the walk."""
    for number, pair in enumerate(seen.pairs, start=1):
        plan = _plan_pair(options.profile, repository, pair)
        most = options.most_tests
        yield replace(
            plan,
            is_known=pair.pair_id in known,
            is_deferred=most is not None and sum(plan.tests.values()) > most,
        )
        listener.step('pairs', number, len(seen.pairs))


def _plan_pair(profile: Profile, repository: Repository, pair: Pair) -> PairPlan:
    if pair.walk is Walk.SINGLE_REVISION and list_missing_objects(repository, pair):
        return _plan_dropped_pair(pair, Reason.OBJECT_MISSING)
    try:
        change = diff_pair(repository, pair, profile.gate)
    except CorruptObject as error:
        is_lacked = error.name in repository.object_ids_absent_at_source
        return _plan_dropped_pair(
            pair, Reason.OBJECT_MISSING if is_lacked else Reason.UNREADABLE_OBJECT
        )
    candidates, drops = filter_candidates(change, profile)
    return PairPlan(
        pair=pair,
        tests=Counter(candidate.change for candidate in candidates),
        reasons=Counter(str(drop.reason) for drop in drops),
    )


def _plan_dropped_pair(pair: Pair, reason: Reason) -> PairPlan:
    return PairPlan(pair=pair, tests={}, reasons={str(reason): 1})


def rank_plans(plans: Sequence[MiningPlan]) -> tuple[MiningPlan, ...]:
    """Return plans by their rate of pairs to run, highest first; equal ones by name."""
    return tuple(
        sorted(plans, key=lambda plan: (-plan.pairs_to_run_per_commit, plan.repo, plan.language))
    )
