"""The funnel's laws: what enters a stage is kept or dropped, and what it keeps enters the next."""

from __future__ import annotations

import dataclasses
import io
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from coevo.model.reasons import Reason
from coevo.model.segment import Segment
from coevo.model.words import Stage
from flows.console import (
    build_funnel_table,
    describe_drop_reasons,
    describe_labels,
    describe_next_step,
    print_report,
)
from flows.funnel import build_funnel, count_labels, describe_examples
from flows.missing_pairs import MineReport
from packagers.funnel import FunnelStep
from tests import segments


def steps() -> list[FunnelStep]:
    """Two pairs with methods, and one that is dropped itself."""
    lost = segments.drop(3, Stage.PAIR, segments.pair_id(3), 'gap_too_long')
    dropped = dataclasses.replace(
        segments.segment(3),
        pair=segments.pair(3),
        methods=(),
        cells=(),
        environments=(),
        drops=(lost,),
    )
    found = (segments.segment(1), segments.segment(2), dropped)
    return list(build_funnel(segments.walk(1, 2, 3).drops, found))


def test_the_rows_that_enter_a_stage_are_those_kept_plus_those_dropped() -> None:
    elsewhere = {Stage.PUBLISH, Stage.TASK, Stage.SINGLE_REVISION}
    assert [step.stage for step in steps()] == [one for one in Stage if one not in elsewhere]
    for step in steps():
        assert step.entered == step.kept_count + sum(count for _, count in step.dropped)


def test_rows_that_a_stage_keeps_enter_the_next_stage() -> None:
    """Pairs expand to methods, and the track is asked of labels that are tasks alone."""
    found = {step.stage: step for step in steps()}
    assert found[Stage.WALK].kept_count == found[Stage.PAIR].entered == 3
    assert found[Stage.PAIR].kept_count == 2
    assert found[Stage.FILTER].entered == 2 * 5
    assert found[Stage.FILTER].kept_count == found[Stage.LABEL].entered == 8
    assert found[Stage.LABEL].kept_count == 6
    assert found[Stage.TRACK].entered == found[Stage.TRACK].kept_count == 4


def test_labels_are_sorted_by_count_and_then_by_name() -> None:
    counted = count_labels([segments.segment(1), segments.segment(2)])
    assert counted == (('generation', 2), ('refinement', 2), ('update', 2))


def test_the_most_frequent_drop_reason_comes_first() -> None:
    for step in steps():
        counts = [count for _, count in step.dropped]
        assert all(more >= less for more, less in pairwise(counts))


def test_the_table_fits_in_80_columns_and_drop_reasons_are_sentences() -> None:
    log = io.StringIO()
    Console(file=log, width=80).print(build_funnel_table(steps()))
    assert '…' not in log.getvalue()
    told = list(describe_drop_reasons(steps()))
    assert told[0] == 'Left at walk, commits that end no pair:'
    sentence = 'No file of the language differs from the first parent. (no_code_change)'
    assert f'      1  {sentence}' in told


def test_a_missing_runtime_is_reported_with_the_command_that_installs_it() -> None:
    """By the column of the pair: the detail of a drop is for people."""
    lacking = dataclasses.replace(
        segments.segment(1), pair=dataclasses.replace(segments.pair(1), runtime_missing='21')
    )
    (drop, *_) = lacking.drops
    lacking = dataclasses.replace(
        lacking, drops=(dataclasses.replace(drop, reason=Reason.RUNTIME_MISSING),)
    )
    log = io.StringIO()
    report = MineReport(
        repo=segments.REPO,
        walk=segments.PARTITION.walk,
        partitions=(segments.PARTITION,),
        visited=1,
        pairs=1,
    )
    print_report(Console(file=log, width=160), report, steps(), [lacking])
    assert (
        '1 pair was dropped for want of JDK 21; run `coevo doctor --install jdk-21`, and the next'
        in log.getvalue()
    )


def a_report(**changed: Any) -> MineReport:
    report = MineReport(repo=segments.REPO, walk=segments.PARTITION.walk, visited=1, pairs=1)
    return dataclasses.replace(report, **changed)


