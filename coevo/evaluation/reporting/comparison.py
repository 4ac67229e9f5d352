"""`coevo report compare A B`: compares two evaluations of the same tasks, task by task.

A difference is B minus A, over the methods that were judged (or measured) in both. Its interval
uses the same repository draws for both, so it is much narrower than the two separate intervals
suggest.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.figures import Rows, collect_figures, fill_record, open_results
from coevo.evaluation.results import load_results
from coevo.model.errors import Fatal
from coevo.model.words import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureComparison:
    """One figure of both evaluations, and the difference B minus A, each with its units."""

    name: str
    first: MeanEstimate
    second: MeanEstimate
    difference: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackComparison:
    """The comparison of one track.

    left_out  methods that coevo's own trouble kept from being judged in both
    """

    track: Track
    tasks: int
    methods: int
    left_out: int
    figures: Sequence[FigureComparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The comparison of two evaluations.

    engines  the engine versions of the first and of the second; another version may judge otherwise
    """

    snapshot_sha256: str
    engines: tuple[tuple[str, ...], tuple[str, ...]]
    tracks: Sequence[TrackComparison]


def compare_folders(first: Path, second: Path) -> Comparison:
    """Compare the first attempts of two folders of results.

    Raises: Fatal if the two have different snapshots or different test methods.
    """
    first_rows, other = (
        [row for row in load_results(folder) if row.attempt == 1] for folder in (first, second)
    )
    _check_comparable(first, first_rows, second, other)
    return compare_rows(first_rows, other)


def compare_rows(first: Rows, second: Rows) -> Comparison:
    """Compare two sets of rows of the same methods, which must not be empty."""
    with open_results(['methods', 'comparison'], [first, second]) as connection:
        figures = collect_figures(connection, ['comparison'])
    return fill_record(
        Comparison,
        figures,
        snapshot_sha256=first[0].snapshot_sha256,
        engines=(_list_engine_versions(first), _list_engine_versions(second)),
    )


def encode_comparison(comparison: Comparison) -> bytes:
    """Return the comparison as JSON, with the fields in the order of their records."""
    text = json.dumps(dataclasses.asdict(comparison), indent=1, allow_nan=False)
    return f'{text}\n'.encode()


def _check_comparable(first: Path, one: Rows, second: Path, other: Rows) -> None:
    snapshots = {row.snapshot_sha256 for row in (*one, *other)}
    if len(snapshots) != 1:
        raise Fatal(
            f'{first} and {second} are results for different snapshots '
            f'({_format_snapshots(one)} and {_format_snapshots(other)}); evaluate both '
            'against the same snapshot'
        )
    first_keys, second_keys = ({row.key for row in rows} for rows in (one, other))
    only, others = len(first_keys - second_keys), len(second_keys - first_keys)
    if only or others:
        raise Fatal(
            f'{first} and {second} are results for different tasks ({only} test methods are '
            f'only in the first, {others} only in the second); evaluate both with the same '
            '--only-tasks, --only-after and --only-unseen-by'
        )


def _format_snapshots(rows: Rows) -> str:
    return ', '.join(sorted({row.snapshot_sha256[:16] for row in rows})) or 'no rows'


def _list_engine_versions(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({row.engine_version for row in rows}))
