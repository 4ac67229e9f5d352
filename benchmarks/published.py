"""Published test methods, and the Java states by which their revisions are found in a walk.

A revision is named by its state, the paths and contents of its Java files: of a run of commits with
one state any may be the one that is published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.pair_rows import PairRow

State = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published test method; `denominators` are those of the scoring program that count it."""

    repo: str
    track: str
    old_rev: str
    new_rev: str
    test_file: str
    test_method: str
    steps: int | None
    denominators: frozenset[int]


def published(gold: Path) -> Iterator[Published]:
    """All methods of test files that kept their path: the others are in no denominator."""
    for line in gold.read_text().splitlines():
        row = json.loads(line)
        if row['test_file_renamed_from']:
            continue
        counted = {1: True, 2: row['java_state_steps'] == 1}
        counted[3] = bool(row['first_parent_edge_same_java'])
        for method in row['test_methods']:
            yield Published(
                repo=row['repo'],
                track=row['track'].removeprefix('test_'),
                old_rev=row['rev1'],
                new_rev=row['rev2'],
                test_file=row['test_file'],
                test_method=method.rpartition('#')[2],
                steps=row['java_state_steps'],
                denominators=frozenset(number for number, counts in counted.items() if counts),
            )


def open_clone(clones: Path, repo: str) -> Repository:
    """The clone OWNER+NAME, or OWNER+NAME/repo, as the scoring program finds it."""
    folder = clones / repo.replace('/', '+')
    return Repository(folder / 'repo' if (folder / 'repo').is_dir() else folder)


class States:
    """The Java states of a clone, each read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._known: dict[str, State] = {}

    def __call__(self, rev: str) -> State:
        if rev not in self._known:
            tree = self._repository.tree(rev)
            self._known[rev] = tuple(
                (path, tree[path].oid) for path in sorted(tree) if path.endswith('.java')
            )
        return self._known[rev]

    def pair(self, row: PairRow | Published) -> tuple[State, State]:
        return self(row.old_rev), self(row.new_rev)
