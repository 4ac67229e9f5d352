"""Tasks are measured after they are labelled: at once, or by a later pass with equal rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.profiles import Profile, load_profile
from coevo.model.segment import MeasureRecord, Segment
from coevo.model.words import Track
from coevo.snapshots.verification import verify_snapshot
from coevo.storage import measures
from coevo.storage.store import Store
from flows import cohorts, measure_pass
from flows.measure_pass import MeasureOptions, MeasureReport, measure
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from flows.status import summarise_repositories
from tests.flows.mining_runs import different
from tests.languages import toys
from tests.projects import NAME, options, write

pytestmark = pytest.mark.usefixtures('toy')

PROFILE = load_profile('default')

STEPS = [
    {
        **toys.BUILD,
        **toys.source('Till', f'price: {price}', 'stays: 3'),
        **toys.tests('Till', f'follows: is Till.price {price}', 'stays: is Till.stays 3'),
    }
    for price in (1, 2, 3)
]


@pytest.fixture(scope='module')
def repository(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('shop') / 'repository', STEPS)


@pytest.fixture(scope='module')
def at_once(repository: Path) -> Path:
    """A store whose tasks were measured with the builds by which they were labelled."""
    store = repository.with_name('at_once')
    report = mine(make_options(repository, store))
    assert report.tasks == 2
    return store


@pytest.fixture(scope='module')
def waiting(repository: Path) -> Path:
    """A store whose tasks wait, which no test changes."""
    store = repository.with_name('waiting')
    mine(make_options(repository, store, measures=False))
    return store


@pytest.fixture
def labelled(waiting: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(waiting, tmp_path / 'store'))


def make_options(
    repository: Path, store: Path, *, measures: bool = True, profile: Profile = PROFILE
) -> MineOptions:
    return replace(options(repository, store, profile=profile), measures=measures)


def load_records(store: Path) -> list[MeasureRecord]:
    """Return the measures of a store without their seconds."""
    opened = Store(store)
    (partition,) = opened.list_partitions()
    names = measures.find_latest_measures(opened.storage, partition).values()
    records = (measures.load_measures(opened.storage, partition, name) for name in names)
    return [replace(record, timings=()) for record in records if record is not None]


def load_joined(store: Path) -> Iterator[Segment]:
    opened = Store(store)
    (partition,) = opened.list_partitions()
    return measures.load_measured_segments(opened, partition)


def count_unmeasured(store: Path) -> int:
    (status,) = summarise_repositories(Store(store), [NAME])
    return sum(walk.unmeasured for walk in status.walks)


def release(store: Path) -> Path:
    snapshot = store.with_name(f'{store.name}-snapshot')
    publish_release(ReleaseOptions(store=store, snapshot=snapshot))
    return snapshot


def test_later_pass_gives_the_measures_that_mining_gives_at_once(
    at_once: Path, labelled: Path
) -> None:
    assert load_records(labelled) == []
    assert count_unmeasured(labelled) == 2
    assert measure(MeasureOptions(store=labelled)).measured == 2
    assert load_records(labelled) == load_records(at_once)
    assert count_unmeasured(labelled) == 0
    assert different(release(labelled), release(at_once)) == []


def test_measuring_changes_no_segment(at_once: Path, labelled: Path) -> None:
    def load_plain(store: Path) -> list[Segment]:
        opened = Store(store)
        (partition,) = opened.list_partitions()
        return [replace(segment, timings=()) for segment in opened.load_current_segments(partition)]

    assert load_plain(labelled) == load_plain(at_once)


def test_stale_measures_may_be_kept(labelled: Path) -> None:
    assert measure(MeasureOptions(store=labelled, runs=2)).measured == 2
    kept = measure(MeasureOptions(store=labelled, runs=4, keep_stale=True))
    assert (kept.measured, kept.known) == (0, 2)
    assert {record.number for record in load_records(labelled)} == {1}


@pytest.mark.slow
def test_pass_is_not_repeated_unless_another_number_of_runs_is_asked_for(labelled: Path) -> None:
    def run(runs: int | None) -> tuple[int, int]:
        report = measure(MeasureOptions(store=labelled, runs=runs))
        return report.measured, report.known

    assert run(None) == (2, 0)
    assert run(None) == (0, 2)
    assert run(PROFILE.measure_runs) == (0, 2)
    assert run(2) == (2, 0)
    assert {record.number for record in load_records(labelled)} == {2}
    assert run(None) == (0, 2)
    assert run(PROFILE.measure_runs) == (2, 0)


def test_interrupt_between_labelling_and_measuring_costs_no_label(
    repository: Path, at_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / 'store'

    def stop(*_: object, **__: object) -> MeasureRecord:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr('flows.missing_pairs.measure_segment', stop)
        with pytest.raises(KeyboardInterrupt):
            mine(make_options(repository, store))
    (partition,) = Store(store).list_partitions()
    assert len(Store(store).list_keys(partition)) == 1
    report = mine(make_options(repository, store))
    assert (report.executed, report.reused, report.measures.measured) == (1, 1, 1)
    assert load_records(store) == load_records(at_once)


def test_interrupted_pass_goes_on_where_it_was(
    labelled: Path, at_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = measure_pass.measure_segment, iter((False, True))

    def stop_at_second(*given: object, **more: object) -> MeasureRecord:
        if next(calls):
            raise KeyboardInterrupt
        return real(*given, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(measure_pass, 'measure_segment', stop_at_second)
        with pytest.raises(KeyboardInterrupt):
            measure(MeasureOptions(store=labelled))
    assert len(load_records(labelled)) == 1
    report = measure(MeasureOptions(store=labelled))
    assert (report.measured, report.known) == (1, 1)
    assert load_records(labelled) == load_records(at_once)


@pytest.mark.slow
def test_measured_pair_leaves_no_record_of_the_bug_of_another_build(
    labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> MeasureRecord:
        raise KeyError('gone')

    with monkeypatch.context() as patch:
        patch.setattr(measure_pass, 'measure_segment', break_down)
        first = measure(MeasureOptions(store=labelled))
    assert (first.measured, len(first.bugs)) == (0, 2)
    assert measure(MeasureOptions(store=labelled)).bugs == first.bugs
    monkeypatch.setattr(cohorts, 'identify_mining_build', lambda: 'a mended build')
    again = measure(MeasureOptions(store=labelled))
    assert (again.measured, again.bugs) == (2, {})
    assert not list((labelled / 'failures').rglob('*.json'))


@pytest.mark.slow
def test_pair_of_a_profile_that_is_gone_is_measured_as_by_default(
    repository: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    mine(make_options(repository, store, measures=False, profile=replace(PROFILE, name='gone')))
    assert measure(MeasureOptions(store=store)).measured == 2


def test_row_that_is_not_measured_says_so(labelled: Path) -> None:
    rows = [row for segment in load_joined(labelled) for row in segment.methods]
    assert {(row.track, row.measured) for row in rows} == {(Track.UPDATE, False)}
    assert all(row.mutation is None for row in rows)
    snapshot = release(labelled)
    assert list(verify_snapshot(snapshot)) == []


def test_damaged_measures_count_as_missing(labelled: Path, at_once: Path) -> None:
    measure(MeasureOptions(store=labelled))
    damaged, *_ = sorted((labelled / measures.FOLDER).rglob('*.measures'))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    report = measure(MeasureOptions(store=labelled))
    assert (report.measured, report.known) == (1, 1)
    values = [replace(record, number=1) for record in load_records(labelled)]
    assert values == [replace(record, number=1) for record in load_records(at_once)]


def test_only_a_store_with_something_to_measure_needs_a_clone(
    at_once: Path, labelled: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / 'no-clones'
    assert measure(MeasureOptions(store=at_once, local=nowhere)) == MeasureReport(known=2)
    report = measure(MeasureOptions(store=labelled, local=nowhere))
    assert (report.measured, report.waiting) == (0, {})
    assert report.busy == [f'{NAME} waits: there is no clone of {NAME}: mine it again']


@pytest.mark.slow
def test_partition_in_which_another_process_mines_waits(labelled: Path) -> None:
    (partition,) = Store(labelled).list_partitions()
    with Store(labelled).lock_partition(partition):
        report = measure(MeasureOptions(store=labelled))
        assert (report.measured, len(report.busy)) == (0, 1)


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        (['--runs', '0'], 'takes a number from 1 on'),
        (['--repository', 'no/such'], 'holds nothing of'),
    ],
)
def test_bad_arguments_get_one_sentence(
    labelled: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['pipeline', 'measure', '--store', str(labelled), *arguments]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    'steps',
    [
        pytest.param(STEPS[:1], id='one commit'),
        pytest.param(
            [{**toys.BUILD, **toys.source('Till', f'price: {n}')} for n in (1, 2)], id='no tests'
        ),
    ],
)
def test_history_without_tasks_has_nothing_to_measure(
    steps: list[dict[str, str]], tmp_path: Path
) -> None:
    repository = write(tmp_path / 'repository', steps)
    mine(make_options(repository, tmp_path / 'store'))
    assert measure(MeasureOptions(store=tmp_path / 'store')) == MeasureReport()
    assert count_unmeasured(tmp_path / 'store') == 0
