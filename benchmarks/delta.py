"""Our changed dependencies of published tasks against the published ones: how much they share.

    python -m benchmarks.delta GOLD.jsonl CLONES SCORES.csv DIFFERENCES.csv
                               [--store STORE] [--min-precision X] [--min-recall X]

With a store, our dependencies are those of its rows, which know what the tests execute; without, those
that the text of the tests tells (`miners.diffs.changes.diff`), and then no task is left out. A task's are
those of all its test methods that are found, and a task with none found is not compared.

A method is `Outer$Inner#method`, as it is published: without package and parameters. Only methods and
constructors are compared, changes of the rest of a type are counted beside. CLONES is a folder of clones
named OWNER+NAME (or OWNER+NAME/repo). Exit status 1 if the micro precision or recall is below X (0 to 1).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks import tables
from benchmarks.delta_causes import Difference
from benchmarks.delta_causes import Ours
from benchmarks.delta_causes import counted
from benchmarks.delta_causes import differences
from benchmarks.published import State
from benchmarks.published import States
from benchmarks.published import open_clone
from coevo.git.repository import Repository
from coevo.languages.java.reading.trees import tree
from coevo.model.method_rows import MethodRow
from coevo.model.records import Dependency
from coevo.model.records import Pair
from coevo.model.records import Walk
from coevo.storage.store import Store
from miners.diffs.changes import diff

Named = dict[str, tuple[Dependency, ...]]
"""Dependencies by the name of the test method; several of one name in a file are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A published task; methods and dependencies as they are published."""

    repo: str
    track: str
    task_id: str
    old_rev: str
    new_rev: str
    test_file: str
    methods: tuple[str, ...]
    dependencies: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Counts of one task. `found` of its methods are ours; `types` and `overloads` are beside."""

    task: Task
    found: int
    ours: int
    both: int
    types: int
    overloads: int

    @property
    def precision(self) -> float | None:
        return self.both / self.ours if self.ours else None

    @property
    def recall(self) -> float:
        return self.both / len(self.task.dependencies)

    @property
    def jaccard(self) -> float:
        return self.both / (self.ours + len(self.task.dependencies) - self.both)


def tasks(gold: Path) -> Iterator[Task]:
    """All whose test file kept its path, as the scoring program counts them."""
    for line in gold.read_text().splitlines():
        row = json.loads(line)
        if row['test_file_renamed_from']:
            continue
        yield Task(
            repo=row['repo'],
            track=row['track'].removeprefix('test_'),
            task_id=row['task_id'],
            old_rev=row['rev1'],
            new_rev=row['rev2'],
            test_file=row['test_file'],
            methods=tuple(name.rpartition('#')[2] for name in row['test_methods']),
            dependencies=frozenset(row['dependency_methods']),
        )


class Rows:
    """The rows of a store by the Java states of their pair, and by their test file."""

    def __init__(self, store: Store, repo: str, repository: Repository) -> None:
        self._states = States(repository)
        self._rows: dict[tuple[State, State], list[MethodRow]] = {}
        for partition in (p for p in store.partitions() if p.repo == repo):
            for segment in store.segments(partition):
                ends = self._states.pair(segment.pair)
                self._rows.setdefault(ends, []).extend(segment.methods)

    def __call__(self, task: Task) -> Named:
        found: Named = {}
        for row in self._rows.get((self._states(task.old_rev), self._states(task.new_rev)), ()):
            if row.test_file == task.test_file:
                if not all(dependency.name for dependency in row.dependencies):
                    raise SystemExit(
                        'the store was mined before dependencies had names: mine again'
                    )
                found[row.test_method] = (*found.get(row.test_method, ()), *row.dependencies)
        return found


