"""Group what is the same thing seen more than once.

It may be in several pairs of one repository, and in its forks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coevo.git.repository import Repository
from coevo.model.method_rows import MethodRow

Item = TypeVar('Item')


@dataclass(frozen=True, slots=True)
class Identity:
    """The criteria by which two things are the same.

    content  everything that must be equal, including the family of repositories
    repo     the repository where it was seen
    path     its test file, which a fork may have in a module of another name
    """

    content: Hashable
    repo: str
    path: str


def group_same_items(
    items: Iterable[Item], identity: Callable[[Item], Identity]
) -> Iterator[list[Item]]:
    """Yield groups of items that are the same thing, judged by `identity`.

    These are items with equal content at one path. Items at other paths join them if they are in
    other repositories (forks) alone.

    Modules of one repository may be copies of each other. In that case it is unknown which of them
    a fork has renamed, so the paths stay separate.
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
    """Return the path of the test file below its module's folder."""
    return row.test_file if row.module == '.' else row.test_file.removeprefix(f'{row.module}/')


def make_edit_key(rows: Sequence[MethodRow]) -> tuple[Hashable, ...]:
    """Return the names and both texts of some test methods, as a key of their edit."""
    return tuple(
        (row.test_class, row.test_method, row.parameters, row.old_source, row.new_source)
        for row in rows
    )


# The rest finds the families of a store's repositories: forks, copies and renames of one another.
#
# They share a commit, hence a root commit, whose id cannot occur twice by chance. Equal files prove
# nothing: the same trivial test is in many unrelated projects.

# A pull request may bring in the history of another project; that does not make the two related.
_PULLS = 'refs/pull/'
_ROOTS = ('rev-list', '--max-parents=0')


# Refs of clones as (name, object id), by repository.
Refs = Mapping[str, Sequence[tuple[str, str]]]


def find_repository_families(
    clones: Mapping[str, Repository], refs: Refs | None = None
) -> dict[str, str]:
    """Return the family of each repository: the name of the first repository in it.

    Repositories are of one family if they share a root commit, and joined families are one. A
    shallow clone has the commits where it ends as roots, so only similar shallow clones join its
    family.

    refs  refs of each clone; None takes those that the clones have now
    """
    first_with: dict[str, str] = {}
    family: dict[str, str] = {}
    for repo in sorted(clones):
        roots = _find_roots(clones[repo], refs[repo] if refs else None)
        known = {family[first_with[root]] for root in roots if root in first_with}
        head = min(known, default=repo)
        family[repo] = head
        # A repository with two roots joins families that were separate before.
        if joined := known - {head}:
            family |= {other: head for other, its in family.items() if its in joined}
        first_with |= {root: repo for root in roots if root not in first_with}
    return family


def _find_roots(clone: Repository, refs: Sequence[tuple[str, str]] | None) -> list[str]:
    if refs is None:
        return clone.run_command(*_ROOTS, f'--exclude={_PULLS}*', '--all').decode().split()
    tips = ''.join(f'{oid}\n' for name, oid in refs if not name.startswith(_PULLS))
    output = clone.run_command(*_ROOTS, '--ignore-missing', '--stdin', stdin=tips.encode())
    return output.decode().split()
