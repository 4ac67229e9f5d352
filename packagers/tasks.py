"""Build tasks: all test methods of one track in one test file of one pair.

A task has all that an attempt at it needs.

The same edit in several pairs (branches, merges, rebased copies, cherry-picks), also in forks,
gives one task, at the earliest of these pairs (of those whose old revision is an ancestor, if any).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from coevo import prompts
from coevo.git.patches import make_tree_patch
from coevo.git.repository import Repository, load_content
from coevo.languages.reading import LanguageReading, RevisionTree, Side
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import get_reading
from coevo.measures.coverage import make_dependency_key, measure_list_counting_unexecuted
from coevo.model.dependencies import Dependency, Revised
from coevo.model.errors import Fatal
from coevo.model.families import Family, StartBuilder
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.quality import Coverage
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.repository_rows import RepositoryRow
from coevo.model.task_rows import StartRow, TaskRow
from coevo.model.words import Stage, Track, Walk
from coevo.storage.dates import SearchBasis
from packagers.dating import find_earliest_if_all_known
from packagers.drafts import (
    Draft,
    DraftGroup,
    Identity,
    get_path_in_module,
    group_by_task,
    group_same_items,
    make_draft,
    make_edit_key,
)
from packagers.plan import BuiltTasks
from packagers.shown_answers import LeakMeter, find_how_answers_are_shown, is_moved
from packagers.task_commands import (
    Environments,
    TaskDependencies,
    find_environment_to_run_targets,
    get_track,
    render_prompt,
)
from packagers.triviality import is_trivial

_LATEST = datetime.max.replace(tzinfo=UTC)
_WEAKEST_LAST = tuple(SearchBasis)


def build_tasks(
    methods: Iterable[MethodRow],
    pairs: Mapping[tuple[str, Walk], PairRow],
    repositories: Iterable[RepositoryRow],
    clones: Mapping[str, Repository],
    environments: Environments,
    starts: Iterable[StartRow] = (),
) -> BuiltTasks:
    """Return the tasks of method rows that have a track, and a drop for each group without a task.

    methods       rows with their contamination dates; those without a track are ignored
    pairs         by pair_id and walk
    clones        by repository
    environments  by pair_id and module
    starts        what start states change outside of the tasks' own files, as mining recorded it
    """
    around = {(row.pair_id, row.walk, row.track, row.test_file): row for row in starts}
    maker = _TaskMaker(
        pairs=pairs,
        repositories={row.repo: row for row in reversed(list(repositories))},
        clones=clones,
        environments=environments,
        # One meter is enough: tasks are made in the order of repository and language.
        leaks=lru_cache(maxsize=1)(lambda repo, language: LeakMeter(clones[repo], language)),
    )
    drafts, drops = _make_drafts(methods, maker, around)
    drafts, repeated = _drop_repeated_merges(drafts, maker)
    drops = (*drops, *repeated)
    tasks: list[TaskRow] = []
    ids: dict[tuple[str, Walk], str] = {}
    coverage: dict[tuple[str, Walk], Coverage] = {}
    of_tasks = [
        sorted(same, key=maker.compute_age_key)
        for same in group_same_items(drafts, maker.compute_sameness_key)
    ]
    for first, *copies in sorted(of_tasks, key=lambda same: _get_order_key(same[0].group)):
        rows, listing = first.group.rows, TaskDependencies.from_rows(first.group.rows)
        covered = compute_coverage_by_method(rows, listing.listed_dependencies)
        tasks.append(maker.make_task(first, copies, listing, covered))
        coverage |= {(name, rows[0].walk): item for name, item in covered.items()}
        members = (
            row for item in (first, *copies) for row in (*item.group.rows, *item.group.others)
        )
        ids |= {(row.method_id, row.walk): first.group.task_id for row in members}
    return BuiltTasks(
        tasks=tuple(sorted(tasks, key=lambda task: task.task_id)),
        ids=ids,
        drops=drops,
        coverage=coverage,
    )


def _make_drafts(
    methods: Iterable[MethodRow],
    maker: _TaskMaker,
    around: Mapping[tuple[str, Walk, Track, str], StartRow],
) -> tuple[list[Draft], tuple[Drop, ...]]:
    """Return a draft or a drop for each group of rows that would be one task.

    A drop has no valid start state, or nothing that its prompt could name as changed.
    """
    drafts: list[Draft] = []
    drops: list[Drop] = []
    for group in sorted(group_by_task(methods), key=_get_order_key):
        try:
            new_draft = make_draft(group, maker.get_clone(group), around.get(group.key))
        except StartStateInvalid as error:
            drops.append(_make_drop(group, Reason.START_STATE_INVALID, str(error)))
            continue
        if (
            TaskDependencies.from_rows(group.rows).listed_dependencies
            or get_track(group.rows[0]) is Track.REPAIR
        ):
            drafts.append(new_draft)
        else:
            drops.append(_make_drop(group, Reason.NOTHING_TO_NAME))
    return drafts, tuple(drops)


def _drop_repeated_merges(
    drafts: Sequence[Draft], maker: _TaskMaker
) -> tuple[list[Draft], tuple[Drop, ...]]:
    """Leave out drafts of `first-parent` that repeat an edit of a draft of `parents`; drop them.

    A merge repeats what the commits of its branch changed. A draft that is the same as a whole
    stays, since it becomes a copy of that task.
    """
    by_walk: dict[bool, list[Draft]] = {True: [], False: []}
    for draft in drafts:
        by_walk[draft.group.rows[0].walk is Walk.FIRST_PARENT].append(draft)
    single = [draft for draft in by_walk[False] if draft.group.rows[0].walk is Walk.PARENTS]
    whole = {maker.compute_sameness_key(draft) for draft in single}
    edits = {edit for draft in single for edit in maker.list_edits(draft)}
    dropped = {
        draft.group.task_id
        for draft in by_walk[True]
        if maker.compute_sameness_key(draft) not in whole
        and not edits.isdisjoint(maker.list_edits(draft))
    }
    return (
        [draft for draft in drafts if draft.group.task_id not in dropped],
        tuple(
            _make_drop(draft.group, Reason.IN_ANOTHER_WALK)
            for draft in drafts
            if draft.group.task_id in dropped
        ),
    )


def _get_order_key(group: DraftGroup) -> tuple[str, str, str]:
    """Return a sort key by which each clone is opened once and its caches are reused."""
    row = group.rows[0]
    return row.repo, row.language, group.task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskMaker:
    """The input of tasks beside the method rows."""

    pairs: Mapping[tuple[str, Walk], PairRow]
    repositories: Mapping[str, RepositoryRow]
    clones: Mapping[str, Repository]
    environments: Environments
    leaks: Callable[[str, str], LeakMeter]

    def get_clone(self, group: DraftGroup) -> Repository:
        """Return the clone of a group's repository.

        Raises: Fatal if there is none.
        """
        repo = group.rows[0].repo
        if repo not in self.clones:
            raise Fatal(f'there is no clone of {repo} in the store; mine it again')
        return self.clones[repo]

    def get_pair(self, draft_: Draft) -> PairRow:
        """Return the row of the pair to which a draft belongs."""
        row = draft_.group.rows[0]
        return self.pairs[row.pair_id, row.walk]

    def compute_sameness_key(self, draft_: Draft) -> Identity:
        """Return the identity of a draft within its family of repositories."""
        repo = draft_.group.rows[0].repo
        return draft_.compute_sameness_key(self.repositories[repo].family or repo)

    def list_edits(self, draft_: Draft) -> Iterator[Hashable]:
        """Yield the edit of each target of a draft, within its family of repositories."""
        for row in draft_.group.rows:
            family = self.repositories[row.repo].family or row.repo
            yield (
                family,
                row.language,
                get_path_in_module(row),
                make_edit_key([row]),
            )

    def compute_age_key(self, draft_: Draft) -> tuple[bool, datetime, str, str]:
        """Return the key by which drafts are sorted, the oldest first.

        Pairs whose old revision is no ancestor of the new one come after all others.
        """
        pair = self.get_pair(draft_)
        date = pair.new_committer_date or _LATEST
        return not pair.old_is_ancestor, date, pair.repo, pair.pair_id

    def make_task(
        self,
        first: Draft,
        copies: Sequence[Draft],
        listing: TaskDependencies,
        covered: Mapping[str, Coverage],
    ) -> TaskRow:
        """Return the task of a draft; `copies` are the same edit in other pairs."""
        rows = first.group.rows
        task = self._make_plain_task(first, copies, listing)
        task = _add_prompt(task, self.get_clone(first.group), rows, listing)
        task = _add_gold_measures(task, compute_gold_measures(rows, covered))
        return _add_shown_answers(task, first, self.leaks(task.repo, task.language))

    def _make_plain_task(
        self, first: Draft, copies: Sequence[Draft], listing: TaskDependencies
    ) -> TaskRow:
        """Return the task with what the pair, the draft and its rows say, and nothing measured."""
        rows, pair, clone = first.group.rows, self.get_pair(first), self.get_clone(first.group)
        row = rows[0]
        return TaskRow(
            task_id=first.group.task_id,
            also_at=tuple(sorted(copy.group.rows[0].pair_id for copy in copies)),
            pair_id=row.pair_id,
            repo=row.repo,
            url=self.repositories[pair.repo].url,
            license=pair.license,
            language=row.language,
            track=get_track(row),
            walk=row.walk,
            old_rev=row.old_rev,
            new_rev=row.new_rev,
            old_is_ancestor=pair.old_is_ancestor,
            old_author_date=pair.old_author_date,
            old_committer_date=pair.old_committer_date,
            new_author_date=pair.new_author_date,
            new_committer_date=pair.new_committer_date,
            contamination_date=find_earliest_if_all_known(row.contamination_date for row in rows),
            contamination_basis=_find_weakest_basis(row.contamination_basis for row in rows),
            code_first_seen=find_earliest_if_all_known(row.code_first_seen for row in rows),
            module=row.module,
            test_file=row.test_file,
            test_methods=_list_test_methods(rows),
            method_ids=tuple(row.method_id for row in rows),
            start_file_sha256=first.start_sha256,
            test_patch=first.test_patch,
            source_patch=make_source_patch(clone, rows),
            dependencies=listing.dependencies,
            dependency_list=listing.which,
            focal_method=listing.find_focal_method(rows),
            environment=find_environment_to_run_targets(rows, self.environments, clone),
            siblings=first.around.siblings if first.around else (),
            reads_sources=first.around.reads_sources if first.around else None,
            sibling_patch=first.around.sibling_patch if first.around else '',
            family=Family.COEVOLUTION,
            start_builder=StartBuilder.REMOVED
            if row.track is Track.GENERATION
            else StartBuilder.REVERTED,
        )


def _add_prompt(
    task: TaskRow, clone: Repository, rows: Sequence[MethodRow], listing: TaskDependencies
) -> TaskRow:
    return replace(
        task,
        focal_source=load_focal_source(
            clone, task.focal_method, listing.dependencies, task.old_rev, task.new_rev
        ),
        prompt=render_prompt(clone, rows, listing, task.environment),
        prompt_version=prompts.VERSION,
    )


def _add_gold_measures(task: TaskRow, gold: GoldMeasures) -> TaskRow:
    return replace(
        task,
        coverage_gold=gold.coverage,
        coverage_gold_success=gold.coverage_success,
        code_coverage_gold=gold.code_coverage,
        code_coverage_gold_success=gold.code_coverage_success,
        mutation_score_gold=gold.mutation_score,
        mutation_score_gold_success=gold.mutation_score_success,
    )


def _add_shown_answers(task: TaskRow, first: Draft, leaks: LeakMeter) -> TaskRow:
    """Add how much of the answer the start state or the old revision shows."""
    rows = first.group.rows
    nearest = leaks.compute_largest_share_at_old(rows)
    return replace(
        task,
        leak=leaks.compute_largest_leaked_share(rows, first.differing_start_files),
        nearest=nearest,
        trivial=is_trivial(rows, leaks.list_tests_at_start(rows[0], first.differing_start_files)),
        moved=is_moved(leaks, rows),
        shown_by=find_how_answers_are_shown(leaks, rows, first.differing_start_files, nearest),
    )


def make_source_patch(repository: Repository, rows: Sequence[MethodRow]) -> str:
    """Return the patch of source files and their resources between the ends of a pair.

    Tests, also those that only the settings of a revision name, and build files are left out. Files
    of projects that are test resources do not count as sources. For a project that keeps its
    sources elsewhere, the files of the dependencies are included.
    """
    layout, ends = get_reading(rows[0].language), (rows[0].old_rev, rows[0].new_rev)
    named = {dependency.file for row in rows for dependency in row.dependencies}
    trees = [layout.open_tree(repository, rev) for rev in ends]
    paths = [
        each.path
        for each in repository.list_changes(*ends)
        if each.path in named or _is_main_source(layout, trees, each.path)
    ]
    return make_tree_patch(repository, *ends, paths)


def _is_main_source(layout: LanguageReading, trees: Sequence[RevisionTree], path: str) -> bool:
    placement = layout.classify_path(path)
    return (
        placement is not None
        and placement.side is Side.SOURCE
        and not layout.is_build_file(path)
        and not any(path in tree.entries and tree.belongs_to_tests(path) for tree in trees)
    )


def _make_drop(group: DraftGroup, reason: Reason, detail: str = '') -> Drop:
    row = group.rows[0]
    return Drop.make_drop_at_stage(
        Stage.TASK, row, group.task_id, reason, detail, test_file=row.test_file
    )


def _list_test_methods(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """Return `Class#method` or `Outer$Inner#method` for each method; overloads occur once."""
    names = (f'{row.test_class.rpartition(".")[2]}#{row.test_method}' for row in rows)
    return tuple(dict.fromkeys(names))


def _find_weakest_basis(bases: Iterable[str | None]) -> str | None:
    known = {SearchBasis(basis) for basis in bases if basis is not None}
    return max(known, key=_WEAKEST_LAST.index, default=None)


# The next part loads the text of a task's focal method.


def load_focal_source(
    repository: Repository,
    focal: str | None,
    dependencies: Iterable[Dependency],
    old_rev: str,
    new_rev: str,
) -> str | None:
    """Return the lines of the focal method at new, or at old if it was removed.

    None if no dependency is the focal method, or its file cannot be found.
    """
    focal_dependency = next(
        (dependency for dependency in dependencies if focal and dependency.name == focal), None
    )
    if focal_dependency is None:
        return None
    rev = old_rev if focal_dependency.revised is Revised.REMOVED else new_rev
    text = load_content(repository, rev, focal_dependency.file)
    if text is None:
        return None
    lines = text.decode('utf-8', 'surrogateescape').split('\n')
    return '\n'.join(lines[focal_dependency.start_line - 1 : focal_dependency.end_line]) + '\n'


# The next part measures the coverage of the task's dependencies by each method (TestEvo-Bench, A.4,
# Eq. 1).
#
# Mining measures a method's coverage of its own dependencies. A dependency that only other methods
# of the task have is not executed by this method; otherwise it would be its dependency, too.


def compute_coverage_by_method(
    rows: Sequence[MethodRow], dependencies: Sequence[Dependency]
) -> dict[str, Coverage]:
    """Return each method's coverage of the task's dependencies, by method id.

    Methods without a trace at new are left out. Empty if the task has no such dependency.

    dependencies  those in the list that the task uses
    """
    seen = {
        make_dependency_key(coverage): coverage
        for row in rows
        for coverage in row.covered_dependencies or ()
    }
    coverages = {
        row.method_id: measure_list_counting_unexecuted(
            dependencies, row.covered_dependencies, seen
        )
        for row in rows
        if row.covered_dependencies is not None
    }
    return {
        method_id: coverage for method_id, coverage in coverages.items() if coverage is not None
    }


# The rest computes the adequacy of a task's gold tests: means over its methods (TestEvo-Bench, A.4
# to A.6).
#
# Line coverage counts the whole range of the task's dependencies (Eq. 1), code coverage only the
# lines with code.
#
# A method without a measurement counts as 0 in the wide mean and is left out of the narrow mean. A
# method whose mutants were not run, because of the limit of runs for a pair, is in neither.


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldMeasures:
    """Means of a task's gold tests, as shares from 0 to 1; None if nothing was measured.

    Names with `_success` are narrow means: they leave out methods without a measurement, and are
    None if all are left out.
    """

    coverage: float | None
    coverage_success: float | None
    code_coverage: float | None
    code_coverage_success: float | None
    mutation_score: float | None
    mutation_score_success: float | None


def compute_gold_measures(
    rows: Sequence[MethodRow], covered: Mapping[str, Coverage]
) -> GoldMeasures:
    """Return the mean coverage and mutation scores over the methods of a task.

    covered  each method's coverage of the task's dependencies, by method id
    """
    known = [covered.get(row.method_id) for row in rows]
    lines = [coverage.line_coverage if coverage else None for coverage in known]
    code = [coverage.code_coverage if coverage else None for coverage in known]
    mutations = [row.mutation for row in rows if not (row.mutation and row.mutation.not_run)]
    scores = [mutation.score if mutation else None for mutation in mutations]
    was_mutated = any(mutations)
    return GoldMeasures(
        coverage=_compute_mean_with_zeros(lines) if covered else None,
        coverage_success=_compute_mean_of_known(lines),
        code_coverage=_compute_mean_with_zeros(code) if covered else None,
        code_coverage_success=_compute_mean_of_known(code),
        mutation_score=_compute_mean_with_zeros(scores) if was_mutated else None,
        mutation_score_success=_compute_mean_of_known(scores),
    )


def _compute_mean_with_zeros(scores: Sequence[float | None]) -> float:
    return sum(score or 0.0 for score in scores) / len(scores)


def _compute_mean_of_known(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