def dropped(*details: str) -> Segment:
    """A segment whose tests were dropped at the label, each with one of the details."""
    drops = [
        dataclasses.replace(
            segments.drop(1, Stage.LABEL, str(number), 't_new_c_new_error'),
            detail=detail,
            test_file='tests/test_fare.py',
            test_method=f'test_{number}',
        )
        for number, detail in enumerate(details)
    ]
    return dataclasses.replace(segments.segment(1), methods=(), drops=tuple(drops))


@pytest.mark.parametrize(
    ('detail', 'words'),
    [
        ('ModuleNotFoundError@acme.helper', 'the module acme.helper was not found'),
        ('requirements:acme-core', 'the requirement acme-core cannot be installed'),
        ('modules:acme.example/core: not found', 'cannot be had: acme.example/core: not found'),
        ('module not available: acme.example/core', 'cannot be had: acme.example/core, such'),
        ('KeyError@<frozen os>:__getitem__, ACME_TOKEN', 'stored under ACME_TOKEN'),
        ('KeyError@fare.py:of', 'KeyError@fare.py:of, such as for test_1'),
    ],
)
def test_what_is_amiss_in_most_dropped_tests_is_named_with_one_of_them(
    detail: str, words: str
) -> None:
    heading, example = describe_examples([dropped('other', detail, detail, '')])
    assert heading == 'Examples of the most common reasons:'
    assert example.strip().startswith('t_new_c_new_error (2 of 4): ')
    assert words in example
    assert f'test_1 in tests/test_fare.py at {segments.rev(1)[:12]}' in example
    assert ('Private libraries' in example) is not detail.startswith('KeyError')


def test_a_missing_module_may_be_one_of_the_project_itself() -> None:
    _, module = describe_examples([dropped('ModuleNotFoundError@acme.helper')])
    assert 'nothing is to be done if it is a module of the project itself; else' in module
    _, requirement = describe_examples([dropped('requirements:acme-core')])
    assert 'the project itself' not in requirement


def test_a_library_that_no_repository_has_is_told_from_other_failures() -> None:
    lost = dropped('t_old_c_old_unbuildable')
    drops = tuple(dataclasses.replace(drop, reason=Reason.LIBRARY_MISSING) for drop in lost.drops)
    _, example = describe_examples([dataclasses.replace(lost, drops=drops)])
    assert 'library_missing (1): no repository that is asked has a library' in example
    assert 'Private libraries' in example


def test_drops_without_any_detail_give_no_example() -> None:
    assert list(describe_examples([dropped('', '')])) == []


def test_labels_count_test_methods_and_tasks_are_counted_beside_them() -> None:
    told = list(describe_labels([segments.segment(1), segments.segment(2)]))
    assert told[0] == 'labels of test methods: generation 2, refinement 2, update 2'
    assert told[1].startswith('tasks: 4, of 4 of these test methods; ')


def test_a_run_ends_with_the_next_step() -> None:
    found, none = [segments.segment(1)], [dropped('')]
    step = describe_next_step(a_report(), 'my store', found)
    assert "`coevo release --store 'my store' --snapshot snapshots/mine`" in step
    assert '`coevo release --snapshot' in describe_next_step(a_report(), 'store', found)
    kept_out = a_report(warnings=('kept out of a release: 3 labelled test methods',))
    assert describe_next_step(kept_out, 'store', found).endswith('what licences keep out')
    assert 'Nothing came out?' in describe_next_step(a_report(), 'store', none)
    failed = a_report(failures={'one': 'no network'})
    assert 'run the same command again' in describe_next_step(failed, 'store', found)


@pytest.mark.parametrize('visited', [0, 1])
def test_a_run_without_any_commit_says_so(visited: int) -> None:
    log = io.StringIO()
    print_report(Console(file=log, width=160), a_report(visited=visited), steps(), [])
    assert ('No commit lies within the dates' in log.getvalue()) is (visited == 0)
