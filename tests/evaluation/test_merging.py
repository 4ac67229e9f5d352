"""One evaluation on several machines: its parts, and their results together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.parts import EvaluationPart, merge_result_folders, parse_part, select_tasks
from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import (
    load_results,
    load_suites,
    write_or_remove_suites,
    write_results,
)
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.model.errors import Fatal
from tests import snapshots
from tests.evaluation.rows import row
from tests.evaluation.test_families import suite


def written(folder: Path, *rows: MethodResult) -> Path:
    folder.mkdir()
    write_results(folder, rows)
    return folder


def test_merged_parts_equal_one_whole_evaluation(tmp_path: Path) -> None:
    rows = [row('a'), row('b', outcome=TaskOutcome.REDUNDANT), row('c')]
    whole = written(tmp_path / 'whole', *rows)
    merge_result_folders([whole], tmp_path / 'alone')
    parts = [written(tmp_path / 'one', rows[1]), written(tmp_path / 'two', rows[2], rows[0])]
    words = ('report', 'merge', *map(str, parts), '--out', str(tmp_path / 'merged'))
    assert main(words) == 0
    for name in ('results.parquet', 'report.json', 'junit.xml'):
        assert (tmp_path / 'merged' / name).read_bytes() == (tmp_path / 'alone' / name).read_bytes()
    assert main([*words, '--format', 'none']) == 2


def test_row_of_two_parts_counts_once_and_a_verdict_replaces_infra(tmp_path: Path) -> None:
    """Trouble of ours gives way to a verdict; what it cost makes no other one of it."""
    trouble = row('a', outcome=TaskOutcome.INFRA, detail=Detail.TROUBLE)
    judged = row('a', cpu_seconds=7.0)
    one = written(tmp_path / 'one', trouble, row('b', cpu_seconds=1.0))
    two = written(tmp_path / 'two', judged, row('b', cpu_seconds=2.0))
    for number, order in enumerate(((one, two), (two, one))):
        merge_result_folders(order, tmp_path / f'{number}')
        found = load_results(tmp_path / f'{number}')
        assert [(each.task_id, each.outcome) for each in found] == [
            ('a', TaskOutcome.SUCCESS),
            ('b', TaskOutcome.SUCCESS),
        ]


def test_suites_of_parts_are_merged_as_methods_are(tmp_path: Path) -> None:
    trouble, judged = suite(1, SuiteOutcome.INFRA), suite(1)
    one, two = written(tmp_path / 'one'), written(tmp_path / 'two')
    write_or_remove_suites(one, (trouble, suite(2)))
    write_or_remove_suites(two, (replace(suite(2), seconds=7.0), judged))
    merge_result_folders((one, two), tmp_path / 'merged')
    assert load_suites(tmp_path / 'merged') == (judged, suite(2))
    write_or_remove_suites(two, (suite(2, SuiteOutcome.PARTLY),))
    with pytest.raises(
        Fatal, match=r'one and \S+two disagree about the suite of task 0*2 \(outcome'
    ):
        merge_result_folders((one, two), tmp_path / 'refused')
    assert not (tmp_path / 'refused').exists()


@pytest.mark.parametrize(
    ('other', 'sentence'),
    [
        ({'outcome': TaskOutcome.REDUNDANT}, 'disagree about a.ATest#tests of task a '),
        ({'prediction_sha256': '2' * 64}, 'disagree about'),
        ({'snapshot_sha256': '2' * 64}, 'of different evaluations .snapshot_sha256'),
        ({'sandbox': 'docker'}, 'of different evaluations .sandbox'),
    ],
)
def test_contradictory_or_unrelated_results_are_not_merged(
    tmp_path: Path, other: dict[str, str], sentence: str
) -> None:
    one = written(tmp_path / 'one', row('a'))
    two = written(tmp_path / 'two', row('a', **other))
    with pytest.raises(Fatal, match=sentence):
        merge_result_folders([one, two], tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


@pytest.fixture(scope='module')
def wanted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assignment, ...]:
    """Tasks of three repositories, of which one has most of them."""
    snapshot = snapshots.make(tmp_path_factory.mktemp('parts'), 1, 2, 3)
    found = load_assignments(snapshot, interleaved=True, leaking=True)
    assert len(found) > 3
    return tuple(
        replace(one, task=replace(one.task, repo=f'owner/{"abcc"[number % 4]}'))
        for number, one in enumerate(found)
    )


def test_all_tasks_of_a_repository_are_in_one_part(wanted: tuple[Assignment, ...]) -> None:
    repos = {one.task.repo for one in wanted}
    assert len(repos) == 3
    for count in (1, 2, 3):
        parts = [
            select_tasks(EvaluationPart(number=n, count=count), wanted) for n in range(1, count + 1)
        ]
        assert sorted(one.task_id for part in parts for one in part) == sorted(
            one.task_id for one in wanted
        )
        in_parts = [{one.task.repo for one in part} for part in parts]
        assert sum(map(len, in_parts)) == 3
        assert all(in_parts)
    with pytest.raises(Fatal, match='of 3 repositories, which is too few for 4 parts'):
        select_tasks(EvaluationPart(number=1, count=4), wanted)


@pytest.mark.parametrize('text', ['0/2', '3/2', '1', '1/0', 'a/b', '1/2/3', '-1/2', '1 / 2'])
def test_invalid_part_specification_is_refused(text: str) -> None:
    with pytest.raises(Fatal, match='is not a part'):
        parse_part(text)
    assert parse_part('2/4') == EvaluationPart(number=2, count=4)


def test_evaluate_command_refuses_an_impossible_part(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of this snapshot is of one repository."""
    predictions = tmp_path / 'none.jsonl'
    predictions.write_text('')
    words = ('evaluate', str(snapshot), str(predictions), '--out', str(tmp_path / 'out'), '--part')
    assert main([*words, '1/2']) == 2
    assert (
        'the tasks are of 1 repositories, which is too few for 2 parts' in capsys.readouterr().err
    )
    assert main([*words, '2/1']) == 2
    assert 'write 2/4 for the second of four' in capsys.readouterr().err
