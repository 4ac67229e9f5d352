"""Which repositories of a store are of one family: forks, copies and renames of one another.

They share a commit, hence a root commit, whose id nobody comes by twice. Equal files prove nothing:
the same trivial test stands in many projects that never met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo.git.repository import Repository

# Who asks for a merge may bring in the history of another project; that does not relate the two.
_PULLS = 'refs/pull/'
_ROOTS = ('rev-list', '--max-parents=0')


# Refs of clones as (name, object id), by repository.
Refs = Mapping[str, Sequence[tuple[str, str]]]


def find_families(clones: Mapping[str, Repository], refs: Refs | None = None) -> dict[str, str]:
    """By repository: the first, in the order of names, of all that are of its family.

    A shallow clone has the commits where it ends for roots, and is of a family only with its like.
    """
    first_with: dict[str, str] = {}
    family: dict[str, str] = {}
    for repo in sorted(clones):
        roots = _find_roots(clones[repo], refs[repo] if refs else None)
        known = {family[first_with[root]] for root in roots if root in first_with}
        head = min(known, default=repo)
        family[repo] = head
        # A repository of two roots joins what was apart before.
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
