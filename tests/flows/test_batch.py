"""Repositories of a batch, each in a process of its own: what goes wrong in one stays there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coevo.leases import standings
from coevo.place import place_of
from flows.batch import do
from flows.contained import Limits
from flows.jobs import Job
from flows.jobs import Outcome
from flows.jobs import Result
from flows.jobs import Verb
from tests.flows.mining_runs import PAIRS
from tests.flows.mining_runs import different
from tests.flows.mining_runs import released
from tests.projects import NAME

AMPLE = Limits(seconds=200, memory_gib=4)


def job(repository: Path, store: Path, repo: str = NAME) -> Job:
    return Job(verb=Verb.MINE, source=str(repository), store=str(store), profile='quick', repo=repo)


def record(store: Path, result: Result) -> dict[str, object]:
    assert result.failure is not None
    found: dict[str, object] = json.loads((store / result.failure).read_text())
    return found


@pytest.mark.jvm
def test_a_repository_is_mined_once_and_then_only_what_is_new(
    repository: Path, undisturbed: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    first = do(job(repository, store), AMPLE)
    assert first.outcome is Outcome.DONE
    assert first.mined is not None
    assert (first.mined.executed, first.mined.reused) == (PAIRS, 0)
    assert different(released(store), undisturbed) == []
    assert not standings(place_of(store), 'claims/repositories')
