"""What a pair cost by its store, and the sums over pairs."""

from __future__ import annotations

import dataclasses

from benchmarks.cost import sum_engine, sum_group
from benchmarks.tables import Row
from coevo.engine.results import Step
from coevo.model.pair_rows import TimingRow
from coevo.model.words import Walk
from flows.budgets import DIFF, OWN
from tests import segments

SECONDS = {
    Step.BUILD: 4.0,
    Step.COMPILE: 1.0,
    Step.RUN_GIVEN: 2.0,
    Step.RUN_ALONE: 3.0,
    Step.TESTS: 2.5,
    'trace': 6.0,
    OWN: 1.0,
    DIFF: 0.5,
}


def timing(step: str, seconds: float) -> TimingRow:
    return TimingRow(
        repo='o/r',
        walk=Walk.PARENTS,
        pair_id='p',
        step=step,
        cpu_seconds=seconds,
        wall_seconds=0.0,
        count=1,
    )


def test_seconds_of_a_pair_are_counted_once_and_split_by_what_they_are_for() -> None:
    timings = tuple(timing(step, seconds) for step, seconds in SECONDS.items())
    row = sum_engine(dataclasses.replace(segments.segment(1), timings=timings))
    assert (row['one_pass'], row['repeats'], row['own']) == (7.0, 3.0, 1.0)
    # A test's own seconds are a part of its runs, the diff a part of the thread.
    assert (row['engine'], row['whole']) == (11.0, 17.0)


def pair(repo: str, flags: str, engine: float, plain: float) -> Row:
    numbers = {
        'cells': 10,
        'engine': engine,
        'one_pass': engine / 2,
        'whole': 2 * engine,
        'plain': plain,
        'plain_runs': plain / 2,
        'labelled': 4,
        'with_track': 0,
        'measured': 5,
        'differing': 1,
    }
    return {'repo': repo, 'flags': flags, **{name: str(value) for name, value in numbers.items()}}


def test_ratios_are_medians_over_pairs_of_the_same_flags() -> None:
    rows = [pair('o/r', 'c1', 2.0, 4.0), pair('o/r', 'c1', 10.0, 60.0), pair('o/s', 'c1', 1.0, 3.0)]
    rows.append(pair('o/r', 'default', 2.0, 400.0))
    assert list(sum_group(rows, 'o/r', 'c1')) == [
        *('o/r', 'c1', 2, '20'),
        *('12.0', '64.0', '0.600', '3.200'),
        *('4.0', '8.0', '2.0'),
        *('3.00', '-'),
        '2 of 10',
    ]
    name, _, count, *_ = sum_group(rows, '', 'c1')
    assert (name, count) == ('all', 3)
