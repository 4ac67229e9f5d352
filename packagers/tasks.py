"""Tasks: all test methods of one track in one test file of one pair, and what it takes to try them.

The same edit in several pairs (branches, merges, rebased copies, cherry-picks), also in forks, is one
task, which stands at the earliest of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import UTC
from datetime import datetime

from coevo import prompts
from coevo.errors import Fatal
from coevo.git import Repository
from coevo.old_pieces import StartStateInvalid
from coevo.patches import tree_patch
from coevo.reasons import Reason
from coevo.records import Dependency
from coevo.records import Drop
from coevo.records import Environment
from coevo.records import Stage
from coevo.records import Track
from coevo.records import Walk
from coevo.tables import MethodRow
from coevo.tables import PairRow
from coevo.tables import RepositoryRow
from coevo.tables import TaskRow
from packagers import sameness
from packagers.contamination import Basis
from packagers.contamination import earliest
from packagers.drafts import Draft
from packagers.drafts import Group
from packagers.drafts import draft
from packagers.drafts import groups
from packagers.gold import gold
from packagers.sameness import Identity

_MAIN = re.compile(r'(?!(?:.*/)?src/test/)(?:.*/)?src/main/', re.DOTALL)
_LATEST = datetime.max.replace(tzinfo=UTC)
_WEAKEST_LAST = tuple(Basis)


def build_tasks(
    methods: Iterable[MethodRow],
    pairs: Mapping[tuple[str, Walk], PairRow],
    repositories: Iterable[RepositoryRow],
    clones: Mapping[str, Repository],
    environments: Mapping[tuple[str, str], Environment],
) -> tuple[tuple[TaskRow, ...], dict[tuple[str, Walk], str], tuple[Drop, ...]]:
    """The tasks, the task of each method row that has one, and a drop for each that none came of.

    methods       rows with their contamination dates; those without a track are passed over
    pairs         by pair_id and walk
    clones        by repository
    environments  by pair_id and module
    """
    maker = _Maker(
        pairs=pairs,
        repositories={row.repo: row for row in reversed(list(repositories))},
        clones=clones,
        environments=environments,
    )
    found: list[Draft] = []
    drops = []
    for group in groups(methods):
        try:
            found.append(draft(group, maker.clone(group)))
        except StartStateInvalid as error:
            drops.append(
                Drop.at(
                    Stage.TASK,
                    group.rows[0],
                    group.task_id,
                    Reason.START_STATE_INVALID,
                    str(error),
                )
            )
    tasks: list[TaskRow] = []
    ids: dict[tuple[str, Walk], str] = {}
    for drafts in sameness.groups(found, maker.identity):
        first, *copies = sorted(drafts, key=maker.age)
        tasks.append(maker.task(first, copies))
        for each in drafts:
            rows = (*each.group.rows, *each.group.others)
            ids |= {(row.method_id, row.walk): first.group.task_id for row in rows}
    return tuple(sorted(tasks, key=lambda task: task.task_id)), ids, tuple(drops)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """What tasks are made of beside the method rows."""

    pairs: Mapping[tuple[str, Walk], PairRow]
    repositories: Mapping[str, RepositoryRow]
    clones: Mapping[str, Repository]
    environments: Mapping[tuple[str, str], Environment]

    def clone(self, group: Group) -> Repository:
        repo = group.rows[0].repo
        if repo not in self.clones:
            raise Fatal(f'there is no clone of {repo} in the store; mine it again')
        return self.clones[repo]

    def pair(self, draft_: Draft) -> PairRow:
        row = draft_.group.rows[0]
        return self.pairs[row.pair_id, row.walk]

    def identity(self, draft_: Draft) -> Identity:
        repo = draft_.group.rows[0].repo
        return draft_.identity(self.repositories[repo].family or repo)

    def age(self, draft_: Draft) -> tuple[datetime, str, str]:
        pair = self.pair(draft_)
        return pair.new_committer_date or _LATEST, pair.repo, pair.pair_id

    def task(self, first: Draft, copies: Sequence[Draft]) -> TaskRow:
        rows, pair = first.group.rows, self.pair(first)
        row, repository = rows[0], self.repositories[pair.repo]
        dependencies, worth = merge_dependencies(rows), gold(rows)
        return TaskRow(
            task_id=first.group.task_id,
            also_at=tuple(sorted(copy.group.rows[0].pair_id for copy in copies)),
            pair_id=row.pair_id,
            repo=row.repo,
            url=repository.url,
            license=pair.license,
            language=row.language,
            track=_track(row),
            walk=row.walk,
            old_rev=row.old_rev,
            new_rev=row.new_rev,
            old_author_date=pair.old_author_date,
            old_committer_date=pair.old_committer_date,
            new_author_date=pair.new_author_date,
            new_committer_date=pair.new_committer_date,
            contamination_date=earliest(row.contamination_date for row in rows),
            contamination_basis=_weakest(row.contamination_basis for row in rows),
            code_first_seen=earliest(row.code_first_seen for row in rows),
            module=row.module,
            test_file=row.test_file,
            test_methods=_test_methods(rows),
            method_ids=tuple(row.method_id for row in rows),
            start_file_sha256=first.start_sha256,
            test_patch=first.test_patch,
            source_patch=source_patch(self.clone(first.group), rows),
            dependencies=dependencies,
            focal_method=_focal_method(rows, dependencies),
            environment=self.environments.get((row.pair_id, row.module)),
            prompt=prompts.prompt(
                prompts.Subject(
                    track=_track(row),
                    new_rev=row.new_rev,
                    module=row.module,
                    test_file=row.test_file,
                    test_methods=_test_methods(rows),
                    selectors=_selectors(rows),
                    dependencies=dependencies,
                )
            ),
            prompt_version=prompts.VERSION,
            coverage_gold=worth.coverage,
            coverage_gold_success=worth.coverage_success,
            mutation_score_gold=worth.mutation_score,
            mutation_score_gold_success=worth.mutation_score_success,
        )


def source_patch(repository: Repository, rows: Sequence[MethodRow]) -> str:
    """The change of the main sources: Java and resources under any `src/main`, no POMs.

    A project among the test resources is no main source.
    Of a project that keeps its sources elsewhere, the files of the dependencies.
    """
    old, new = rows[0].old_rev, rows[0].new_rev
    named = {dependency.file for row in rows for dependency in row.dependencies}
    changed = (change.path for change in repository.changed(old, new))
    return tree_patch(
        repository, old, new, [path for path in changed if _MAIN.match(path) or path in named]
    )


def merge_dependencies(rows: Sequence[MethodRow]) -> tuple[Dependency, ...]:
    """The dependencies of all methods, ranked by their best rank, then by how many name them."""
    found: dict[tuple[str, ...], list[Dependency]] = defaultdict(list)
    for row in rows:
        for dependency in row.dependencies:
            found[_declared(dependency)].append(dependency)
    order = sorted(found, key=lambda key: (min(d.rank for d in found[key]), -len(found[key]), key))
    return tuple(_merged(found[key], rank) for rank, key in enumerate(order, start=1))


def _declared(dependency: Dependency) -> tuple[str, ...]:
    return (
        dependency.file,
        f'{dependency.start_line:09d}',
        dependency.declaration,
        str(dependency.revised),
    )


def _merged(same: Sequence[Dependency], rank: int) -> Dependency:
    couplings = [dependency.coupling for dependency in same if dependency.coupling is not None]
    return replace(
        same[0],
        executed_old=_any(dependency.executed_old for dependency in same),
        executed_new=_any(dependency.executed_new for dependency in same),
        coupling=max(couplings, default=None),
        rank=rank,
    )


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def _focal_method(rows: Sequence[MethodRow], dependencies: Sequence[Dependency]) -> str | None:
    """The focal method of the row whose own first dependency is ranked best."""
    places = {_declared(dependency): dependency.rank for dependency in dependencies}

    def place(row: MethodRow) -> int:
        first = min(row.dependencies, key=lambda d: d.rank, default=None)
        return places[_declared(first)] if first else len(places) + 1

    ordered = sorted(rows, key=place)
    return next((row.focal_method for row in ordered if row.focal_method is not None), None)


def _test_methods(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """`Class#method` or `Outer$Inner#method`; overloads stand once."""
    names = (f'{row.test_class.rpartition(".")[2]}#{row.test_method}' for row in rows)
    return tuple(dict.fromkeys(names))


def _selectors(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """What JUnit's console launcher is told to run; parameters tell overloads apart."""
    names = (
        f'{row.test_class}#{row.test_method}'
        + (f'({", ".join(row.parameters)})' if row.parameters else '')
        for row in rows
    )
    return tuple(dict.fromkeys(names))


def _track(row: MethodRow) -> Track:
    assert row.track is not None, 'groups() yields rows with a track'
    return row.track


def _weakest(bases: Iterable[str | None]) -> str | None:
    known = {Basis(basis) for basis in bases if basis is not None}
    return max(known, key=_WEAKEST_LAST.index, default=None)
