"""Submitted tests that carry a copy of the changed code, and so compare it with itself."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.task_context import TaskContext
from coevo.languages.table import get_reading
from coevo.measures.copied_code import Gram, has_copy, list_body_grams, list_file_grams
from coevo.measures.declaration_pairs import find_declaration
from coevo.model.dependencies import Revised


def find_copying_targets(
    context: TaskContext, patched: bytes, targets: dict[str, Target]
) -> frozenset[str]:
    """Return the names of targets of which a submitted file copies a changed method.

    The whole file is asked, since a copy may stand in a helper. A copy that the start file or
    gold's file has as well is allowed in the task.
    """
    rules = get_reading(context.pair.language).LEXIS
    now = list_file_grams(patched, rules)
    known = [
        list_file_grams(text, rules) for text in (context.start, context.gold) if text is not None
    ]
    return frozenset(
        name
        for name, target in targets.items()
        if any(
            has_copy(body, now) and not any(has_copy(body, grams) for grams in known)
            for body in _list_bodies(context, target)
        )
    )


def _list_bodies(context: TaskContext, target: Target) -> Iterator[frozenset[Gram]]:
    """Yield the grams of the bodies of the changed methods on which a target depends."""
    reading = get_reading(context.pair.language)
    for dependency in target.row.dependencies:
        if dependency.revised is Revised.REMOVED or not dependency.file.endswith(reading.SUFFIXES):
            continue
        found = find_declaration(context.repository, context.pair, dependency)
        member = found.member if found is not None else None
        if member is not None and member.body_at is not None:
            body = member.source[member.body_at :].encode(errors='surrogateescape')
            yield list_body_grams(body, reading.LEXIS)
