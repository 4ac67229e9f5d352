"""The tests of both ends of a file, one beside the other, and what the labels ask of each."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from coevo.evaluation.suites.texts import TestText
from coevo.evaluation.suites.texts import texts_of
from coevo.git.repository import Repository
from coevo.model.maintenance import MaintainedMethod
from coevo.model.maintenance import duty_of
from coevo.model.method_rows import MethodRow
from coevo.model.words import Change

Texts = Mapping[str, TestText]


def maintained_methods(
    rows: Sequence[MethodRow], clone: Repository, old: bytes, new: bytes
) -> tuple[MaintainedMethod, ...]:
    """Those of the new file in its order, then those that only the old one has.

    rows  of the file, at one pair and walk: what has no row is the same test if its name is
    """
    first = rows[0]
    olds = texts_of(clone, first.language, first.old_rev, first.module, first.test_file, old)
    news = texts_of(clone, first.language, first.new_rev, first.module, first.test_file, new)
    return tuple(_maintained(rows, olds, news))


def _maintained(rows: Sequence[MethodRow], olds: Texts, news: Texts) -> Iterator[MaintainedMethod]:
    at_new = {_new_name(row, news): row for row in rows if row.change is not Change.DELETED}
    at_old = {_old_name(row, olds): row for row in rows if row.change is not Change.INSERTED}
    known = {id(row): name for name, row in at_old.items()}
    used: set[str | None] = set()
    for name in news:
        row = at_new.get(name)
        before = known.get(id(row)) if row else name if _is_free(name, olds, at_old) else None
        used.add(before)
        yield _one(row, before, name, olds, news)
    for name in olds:
        if name not in used:
            yield _one(at_old.get(name), name, None, olds, news)


def _is_free(name: str, olds: Texts, at_old: Mapping[str | None, MethodRow]) -> bool:
    return name in olds and name not in at_old


def _one(
    row: MethodRow | None, before: str | None, after: str | None, olds: Texts, news: Texts
) -> MaintainedMethod:
    label = row.label if row else None
    same = before is not None and after is not None and olds[before].hash == news[after].hash
    return MaintainedMethod(
        old_method=before,
        new_method=after,
        label=label,
        duty=duty_of(label, same_text=same),
    )


def _new_name(row: MethodRow, news: Texts) -> str | None:
    wanted = row.test_class, row.test_method, row.parameters
    return next(
        (
            name
            for name, text in news.items()
            if (text.method.test_class, text.method.test_method, text.method.parameters) == wanted
        ),
        None,
    )


def _old_name(row: MethodRow, olds: Texts) -> str | None:
    """Among overloads, whose parameters at old no row has, the one of the row's source."""
    wanted = row.old_test_class or row.test_class, row.old_test_method or row.test_method
    found = {
        name: text
        for name, text in olds.items()
        if (text.method.test_class, text.method.test_method) == wanted
    }
    exact = [name for name, text in found.items() if text.source == row.old_source] or list(found)
    return exact[0] if exact else None
