"""Tasks: all test methods of one track in one test file of one pair, and what it takes to try them.

The same edit in several pairs (branches, merges, rebased copies, cherry-picks), also in forks, is one
task, which stands at the earliest of them (of those whose old revision is an ancestor, if any).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from functools import lru_cache

from coevo import prompts
from coevo.git.patches import tree_patch
from coevo.git.repository import Repository
from coevo.languages.layout import Side
from coevo.languages.reading import Reading
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import reading
from coevo.model.drops import Drop
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.families import StartBuilder
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.quality import Coverage
from coevo.model.reasons import Reason
from coevo.model.repository_rows import RepositoryRow
from coevo.model.task_rows import StartRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Stage
from coevo.model.words import Track
from coevo.model.words import Walk
from coevo.storage.dates import Basis
from packagers import sameness
from packagers.built import Built
from packagers.dating import earliest
from packagers.drafts import Draft
from packagers.drafts import DraftGroup
from packagers.drafts import draft
from packagers.drafts import groups
from packagers.focal_sources import focal_source
from packagers.gold import gold
from packagers.leaks import Leaks
from packagers.sameness import Identity
from packagers.task_commands import Environments
from packagers.task_commands import environment_of
from packagers.task_coverage import task_coverages
from packagers.task_dependencies import Listing
from packagers.task_prompts import prompt
from packagers.task_prompts import track_of

_LATEST = datetime.max.replace(tzinfo=UTC)
_WEAKEST_LAST = tuple(Basis)


def build_tasks(
    methods: Iterable[MethodRow],
    pairs: Mapping[tuple[str, Walk], PairRow],
    repositories: Iterable[RepositoryRow],
    clones: Mapping[str, Repository],
    environments: Environments,
    starts: Iterable[StartRow] = (),
) -> Built:
    """The tasks that methods make.

    methods       rows with their contamination dates; those without a track are passed over
    pairs         by pair_id and walk
    clones        by repository
    environments  by pair_id and module
    starts        what start states have beside the tasks' own files, as mining found it
    """
    around = {(row.pair_id, row.walk, row.track, row.test_file): row for row in starts}
    maker = _Maker(
        pairs=pairs,
        repositories={row.repo: row for row in reversed(list(repositories))},
        clones=clones,
        environments=environments,
        # Of one at a time: tasks are made by repository and language.
        leaks=lru_cache(maxsize=1)(lambda repo, language: Leaks(clones[repo], language)),
    )
    drafts, drops = _drafts(methods, maker, around)
    tasks: list[TaskRow] = []
    ids: dict[tuple[str, Walk], str] = {}
    coverage: dict[tuple[str, Walk], Coverage] = {}
    of_tasks = [sorted(same, key=maker.age) for same in sameness.groups(drafts, maker.identity)]
    for first, *copies in sorted(of_tasks, key=lambda same: _place(same[0].group)):
        rows, listing = first.group.rows, Listing.of(first.group.rows)
        covered = task_coverages(rows, listing.used)
        tasks.append(maker.task(first, copies, listing, covered))
        coverage |= {(name, rows[0].walk): one for name, one in covered.items()}
        members = (row for one in (first, *copies) for row in (*one.group.rows, *one.group.others))
        ids |= {(row.method_id, row.walk): first.group.task_id for row in members}
    return Built(
        tasks=tuple(sorted(tasks, key=lambda task: task.task_id)),
        ids=ids,
        drops=drops,
        coverage=coverage,
    )


def _drafts(
    methods: Iterable[MethodRow],
    maker: _Maker,
    around: Mapping[tuple[str, Walk, Track, str], StartRow],
) -> tuple[list[Draft], tuple[Drop, ...]]:
    """Those that have a start state and something to name, and why the others are none."""
    found: list[Draft] = []
    drops: list[Drop] = []
    for group in sorted(groups(methods), key=_place):
        try:
            made = draft(group, maker.clone(group), around.get(group.place))
        except StartStateInvalid as error:
            drops.append(_drop(group, Reason.START_STATE_INVALID, str(error)))
            continue
        if Listing.of(group.rows).used or track_of(group.rows[0]) is Track.REPAIR:
            found.append(made)
        else:
            drops.append(_drop(group, Reason.NOTHING_TO_NAME))
    return found, tuple(drops)


def _place(group: DraftGroup) -> tuple[str, str, str]:
    """Its place in an order in which each clone is opened once, and what is read of it is at hand."""
    row = group.rows[0]
    return row.repo, row.language, group.task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """What tasks are made of beside the method rows."""

    pairs: Mapping[tuple[str, Walk], PairRow]
    repositories: Mapping[str, RepositoryRow]
    clones: Mapping[str, Repository]
    environments: Environments
    leaks: Callable[[str, str], Leaks]

    def clone(self, group: DraftGroup) -> Repository:
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

    def age(self, draft_: Draft) -> tuple[bool, datetime, str, str]:
        """Pairs that somebody made come before those of branches that interleave."""
        pair = self.pair(draft_)
        date = pair.new_committer_date or _LATEST
        return not pair.old_is_ancestor, date, pair.repo, pair.pair_id

    def task(
        self,
        first: Draft,
        copies: Sequence[Draft],
        listing: Listing,
        covered: Mapping[str, Coverage],
    ) -> TaskRow:
        rows, pair = first.group.rows, self.pair(first)
        row, repository = rows[0], self.repositories[pair.repo]
        adequacy = gold(rows, covered)
        focal = listing.focal_method(rows)
        leaks = self.leaks(row.repo, row.language)
        environment = environment_of(rows, self.environments, self.clone(first.group))
        return TaskRow(
            task_id=first.group.task_id,
            also_at=tuple(sorted(copy.group.rows[0].pair_id for copy in copies)),
            pair_id=row.pair_id,
            repo=row.repo,
            url=repository.url,
            license=pair.license,
            language=row.language,
            track=track_of(row),
            walk=row.walk,
            old_rev=row.old_rev,
            new_rev=row.new_rev,
            old_is_ancestor=pair.old_is_ancestor,
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
            dependencies=listing.dependencies,
            dependency_list=listing.which,
            focal_method=focal,
            focal_source=focal_source(
                self.clone(first.group), focal, listing.dependencies, row.old_rev, row.new_rev
            ),
            environment=environment,
            prompt=prompt(self.clone(first.group), rows, listing.used, environment),
            prompt_version=prompts.VERSION,
            coverage_gold=adequacy.coverage,
            coverage_gold_success=adequacy.coverage_success,
            code_coverage_gold=adequacy.code_coverage,
            code_coverage_gold_success=adequacy.code_coverage_success,
            mutation_score_gold=adequacy.mutation_score,
            mutation_score_gold_success=adequacy.mutation_score_success,
            leak=leaks.leak(rows, first.shown).share,
            nearest=leaks.nearest(rows).share,
            siblings=first.around.siblings if first.around else (),
            reads_sources=first.around.reads_sources if first.around else None,
            sibling_patch=first.around.sibling_patch if first.around else '',
            family=Family.COEVOLUTION,
            start_builder=StartBuilder.REMOVED
            if row.track is Track.GENERATION
            else StartBuilder.REVERTED,
        )


def source_patch(repository: Repository, rows: Sequence[MethodRow]) -> str:
    """The change of what lies with the code, sources and resources; no tests, no build files.

    A project among the test resources is no main source.
    Of a project that keeps its sources elsewhere, the files of the dependencies.
    """
    layout = reading(rows[0].language)
    named = {dependency.file for row in rows for dependency in row.dependencies}
    changed = repository.changed(rows[0].old_rev, rows[0].new_rev)
    paths = [each.path for each in changed if each.path in named or _is_main(layout, each.path)]
    return tree_patch(repository, rows[0].old_rev, rows[0].new_rev, paths)


def _is_main(layout: Reading, path: str) -> bool:
    found = layout.placed(path)
    return found is not None and found.side is Side.SOURCE and not layout.is_build_file(path)


def _drop(group: DraftGroup, reason: Reason, detail: str = '') -> Drop:
    row = group.rows[0]
    return Drop.at(Stage.TASK, row, group.task_id, reason, detail, test_file=row.test_file)


def _test_methods(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """`Class#method` or `Outer$Inner#method`; overloads stand once."""
    names = (f'{row.test_class.rpartition(".")[2]}#{row.test_method}' for row in rows)
    return tuple(dict.fromkeys(names))


def _weakest(bases: Iterable[str | None]) -> str | None:
    known = {Basis(basis) for basis in bases if basis is not None}
    return max(known, key=_WEAKEST_LAST.index, default=None)
