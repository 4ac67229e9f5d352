"""A baseline of test-update identification that trains on a CPU, on static and on dynamic labels of a snapshot.

    python -m benchmarks.identification SNAPSHOT RESULTS.csv [--walk parents]

A linear classifier of text: words of the test, words of the change, and those that both have. Rows are predicted by
models that saw no repository of their family; nothing is drawn by chance. The table is one of F1 (TestEvo-Bench, Table 12):
trained on one labelling, tested on another. Counts are weighted: a negative that was drawn stands for those that were
not. Intervals draw whole families. The new text of a test is no part of its row: who sees that sees the answer of
the static label.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import Row, replace_rows
from coevo.evaluation.reporting.bootstrap import bootstrap_interval_of_ratio
from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.identification import IdentificationStudy, create_identification_tables

FOLDS = 5
LABELLINGS = ('dynamic', 'static')
_WORD = re.compile(r'[A-Za-z_]\w*|\d+')
_PARTS = re.compile(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+')

_SQL = """\
SELECT method_id, family, language, old_source AS test, dependencies, static, dynamic, weight
FROM identification WHERE left_out IS NULL ORDER BY method_id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTest:
    """A test before a change.

    family          repositories that share commits are one
    test            its old text
    change          a line for each changed declaration that it depends on: what was done to it, then its text
    static, dynamic whether it is positive
    weight          how many tests it stands for
    """

    method_id: str
    family: str
    test: str
    change: tuple[str, ...]
    static: bool
    dynamic: bool
    weight: float = 1.0

    def get_label(self, labelling: str) -> bool:
        """labelling  static or dynamic"""
        return self.static if labelling == 'static' else self.dynamic


def read_labelled_tests(path: Path, walk: Walk = Walk.PARENTS) -> tuple[LabelledTest, ...]:
    """Read the rows of a snapshot, of all languages. Where the weight is unknown it is 1."""
    with snapshot.translate_read_errors((path,)):
        connection = create_identification_tables(
            snapshot.attach_snapshots((path,)), IdentificationStudy(walk=walk)
        )
    answer = connection.execute(_SQL)
    names = [column[0] for column in answer.description or ()]
    return tuple(_build_row(dict(zip(names, row, strict=True))) for row in answer.fetchall())


def _build_row(raw: Mapping[str, Any]) -> LabelledTest:
    return LabelledTest(
        method_id=raw['method_id'],
        family=raw['family'],
        test=raw['test'] or '',
        change=tuple(f'{each["revised"]} {each["declaration"]}' for each in raw['dependencies']),
        static=raw['static'] == 'positive',
        dynamic=raw['dynamic'] == 'positive',
        weight=raw['weight'] or 1.0,
    )


def predict_labels(rows: Sequence[LabelledTest], labelling: str) -> dict[str, bool]:
    """Predict by `method_id` whether each row is positive, by models trained on one labelling.

    A fold whose training rows are all of one class predicts that class.
    """
    folds = _assign_folds(rows)
    positive: dict[str, bool] = {}
    for number in sorted(set(folds.values())):
        train = [row for row in rows if folds[row.family] != number]
        test = [row for row in rows if folds[row.family] == number]
        answers = _answer_fold(train, test, labelling)
        positive |= {row.method_id: answer for row, answer in zip(test, answers, strict=True)}
    return positive


def _answer_fold(
    train: Sequence[LabelledTest], test: Sequence[LabelledTest], labelling: str
) -> list[bool]:
    # Imported here, since each process that collects tests would wait four seconds for it.
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    labels = [row.get_label(labelling) for row in train]
    if len(set(labels)) < 2:
        return [any(labels)] * len(test)
    model = make_pipeline(
        DictVectorizer(),
        MaxAbsScaler(),
        LogisticRegression(solver='liblinear', class_weight='balanced', random_state=0),
    )
    model.fit([count_features(row) for row in train], labels)
    return [bool(answer) for answer in model.predict([count_features(row) for row in test])]


def _assign_folds(rows: Sequence[LabelledTest]) -> Mapping[str, int]:
    """Assign a fold to each family, in the order of a hash."""
    families = sorted(
        {row.family for row in rows}, key=lambda name: hashlib.sha256(name.encode()).digest()
    )
    return {name: number % FOLDS for number, name in enumerate(families)}


