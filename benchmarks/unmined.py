"""What is known of a walk's pairs that were not mined: how many methods the filter would let through."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from coevo.git.repository import Repository
from coevo.model.drops import Drop
from coevo.model.profiles import Profile
from coevo.model.records import Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Stage
from coevo.storage.store import WalkRecord
from filters import filter_candidates
from flows.rows import build_pair_row
from miners.diffs.changes import diff_pair
from miners.walks.pairs import Route, visit_route

NOT_RUN = 'not_run'


def filtered(
    repository: Repository, record: WalkRecord, profile: Profile, mined: Collection[str]
) -> Iterator[Segment]:
    """Pairs that are not among `mined`, with what is to be run dropped as `not_run` at the label."""
    known = record.repository
    route = Route(
        repo=known.repo,
        language='java',
        walk=known.walk,
        ref=known.head,
        commits=profile.commits,
        until=known.cutoff,
    )
    wanted = {pair_id for _, pair_id in record.pairs}
    pairs = {pair.pair_id: pair for pair in visit_route(repository, route).pairs}
    assert pairs.keys() == wanted, f'the walk of {known.repo} is another one now'
    for pair in pairs.values():
        if pair.pair_id not in mined:
            yield _sieved(repository, pair, profile)


def _sieved(repository: Repository, pair: Pair, profile: Profile) -> Segment:
    change = diff_pair(repository, pair)
    kept, drops = filter_candidates(change, profile)
    candidates = len(kept) + sum(drop.stage is Stage.FILTER for drop in drops)
    waiting = (
        Drop.make_at_stage(Stage.LABEL, pair, compute_candidate_id(pair, item), NOT_RUN)
        for item in kept
    )
    return Segment(
        key='',
        pair=build_pair_row(change, None, candidates=candidates, sandbox=''),
        methods=(),
        cells=(),
        drops=(*drops, *waiting),
        environments=(),
        timings=(),
    )
