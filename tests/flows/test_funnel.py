"""The funnel's laws: what enters a stage is kept or dropped, and what it keeps enters the next."""

from __future__ import annotations

import dataclasses
import io
from itertools import pairwise

from rich.console import Console

from coevo.model.reasons import Reason
from coevo.model.words import Stage
from flows.console import build_funnel_table, describe_drop_reasons, print_report
from flows.funnel import build_funnel, count_labels
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
        '1 pair was dropped for want of JDK 21; once `coevo doctor --install jdk-21`'
        in log.getvalue()
    )
