"""Build the pairs of stored segments again, and work on them with their builds.

A pair is built as it was for its cells: in the same sandbox, and on a runtime of the same version,
or else of the same release.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from coevo.engine.workers import BuilderPool, WorkFailure, run_in_parallel
from coevo.git.repository import CorruptObject, Repository
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Bug, Transient
from coevo.model.listener import Listener
from coevo.model.pair_rows import PairRow
from coevo.model.records import Pair
from coevo.model.segment import Segment
from miners.cloning.clones import pin_existing_clone

Result = TypeVar('Result')
SegmentWork = Callable[[Segment, Pair, Builder], Result]
"""Works on a segment, with its pair and a builder for it; called in a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildSettings:
    """The clone in which segments are rebuilt, and how.

    task  names the work in the progress
    jobs  the number of threads
    """

    repository: Repository
    task: str
    jobs: int
    listener: Listener


@contextmanager
def open_pinned_clone(folder: Path, repo: str) -> Iterator[Repository]:
    """Open the clone that was obtained before, and protect it from eviction meanwhile.

    folder  of clones

    Raises: Unclonable or Transient if there is no clone and none can be made.
    """
    with pin_existing_clone(folder, repo) as git_dir:
        if not git_dir.is_dir():
            raise Transient(f'there is no clone of {repo}: mine it again')
        with closing(Repository(git_dir)) as repository:
            yield repository


def restore_pair(repository: Repository, row: PairRow) -> Pair:
    """Return the pair of a row. Raises: CorruptObject if the clone lacks one of its commits."""
    return Pair(
        repo=row.repo,
        language=row.language,
        walk=row.walk,
        old=repository.get_commit(row.old_rev),
        new=repository.get_commit(row.new_rev),
        old_is_ancestor=row.old_is_ancestor,
    )


def rebuild_and_work_on_segments(
    settings: RebuildSettings, segments: Sequence[Segment], work: SegmentWork[Result]
) -> Generator[tuple[Segment, Result | WorkFailure | Bug]]:
    """Rebuild segments and work on them; yield each as soon as it is done, with its result.

    A segment without a runtime for it here, or of whose pair the clone lacks an object, yields a
    WorkFailure. The caller closes the generator to stop all work.

    segments  those of one repository and language
    """
    places: dict[tuple[str, str], list[tuple[Segment, Pair]]] = defaultdict(list)
    for segment in segments:
        row = segment.pair
        try:
            pair = restore_pair(settings.repository, row)
        except CorruptObject as error:
            yield segment, WorkFailure(sentence=str(error))
        else:
            places[row.sandbox, row.runtime or ''].append((segment, pair))
    if not places:
        return
    language = LANGUAGES[segments[0].pair.language]
    runtimes = language.make_runtimes(brings=True, say=settings.listener.say)
    for (sandbox, runtime), items in sorted(places.items()):
        if runtimes.try_to_provide(runtime):
            yield from _rebuild_and_work_with_runtime(settings, sandbox, runtime, items, work)
            continue
        failure = WorkFailure(sentence=f'there is no {language.RUNTIME} like {runtime} here')
        for segment, _ in items:
            yield segment, failure


def _rebuild_and_work_with_runtime(
    settings: RebuildSettings,
    sandbox: str,
    runtime: str,
    items: Sequence[tuple[Segment, Pair]],
    work: SegmentWork[Result],
) -> Generator[tuple[Segment, Result | WorkFailure | Bug]]:
    def work_on_item(
        item: tuple[Segment, Pair], open_builder: Callable[[], Builder]
    ) -> Result | WorkFailure:
        """Work on one segment in a worker thread."""
        try:
            return work(*item, open_builder())
        except CorruptObject as error:
            return WorkFailure(sentence=str(error))

    language = LANGUAGES[items[0][1].language]
    around = RunSettings(
        repository=settings.repository,
        sandbox=sandbox,
        say=settings.listener.say,
        runtimes=language.make_runtimes(like=runtime),
        own_edits=True,
    )
    with (
        BuilderPool(language, around, [pair for _, pair in items]) as builders,
        closing(run_in_parallel(work_on_item, items, builders, jobs=settings.jobs)) as results,
    ):
        for done, ((segment, pair), result) in enumerate(results, start=1):
            yield segment, result
            builders.remove_builds_no_longer_needed(pair)
            settings.listener.step(settings.task, done, len(items))
