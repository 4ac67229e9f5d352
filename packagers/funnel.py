"""Counts of a release: its funnel, its news for each repository, and the rows that licences keep
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coevo.model.labels import TRACKS
from coevo.model.reasons import Reason
from coevo.model.words import Stage, Walk
from packagers.rows import Rows
from packagers.withdrawal import EarlierSnapshot, align_tasks

# Compute the funnel of a release.


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """One stage: entered = kept + the sum of dropped, in the stage's unit."""

    stage: Stage
    entered: int
    kept_count: int
    dropped: tuple[tuple[str, int], ...]  # most frequent first


def compute_funnel(rows: Rows) -> Iterator[FunnelStep]:
    """Yield the steps of a release's funnel in the order of stages.

    The unit changes from pairs to methods to tasks. A task of several pairs counts once. The stage of test files is left out if none was
    mined.
    """
    dropped_pairs: set[tuple[str, Walk]] = set()
    reasons: dict[Stage, Counter[str]] = {stage: Counter() for stage in Stage}
    for drop in rows.drops:
        reasons[drop.stage][drop.reason] += 1
        if drop.stage is Stage.PAIR:
            dropped_pairs.add((drop.key, drop.walk))
    filtered = sum(
        pair.candidates for pair in rows.pairs if (pair.pair_id, pair.walk) not in dropped_pairs
    )
    drops = {stage: counts.total() for stage, counts in reasons.items()}
    kept_counts = {
        Stage.WALK: sum(row.commits_kept for row in rows.repositories),
        Stage.PAIR: len(rows.pairs) - drops[Stage.PAIR],
        Stage.FILTER: filtered - drops[Stage.FILTER],
        Stage.LABEL: len(rows.methods) + drops[Stage.PUBLISH],
        Stage.PUBLISH: len(rows.methods),
        Stage.TRACK: sum(row.label in TRACKS for row in rows.methods) - drops[Stage.TRACK],
        Stage.SINGLE_REVISION: sum(row.task_id is not None for row in rows.single_revision),
        Stage.TASK: len(rows.tasks),
    }
    for stage in Stage:
        if stage is Stage.SINGLE_REVISION and not rows.single_revision and not drops[stage]:
            continue  # no test files of single revisions were mined
        ordered = sorted(reasons[stage].items(), key=lambda item: (-item[1], item[0]))
        yield FunnelStep(
            stage=stage,
            entered=kept_counts[stage] + drops[stage],
            kept_count=kept_counts[stage],
            dropped=tuple(ordered),
        )


# Count what a snapshot changes for each repository compared with the one before it.


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryNews:
    """The changes of the tasks of one repository.

    changed  tasks that existed before, with another date or without some of their tests
    """

    repo: str
    new: int
    changed: int
    withdrawn: int


def count_news(
    earlier: EarlierSnapshot | None, rows: Rows, month: str
) -> tuple[RepositoryNews, ...]:
    """Return the changes of each repository's tasks since the earlier snapshot, by name.

    Repositories without changes are left out. `rows` must have been compared with `earlier` already
    (`apply_earlier_snapshot`).
    """
    now = [row for row in rows.withdrawn if (row.table, row.month) == ('tasks', month)]
    anew = {row.id for row in now if row.reissued}
    new, changed, withdrawn = Counter[str](), Counter[str](), Counter[str]()
    for before, task in align_tasks(earlier, rows):
        if task is None:
            assert before is not None
            withdrawn[before.repo] += 1
        elif task.released == month:
            new[task.repo] += 1
        elif task.task_id in anew:
            changed[task.repo] += 1
    return tuple(
        RepositoryNews(repo=repo, new=new[repo], changed=changed[repo], withdrawn=withdrawn[repo])
        for repo in sorted({*new, *changed, *withdrawn})
    )


def format_news(news: Sequence[RepositoryNews]) -> list[dict[str, str | int]]:
    """Return the news as plain dictionaries for the manifest."""
    return [
        {
            'repository': entry.repo,
            'new': entry.new,
            'changed': entry.changed,
            'withdrawn': entry.withdrawn,
        }
        for entry in news
    ]


# Count the rows that licences keep out of a release, and say what can be done about it.

KEPT_OUT = 'kept out of a release'
# Repositories that are named; there may be thousands.
_MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class KeptOut:
    """Rows of a repository that one licence keeps out of a release.

    licence    its SPDX expression; None if there is none that coevo knows
    is_silent  whether the revisions say nothing of a licence
    methods    number of labelled test methods; a task may have several
    files      number of test files of revisions
    """

    repo: str
    licence: str | None
    is_silent: bool = False
    methods: int = 0
    files: int = 0

    def __str__(self) -> str:
        counts = ' and '.join(
            f'{count} {name}{"" if count == 1 else "s"}'
            for count, name in ((self.methods, 'labelled test method'), (self.files, 'test file'))
            if count
        )
        return f'{KEPT_OUT}: {counts} of {self.repo}, since {self._explain_kept_out}'

    @property
    def _explain_kept_out(self) -> str:
        if self.licence is not None:
            return (
                f'their licence {self.licence} is not approved by the OSI; `coevo release '
                '--accept-licence` takes them in'
            )
        if self.is_silent:
            return (
                'no licence was found at their commits; add a LICENSE, commit it and mine again, or mine '
                'for yourself alone with --private'
            )
        return (
            'the licence file at their commits is none that coevo knows; mine for yourself alone with '
            '--private'
        )


def count_kept_out(rows: Rows, is_silent: Callable[[str, str], bool]) -> Iterator[KeptOut]:
    """Yield what licences kept out of a release, by repository and licence.

    rows       of the release; its drops name what was kept out
    is_silent  returns whether a repository says nothing of a licence at a revision
    """
    reasons = (Reason.LICENCE_UNKNOWN, Reason.LICENCE_NOT_OSI)
    pairs = {(pair.pair_id, pair.walk): pair for pair in rows.pairs}
    counts: Counter[tuple[str, str | None, bool, str]] = Counter()
    for drop in rows.drops:
        pair = pairs.get((drop.pair_id or '', drop.walk))
        is_method = drop.stage is Stage.PUBLISH and drop.reason in reasons
        is_file = drop.reason == Reason.FILE_NOT_PUBLISHED
        if pair is None or not (is_method or is_file):
            continue
        licence = pair.license or pair.later_license
        silent = licence is None and is_silent(pair.repo, pair.new_rev)
        counts[pair.repo, licence, silent, 'methods' if is_method else 'files'] += 1
    yield from build_kept_out_records(counts)


def build_kept_out_records(counts: Counter[tuple[str, str | None, bool, str]]) -> Iterator[KeptOut]:
    """Yield the rows kept out, by repository, licence and silence.

    counts  by repository, licence, silence, and `methods` or `files`
    """
    groups = sorted({key[:3] for key in counts}, key=str)
    for repo, licence, silent in groups:
        yield KeptOut(
            repo=repo,
            licence=licence,
            is_silent=silent,
            methods=counts[repo, licence, silent, 'methods'],
            files=counts[repo, licence, silent, 'files'],
        )


def describe_kept_out(found: Sequence[KeptOut]) -> Iterable[str]:
    """Return a sentence for each group of rows kept out, the largest first; empty if none.

    Of more than ten groups, the last sentence says how many more there are.
    """
    ordered = sorted(found, key=lambda group: (-group.methods - group.files, str(group)))
    sentences = [str(group) for group in ordered[:_MOST]]
    more = len(ordered) - _MOST
    return (*sentences, f'and of {more} more repositories and licences') if more > 0 else sentences