def count_features(row: LabelledTest) -> Mapping[str, float]:
    """Count how much of each kind of word there is; a word counts once."""
    test = frozenset(_split_words(row.test))
    features = {f'test {word}': 1.0 for word in test}
    for line in row.change:
        revised, _, text = line.partition(' ')
        words = frozenset(_split_words(text))
        features |= {f'{revised} {word}': 1.0 for word in words}
        features |= {f'both {revised} {word}': 1.0 for word in words & test}
        features[f'shared {revised}'] = max(
            features.get(f'shared {revised}', 0.0), _measure_overlap(words, test)
        )
        features[f'count {revised}'] = features.get(f'count {revised}', 0.0) + 1
    return features


def _measure_overlap(words: frozenset[str], test: frozenset[str]) -> float:
    return len(words & test) / len(words) if words else 0.0


def _split_words(text: str) -> Iterator[str]:
    """Give names, and the parts that they are made of."""
    for name in _WORD.findall(text):
        yield name
        yield from (part.lower() for part in _PARTS.findall(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Weights of rows that are truly or falsely taken for positive, and of positives that are missed."""

    hits: float = 0.0
    false: float = 0.0
    missed: float = 0.0

    def add(self, row: LabelledTest, *, answer: bool, truth: bool) -> Counts:
        return Counts(
            hits=self.hits + row.weight * (answer and truth),
            false=self.false + row.weight * (answer and not truth),
            missed=self.missed + row.weight * (truth and not answer),
        )


def build_table(rows: Sequence[LabelledTest]) -> Iterator[Row]:
    """Build a row for each pair of labellings; shares are empty where there is nothing to share."""
    answers = {name: predict_labels(rows, name) for name in LABELLINGS}
    always = dict.fromkeys((row.method_id for row in rows), True)
    for trained, answers_of in (*answers.items(), ('always positive', always)):
        for tested in LABELLINGS:
            yield {'train': trained, 'test': tested, **_sum_figures(rows, answers_of, tested)}


def _sum_figures(rows: Sequence[LabelledTest], answers: Mapping[str, bool], tested: str) -> Row:
    families: dict[str, Counts] = defaultdict(Counts)
    for row in rows:
        families[row.family] = families[row.family].add(
            row, answer=answers[row.method_id], truth=row.get_label(tested)
        )
    counts = [families[name] for name in sorted(families)]
    twice = [2 * each.hits for each in counts]
    wholes = [2 * each.hits + each.false + each.missed for each in counts]
    hits, false, missed = (sum(getattr(each, name) for each in counts) for name in Counts.__slots__)
    low, high = bootstrap_interval_of_ratio(twice, wholes)
    return {
        'f1': _format_share(sum(twice), sum(wholes)),
        'f1_low': '' if low is None else f'{low:.3f}',
        'f1_high': '' if high is None else f'{high:.3f}',
        'precision': _format_share(hits, hits + false),
        'recall': _format_share(hits, hits + missed),
        'positives': str(sum(row.get_label(tested) for row in rows)),
        'rows': str(len(rows)),
        'weighted': f'{sum(row.weight for row in rows):.1f}',
        'families': str(len(families)),
    }


def _format_share(part: float, whole: float) -> str:
    return f'{part / whole:.3f}' if whole else ''


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument('snapshot', type=Path)
    parser.add_argument('results', type=Path)
    parser.add_argument('--walk', type=Walk, default=Walk.PARENTS)
    arguments = parser.parse_args()
    tests = read_labelled_tests(arguments.snapshot, arguments.walk)
    unread = sum(not test.test for test in tests)
    if unread:
        print(
            f'{unread} of {len(tests)} tests have no text here, as in a code-free edition: fill it with `coevo get` first',
            file=sys.stderr,
        )
    rows = list(build_table(tests))
    replace_rows(arguments.results, rows)
    for row in rows:
        print(
            f'trained on {row["train"]}, tested on {row["test"]}: F1 {row["f1"]} '
            f'[{row["f1_low"]}, {row["f1_high"]}], precision {row["precision"]}, recall {row["recall"]}'
        )


if __name__ == '__main__':
    main()
