"""The 2 x 2 table of F1 (TestEvo-Bench, Table 12): trained on one labelling, tested on another.

Counts are weighted: a negative that was drawn stands for those that were not. Intervals draw whole families.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.identification.classifier import predicted
from benchmarks.identification.rows import LabelledTest
from benchmarks.tables import Row
from coevo.evaluation.reporting.bootstrap import compute_interval

LABELLINGS = ('dynamic', 'static')


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Weights of rows that are truly or falsely taken for positive, and of positives that are missed."""

    hits: float = 0.0
    false: float = 0.0
    missed: float = 0.0

    def plus(self, row: LabelledTest, *, answer: bool, truth: bool) -> Counts:
        return Counts(
            hits=self.hits + row.weight * (answer and truth),
            false=self.false + row.weight * (answer and not truth),
            missed=self.missed + row.weight * (truth and not answer),
        )


def table(rows: Sequence[LabelledTest]) -> Iterator[Row]:
    """A row for each pair of labellings; shares are empty where there is nothing to share."""
    answers = {name: predicted(rows, name) for name in LABELLINGS}
    always = dict.fromkeys((row.method_id for row in rows), True)
    for trained, found in (*answers.items(), ('always positive', always)):
        for tested in LABELLINGS:
            yield {'train': trained, 'test': tested, **_figures(rows, found, tested)}


def _figures(rows: Sequence[LabelledTest], answers: Mapping[str, bool], tested: str) -> Row:
    families: dict[str, Counts] = defaultdict(Counts)
    for row in rows:
        families[row.family] = families[row.family].plus(
            row, answer=answers[row.method_id], truth=row.label(tested)
        )
    counts = [families[name] for name in sorted(families)]
    twice = [2 * one.hits for one in counts]
    wholes = [2 * one.hits + one.false + one.missed for one in counts]
    hits, false, missed = (sum(getattr(one, name) for one in counts) for name in Counts.__slots__)
    low, high = compute_interval(twice, wholes)
    return {
        'f1': _share(sum(twice), sum(wholes)),
        'f1_low': '' if low is None else f'{low:.3f}',
        'f1_high': '' if high is None else f'{high:.3f}',
        'precision': _share(hits, hits + false),
        'recall': _share(hits, hits + missed),
        'positives': str(sum(row.label(tested) for row in rows)),
        'rows': str(len(rows)),
        'weighted': f'{sum(row.weight for row in rows):.1f}',
        'families': str(len(families)),
    }


def _share(part: float, whole: float) -> str:
    return f'{part / whole:.3f}' if whole else ''
