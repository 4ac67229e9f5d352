"""A short version of the campaign of faults under a server (`python -m benchmarks.faults prefect`)."""

from __future__ import annotations

import pytest

from benchmarks.faults import run_disturbed_under_prefect, run_undisturbed
from tests.faults.chain import staged
from tests.faults.prefect_scene import hub
from tests.folders import open_folder


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_power_cut_leaves_no_trace_in_the_results() -> None:
    """Server, worker and flow are killed at once; the reaper has the run done again."""
    # The sandbox runs as another user, to whom pytest's own folders are closed.
    with open_folder() as folder, staged(folder) as stage, hub(folder / 'live') as server:
        outcome = run_disturbed_under_prefect(
            server, run_undisturbed(stage), 'prefect_kill_all', 'cut'
        )
    assert outcome.survived, outcome
