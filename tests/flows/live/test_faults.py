"""A short version of the campaign of faults under a server (`python -m benchmarks.faults prefect`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults import disturbed_under_prefect
from benchmarks.faults import undisturbed
from tests.faults.chain import staged
from tests.faults.prefect_scene import hub


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_what_a_power_cut_leaves_does_not_show(tmp_path: Path) -> None:
    """Server, worker and flow are killed at once; the reaper has the run done again."""
    with staged(tmp_path) as stage, hub(tmp_path / 'live') as server:
        outcome = disturbed_under_prefect(server, undisturbed(stage), 'prefect_kill_all', 'cut')
    assert outcome.survived, outcome
