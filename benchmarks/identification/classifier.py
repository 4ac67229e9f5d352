"""A linear classifier of text: words of the test, words of the change, and those that both have.

Rows are predicted by models that saw no repository of their family. Nothing is drawn by chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.identification.rows import LabelledTest

FOLDS = 5
_WORD = re.compile(r'[A-Za-z_]\w*|\d+')
_PARTS = re.compile(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+')


def predicted(rows: Sequence[LabelledTest], labelling: str) -> dict[str, bool]:
    """Whether each row is taken to be positive, by models trained on one labelling; by `method_id`.

    A fold whose training rows are all of one class predicts that class.
    """
    folds = _folds(rows)
    found: dict[str, bool] = {}
    for number in sorted(set(folds.values())):
        train = [row for row in rows if folds[row.family] != number]
        test = [row for row in rows if folds[row.family] == number]
        answers = _answers(train, test, labelling)
        found |= {row.method_id: answer for row, answer in zip(test, answers, strict=True)}
    return found


def _answers(
    train: Sequence[LabelledTest], test: Sequence[LabelledTest], labelling: str
) -> list[bool]:
    # Imported here, since each process that collects tests would wait four seconds for it.
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    labels = [row.label(labelling) for row in train]
    if len(set(labels)) < 2:
        return [any(labels)] * len(test)
    model = make_pipeline(
        DictVectorizer(),
        MaxAbsScaler(),
        LogisticRegression(solver='liblinear', class_weight='balanced', random_state=0),
    )
    model.fit([features(row) for row in train], labels)
    return [bool(answer) for answer in model.predict([features(row) for row in test])]


def _folds(rows: Sequence[LabelledTest]) -> Mapping[str, int]:
    """The fold of each family, in the order of a hash."""
    families = sorted(
        {row.family for row in rows}, key=lambda name: hashlib.sha256(name.encode()).digest()
    )
    return {name: number % FOLDS for number, name in enumerate(families)}


def features(row: LabelledTest) -> Mapping[str, float]:
    """How much of each kind of word there is; a word counts once."""
    test = frozenset(_words(row.test))
    found = {f'test {word}': 1.0 for word in test}
    for line in row.change:
        revised, _, text = line.partition(' ')
        words = frozenset(_words(text))
        found |= {f'{revised} {word}': 1.0 for word in words}
        found |= {f'both {revised} {word}': 1.0 for word in words & test}
        found[f'shared {revised}'] = max(found.get(f'shared {revised}', 0.0), _share(words, test))
        found[f'count {revised}'] = found.get(f'count {revised}', 0.0) + 1
    return found


def _share(words: frozenset[str], test: frozenset[str]) -> float:
    return len(words & test) / len(words) if words else 0.0


def _words(text: str) -> Iterator[str]:
    """Names, and the parts that they are made of."""
    for name in _WORD.findall(text):
        yield name
        yield from (part.lower() for part in _PARTS.findall(name))
