"""What is the same thing seen more than once: in pairs of one repository, and in its forks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coevo.model.method_rows import MethodRow

Item = TypeVar('Item')


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two things the same.

    content  all that has to be equal, the family of repositories included
    repo     where it was seen
    path     its test file, which a fork may have in a module of another name
    """

    content: Hashable
    repo: str
    path: str


def group_same_items(
    items: Iterable[Item], identity: Callable[[Item], Identity]
) -> Iterator[list[Item]]:
    """The items of equal content at one path, together with those of forks at another.

    Modules of one repository may be copies of each other: then nobody can say which of them a
    fork has renamed, and paths stay apart.
    """
    by_content: dict[Hashable, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        key = identity(item)
        by_content[key.content][key.path].append(item)
    for paths in by_content.values():
        repos = [{identity(item).repo for item in same} for same in paths.values()]
        if len(set().union(*repos)) == sum(map(len, repos)):
            yield [item for same in paths.values() for item in same]
        else:
            yield from paths.values()


def get_path_in_module(row: MethodRow) -> str:
    """The test file below its module's folder."""
    return row.test_file if row.module == '.' else row.test_file.removeprefix(f'{row.module}/')


def make_edit_key(rows: Sequence[MethodRow]) -> tuple[Hashable, ...]:
    """Of test methods what they are called and how their text changed."""
    return tuple(
        (row.test_class, row.test_method, row.parameters, row.old_source, row.new_source)
        for row in rows
    )
