"""The status of a repository: what is to be done next, and why."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.languages.cells import Build
from coevo.model.reasons import Reason
from coevo.model.words import Stage
from coevo.storage.store import Store
from flows.funnel import MissingRuntime, advise_installation
from flows.mining import describe_missing_runtime
from flows.status import summarise_repositories
from tests import segments

REPO = 'example/pier'


def test_a_repository_whose_pairs_lack_a_runtime_waits_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, one = Store(tmp_path / 'store'), segments.segment(1)
    lost = segments.drop(1, Stage.PAIR, segments.pair_id(1), Reason.RUNTIME_MISSING)
    segments.fill_elsewhere(
        store,
        REPO,
        dataclasses.replace(
            one, pair=segments.pair(1, runtime_missing='21'), methods=(), cells=(), drops=(lost,)
        ),
        # Another runtime that was wanted first is not missed by a pair that was built.
        dataclasses.replace(segments.segment(2), pair=segments.pair(2, runtime_missing='11')),
    )
    (status,) = summarise_repositories(store, [REPO])
    (walk,) = status.walks
    assert walk.lacking == ((MissingRuntime(language='java', release='21'), 1),)
    # Other code makes them stale, which comes first.
    current = dataclasses.replace(walk, stale=(), unmined=0, unmeasured=0)
    status = dataclasses.replace(status, walks=(current,))
    assert status.next_step == 'run `coevo doctor --install jdk-21`, then mine it again'
    assert main(['pipeline', 'status', REPO, '--store', str(tmp_path / 'store')]) == 0
    assert '1 pair dropped for want of jdk-21' in capsys.readouterr().out


def test_only_what_doctor_can_install_is_suggested_for_it() -> None:
    jdk, go, old = (
        MissingRuntime(language=language, release=release)
        for language, release in (('java', '21'), ('go', '1.21'), ('python', '2.7'))
    )
    assert advise_installation([jdk]) == 'run `coevo doctor --install jdk-21`'
    assert advise_installation([old, jdk, go]) == (
        'run `coevo doctor --install jdk-21`, and install Go 1.21 and Python 2.7, which coevo doctor '
        'cannot'
    )


def test_the_detail_of_a_missing_runtime_is_of_the_first_end_that_is_not_built() -> None:
    built, broken, untried = (
        Build(rev='1', failure=failure, modules={}, runtime=runtime)
        for failure, runtime in ((None, '17.0.1'), ('no_such_class', '21.0.1'), ('missing', ''))
    )
    for ends in ((built, broken), (broken, built), (untried, broken)):
        told = describe_missing_runtime('JDK', '11', ends)
        assert told == 'jdk 11; with 21.0.1: no_such_class'
    assert describe_missing_runtime('JDK', '11', (built, untried)) == 'jdk 11'