class Diffs:
    """What the text of the tests of a pair tells."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def __call__(self, task: Task) -> Named:
        found: Named = {}
        for candidate in diff(self._repository, pair_of(self._repository, task)).candidates:
            if candidate.method.test_file == task.test_file:
                name = candidate.method.test_method
                found[name] = (*found.get(name, ()), *candidate.dependencies)
        return found


def pair_of(repository: Repository, task: Task) -> Pair:
    return Pair(
        repo=task.repo,
        language='java',
        walk=Walk.WINDOW,
        old=repository.commit(task.old_rev),
        new=repository.commit(task.new_rev),
        old_is_ancestor=True,
    )


def compare(
    repository: Repository, task: Task, named: Named
) -> tuple[Score, tuple[Difference, ...]] | None:
    """How a task's lists differ; None where none of its test methods is ours."""
    present = [name for name in task.methods if name in named]
    if not present:
        return None
    ours = Ours(dependencies=tuple(item for name in present for item in named[name]))
    change = diff(repository, pair_of(repository, task))
    ends = tree(repository, task.old_rev), tree(repository, task.new_rev)
    score = Score(
        task=task,
        found=len(present),
        ours=len(ours.methods),
        both=len(ours.methods.keys() & task.dependencies),
        types=len(ours.types),
        overloads=ours.overloads,
    )
    return score, tuple(differences(ours, task.dependencies, change.sources, ends))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Micro: over all methods of all tasks; mean: over tasks, precision where we have any."""

    precision: float
    recall: float
    jaccard: float
    mean_precision: float
    mean_recall: float
    mean_jaccard: float


def summary(scores: Sequence[Score]) -> Summary:
    both = sum(score.both for score in scores)
    ours = sum(score.ours for score in scores)
    published = sum(len(score.task.dependencies) for score in scores)
    precisions = [score.precision for score in scores if score.precision is not None]
    return Summary(
        precision=both / ours if ours else 0.0,
        recall=both / published,
        jaccard=both / (ours + published - both),
        mean_precision=fmean(precisions) if precisions else 0.0,
        mean_recall=fmean(score.recall for score in scores),
        mean_jaccard=fmean(score.jaccard for score in scores),
    )


def _rows(scores: Iterable[Score]) -> list[dict[str, object]]:
    return [
        {
            'repo': score.task.repo,
            'track': score.task.track,
            'task': score.task.task_id,
            'methods': len(score.task.methods),
            'found': score.found,
            'published': len(score.task.dependencies),
            'ours': score.ours,
            'both': score.both,
            'types': score.types,
            'overloads': score.overloads,
        }
        for score in scores
    ]


def _print(scores: Sequence[Score], causes: Counter[tuple[object, ...]]) -> None:
    total = summary(scores)
    print(f'{len(scores)} tasks, {sum(score.found for score in scores)} test methods')
    print(f'micro  precision {total.precision:.3f} recall {total.recall:.3f} ', end='')
    print(f'Jaccard {total.jaccard:.3f}')
    print(f'mean   precision {total.mean_precision:.3f} recall {total.mean_recall:.3f} ', end='')
    print(f'Jaccard {total.mean_jaccard:.3f}')
    equal = sum(score.jaccard == 1 for score in scores)
    print(f'equal lists in {equal} tasks, beside them {sum(s.types for s in scores)} types')
    print(
        f'{sum(s.overloads for s in scores)} overloads that the published names do not tell apart'
    )
    for (only, cause), count in sorted(causes.items(), key=lambda item: (item[0][0], -item[1])):
        print(f'{count:5} {only:10} {cause}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('gold', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('scores', type=Path)
    parser.add_argument('differences', type=Path)
    parser.add_argument('--store', type=Path)
    parser.add_argument('--min-precision', type=float, default=0.0)
    parser.add_argument('--min-recall', type=float, default=0.0)
    arguments = parser.parse_args()
    everything = list(tasks(arguments.gold))
    scores: list[Score] = []
    rows: list[dict[str, object]] = []
    causes: Counter[tuple[object, ...]] = Counter()
    for repo in sorted({task.repo for task in everything}):
        repository = open_clone(arguments.clones, repo)
        named: Callable[[Task], Named] = Diffs(repository)
        if arguments.store:
            named = Rows(Store(arguments.store), repo, repository)
        for task in (task for task in everything if task.repo == repo):
            compared = compare(repository, task, named(task))
            if compared is None:
                continue
            scores.append(compared[0])
            causes.update(counted(compared[1]))
            rows += [
                {'task': task.task_id, 'only': d.only, 'method': d.method, 'cause': d.cause}
                for d in compared[1]
            ]
    if not scores:
        raise SystemExit('no published task is in the store')
    tables.write(arguments.scores, _rows(scores))
    tables.write(arguments.differences, rows)
    _print(scores, causes)
    total = summary(scores)
    if total.precision < arguments.min_precision or total.recall < arguments.min_recall:
        raise SystemExit(1)


if __name__ == '__main__':
    main()
