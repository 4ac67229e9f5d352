from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import make_archive

import pytest

from coevo.evaluation.assignments import assignments
from coevo.evaluation.measuring.gold import gold_methods
from coevo.model.errors import Transient
from coevo.snapshots.snapshot import attach
from tests import snapshots
from tests.web_server import Site


@pytest.mark.parametrize('packed', [False, True])
def test_threads_read_gold_of_one_open_snapshot(tmp_path: Path, packed: bool) -> None:
    place = snapshots.make(tmp_path, 1, 2, 3)
    if packed:
        place = Path(make_archive(str(tmp_path / 'packed'), 'zip', place))
    every = assignments(place) * 20
    opened = attach((place,))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: gold_methods(opened, one), every))
    for one, methods in zip(every, found, strict=True):
        assert methods.keys() == {target.name for target in one.targets}
        for method in methods.values():
            mine = {row.method_id for row in (*method.mutants, *method.reversals)}
            assert mine == {method.row.method_id}
            assert method.mutants
            assert method.reversals


def test_an_outage_while_it_is_read_is_no_bug_and_may_pass(tmp_path: Path) -> None:
    one, *_ = assignments(snapshots.make(tmp_path, 1))
    site = Site(tmp_path)
    try:
        opened = attach((f'{site.url}/snapshot',))
        site.broken = 503
        with pytest.raises(Transient, match='the server says 503'):
            gold_methods(opened, one)
        site.broken = 0
        assert gold_methods(opened, one).keys() == {target.name for target in one.targets}
    finally:
        site.close()
