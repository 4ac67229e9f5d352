"""Which changed declarations a trace shows as executed, where they stand at new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.languages.traces import Trace
from coevo.measures.declaration_pairs import find_declaration, find_declared_type
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair


def mark_executed_at_new(
    repository: Repository, pair: Pair, dependencies: Sequence[Dependency], trace: Trace
) -> tuple[Dependency, ...]:
    """The dependencies with what a trace on the new code says of those that stand there.

    The rest of a type counts as executed with any of its methods; resources are left as they are.
    """
    return tuple(
        replace(dependency, executed_new=_is_executed(repository, pair, dependency, trace))
        if dependency.revised is not Revised.REMOVED
        and dependency.file.endswith(get_reading(pair.language).SUFFIXES)
        else dependency
        for dependency in dependencies
    )


def _is_executed(repository: Repository, pair: Pair, one: Dependency, trace: Trace) -> bool:
    executed = [method for method in trace.executed if method.file == one.file]
    standing = find_declaration(repository, pair, one) or find_declared_type(repository, pair, one)
    if standing is None:
        return False
    is_part_of = get_reading(pair.language).is_part_of
    return any(is_part_of(method, standing.member, standing.type) for method in executed)
