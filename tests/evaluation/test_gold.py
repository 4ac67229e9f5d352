from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import make_archive

import pytest

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.measuring.gold import load_measured_gold
from coevo.model.errors import Transient
from coevo.snapshots.snapshot import attach_snapshots
from tests import snapshots
from tests.web_server import Site


@pytest.mark.sampled(1)
@pytest.mark.parametrize('packed', [False, True])
def test_threads_read_gold_of_one_open_snapshot(tmp_path: Path, packed: bool) -> None:
    place = snapshots.make(tmp_path, 1, 2, 3)
    if packed:
        place = Path(make_archive(str(tmp_path / 'packed'), 'zip', place))
    every = load_assignments(place) * 20
    opened = attach_snapshots((place,))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: load_measured_gold(opened, one), every))
    for one, methods in zip(every, found, strict=True):
        assert methods.keys() == {target.name for target in one.targets}
        for method in methods.values():
            mine = {row.method_id for row in (*method.mutants, *method.reversals)}
            assert mine == {method.row.method_id}
            assert method.mutants
            assert method.reversals


def test_server_outage_while_gold_is_read_is_transient(tmp_path: Path) -> None:
    one, *_ = load_assignments(snapshots.make(tmp_path, 1))
    site = Site(tmp_path)
    try:
        opened = attach_snapshots((f'{site.url}/snapshot',))
        site.broken = 503
        with pytest.raises(Transient, match='the server says 503'):
            load_measured_gold(opened, one)
        site.broken = 0
        assert load_measured_gold(opened, one).keys() == {target.name for target in one.targets}
    finally:
        site.close()
