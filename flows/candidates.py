"""Which repositories a scheduled run takes, and where they are cloned from, by what the store knows."""

from __future__ import annotations

from coevo.storage.place import Root
from flows.batches.jobs import Verb
from flows.crawling.crawls import latest_kept
from flows.validations import latest_validation


def names(store: Root, verb: Verb) -> tuple[str, ...]:
    """All candidates of the latest crawls to be validated; those that proved valid to be mined."""
    kept = [candidate.repo for candidate in latest_kept(store)]
    return tuple(repo for repo in kept if verb is Verb.VALIDATE or _valid(store, repo))


def sources(store: Root) -> dict[str, str]:
    """Where to clone each candidate from, by its name in the data."""
    return {candidate.repo: candidate.clone_url for candidate in latest_kept(store)}


def _valid(store: Root, repo: str) -> bool:
    found = latest_validation(store, repo)
    return found is not None and found.valid
