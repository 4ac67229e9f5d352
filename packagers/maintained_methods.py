"""The tests of both ends of a file, one beside the other, and what the labels ask of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coevo.evaluation.suites.texts import TestText, load_test_texts
from coevo.git.repository import Repository
from coevo.model.maintenance import MaintainedMethod, find_expected_action
from coevo.model.method_rows import MethodRow
from coevo.model.words import MethodChange

Texts = Mapping[str, TestText]


def list_maintained_methods(
    rows: Sequence[MethodRow], clone: Repository, old: bytes, new: bytes
) -> tuple[MaintainedMethod, ...]:
    """Those of the new file in its order, then those that only the old one has.

    rows  of the file, at one pair and walk: what has no row is the same test if its name is
    """
    first = rows[0]
    olds = load_test_texts(clone, first.language, first.old_rev, first.module, first.test_file, old)
    news = load_test_texts(clone, first.language, first.new_rev, first.module, first.test_file, new)
    return tuple(_pair_methods(rows, olds, news))


def _pair_methods(
    rows: Sequence[MethodRow], olds: Texts, news: Texts
) -> Iterator[MaintainedMethod]:
    at_new = {
        _find_new_name(row, news): row for row in rows if row.change is not MethodChange.DELETED
    }
    at_old = {
        _find_old_name(row, olds): row for row in rows if row.change is not MethodChange.INSERTED
    }
    known = {id(row): name for name, row in at_old.items()}
    used: set[str | None] = set()
    for name in news:
        row = at_new.get(name)
        before = known.get(id(row)) if row else name if _is_unclaimed(name, olds, at_old) else None
        used.add(before)
        yield _make_maintained_method(row, before, name, olds, news)
    for name in olds:
        if name not in used:
            yield _make_maintained_method(at_old.get(name), name, None, olds, news)


def _is_unclaimed(name: str, olds: Texts, at_old: Mapping[str | None, MethodRow]) -> bool:
    return name in olds and name not in at_old


def _make_maintained_method(
    row: MethodRow | None, before: str | None, after: str | None, olds: Texts, news: Texts
) -> MaintainedMethod:
    label = row.label if row else None
    same = before is not None and after is not None and olds[before].hash == news[after].hash
    return MaintainedMethod(
        old_method=before,
        new_method=after,
        label=label,
        expected_action=find_expected_action(label, same_text=same),
    )


def _find_new_name(row: MethodRow, news: Texts) -> str | None:
    wanted = row.test_class, row.test_method, row.parameters
    return next(
        (
            name
            for name, text in news.items()
            if (text.method.test_class, text.method.test_method, text.method.parameters) == wanted
        ),
        None,
    )


def _find_old_name(row: MethodRow, olds: Texts) -> str | None:
    """Among overloads, whose parameters at old no row has, the one of the row's source."""
    wanted = row.old_test_class or row.test_class, row.old_test_method or row.test_method
    candidates = {
        name: text
        for name, text in olds.items()
        if (text.method.test_class, text.method.test_method) == wanted
    }
    exact = [name for name, text in candidates.items() if text.source == row.old_source] or list(
        candidates
    )
    return exact[0] if exact else None
