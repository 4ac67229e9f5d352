"""Run a sample of labels again: do their cells still say what they said when they were mined?

The deciding cells of the drawn methods are run as they were for the label, three fresh processes
each, at the same revisions, in the same sandbox, on a runtime of that version, else of its release, and under
the same override, but without the cache: a verdict that is used again is no repeat. What came out
is kept in the store (`coevo.storage.reverifications`), and a release counts it (`packagers.reverified`).

A label is lost where an outcome or a failure's signature is otherwise. Trouble of ours says
nothing, nor does code that was built for the label and cannot be built now: libraries and their
servers are not the label's fault. Such methods are named in the report, and nothing of them is kept.

The sample depends on the seed and the ids of methods alone: who asks again with the same seed draws
the same methods, as long as the population is the same, and adds further runs of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from coevo.engine.builders import Builders
from coevo.engine.workers import WorkFailure
from coevo.engine.workers import run_in_parallel
from coevo.git.repository import CorruptObject
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.engine import RunSettings
from coevo.languages.runtimes import Runtimes
from coevo.languages.table import LANGUAGES
from coevo.model.containment import Bug
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.pair_rows import PairRow
from coevo.model.records import Pair
from coevo.storage import reverifications
from coevo.storage.place import Root
from coevo.storage.place import on_disk
from coevo.storage.store import Partition
from coevo.storage.store import Store
from flows.bugs import PairBugs
from flows.rerunning.rerun import Drawn
from flows.rerunning.rerun import Rerun
from flows.rerunning.rerun import run_again
from flows.rerunning.sampling import draw
from miners.cloning.clones import at_hand
from miners.discovery.repository_drops import Unclonable


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverifyOptions:
    """How many labels of a store are run again, and which seed draws them.

    snapshot  only what was released there; None takes all labels of the store that still stand
    repository  only labels of that one
    local     where clones lie, as in MineOptions
    """

    store: Root
    sample: int
    seed: int = 0
    snapshot: Path | str | None = None
    repository: str | None = None
    jobs: int = 1
    local: Path | None = None

    @property
    def folder(self) -> Path:
        """Under which clones lie."""
        return self.local or on_disk(self.store)


@dataclass(slots=True, kw_only=True)
class Reverification:
    """What a run did; the sentences say what was otherwise, or why it is unknown, by method id."""

    population: int
    drawn: int
    held: int = 0
    runs: int = 0
    cpu_seconds: float = 0.0
    lost: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Place:
    """What the methods run side by side must have in common, of one clone."""

    sandbox: str
    runtime: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    options: ReverifyOptions
    store: Store
    report: Reverification
    listener: Listener

    def give_up(self, method_ids: Iterable[str], sentence: str) -> None:
        """Nothing can be said of these."""
        self.report.unknown.update(dict.fromkeys(method_ids, sentence))


def reverify(options: ReverifyOptions, listener: Listener = SILENT) -> Reverification:
    """Draw a sample, run it again, and keep what came out; a kill costs the pairs in hand.

    Fatal where there is nothing to draw from.
    """
    store = Store(options.store)
    if options.repository is not None:
        store.of_repository(options.repository)
    labels = draw(store, options.snapshot, options.seed, options.repository)
    drawn = labels[: options.sample]
    if not drawn:
        of = f' of {options.repository}' if options.repository else ''
        raise Fatal(
            f'{options.store} holds no label{of} to run again: mine or release something first'
        )
    report = Reverification(population=len(labels), drawn=len(drawn))
    run = _Run(options=options, store=store, report=report, listener=listener)
    wanted: dict[Partition, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for label in drawn:
        wanted[label.partition][label.pair_id].add(label.method_id)
    for partition, pairs in sorted(wanted.items()):
        _run_partition(run, partition, pairs)
    return report


def _run_partition(run: _Run, partition: Partition, pairs: Mapping[str, Collection[str]]) -> None:
    """Run the drawn methods of one repository and walk; `pairs` has them by pair."""
    every = [method_id for ids in pairs.values() for method_id in ids]
    with ExitStack() as stack:
        try:
            git_dir = stack.enter_context(at_hand(run.options.folder, partition.repo))
        except (Unclonable, Transient) as error:
            run.give_up(every, str(error))
            return
        if not git_dir.is_dir():
            run.give_up(every, f'there is no clone of {partition.repo}: mine it again')
            return
        repository = stack.enter_context(closing(Repository(git_dir)))
        places: dict[_Place, list[Drawn]] = defaultdict(list)
        for item in _items(run, repository, partition, pairs):
            places[_place(item)].append(item)
        runtimes = LANGUAGES[partition.language].runtimes(brings=True, say=run.listener.say)
        for place, items in sorted(places.items()):
            _run_place(run, repository, runtimes, place, items)


def _items(
    run: _Run,
    repository: Repository,
    partition: Partition,
    pairs: Mapping[str, Collection[str]],
) -> Iterator[Drawn]:
    for segment in run.store.segments(partition):
        ids = pairs.get(segment.pair.pair_id, ())
        rows = tuple(row for row in segment.methods if row.method_id in ids)
        try:
            pair = _pair(repository, segment.pair) if rows else None
        except CorruptObject as error:
            run.give_up(ids, str(error))
            continue
        if pair is not None:
            yield Drawn(partition=partition, segment=segment, pair=pair, rows=rows)


def _pair(repository: Repository, row: PairRow) -> Pair:
    return Pair(
        repo=row.repo,
        language=row.language,
        walk=row.walk,
        old=repository.commit(row.old_rev),
        new=repository.commit(row.new_rev),
        old_is_ancestor=row.old_is_ancestor,
    )


def _place(item: Drawn) -> _Place:
    row = item.segment.pair
    return _Place(sandbox=row.sandbox, runtime=row.runtime or '')


def _run_place(
    run: _Run,
    repository: Repository,
    runtimes: Runtimes,
    place: _Place,
    items: Sequence[Drawn],
) -> None:
    """Run items in one sandbox on one runtime; each is kept as soon as it is there."""
    language = LANGUAGES[items[0].pair.language]
    if not runtimes.has(place.runtime):
        every = (row.method_id for item in items for row in item.rows)
        run.give_up(every, f'there is no {language.RUNTIME} like {place.runtime} here')
        return

    def work(item: Drawn, open_builder: Callable[[], Builder]) -> Rerun | WorkFailure:
        try:
            return run_again(repository, item, open_builder())
        except CorruptObject as error:
            return WorkFailure(sentence=str(error))

    around = RunSettings(
        repository=repository,
        sandbox=place.sandbox,
        say=run.listener.say,
        runtimes=language.runtimes(like=place.runtime),
        own_edits=True,
    )
    with (
        Builders(language, around, [item.pair for item in items]) as builders,
        closing(run_in_parallel(work, items, builders, jobs=run.options.jobs)) as results,
    ):
        for done, (item, result) in enumerate(results, start=1):
            if isinstance(result, WorkFailure | Bug):
                run.give_up((row.method_id for row in item.rows), _why(run, item, result))
            else:
                _keep(run, item, result)
            builders.forget(item.pair)
            run.listener.step(f'reverify {item.pair.repo}', done, len(items))


def _why(run: _Run, item: Drawn, met: WorkFailure | Bug) -> str:
    if isinstance(met, WorkFailure):
        return met.sentence
    bugs = PairBugs(run.store.place, item.partition, 'reverify')
    record = bugs.keep(item.pair, item.segment.key, met)
    return f'a bug of coevo, of which {record} has the traceback'


def _keep(run: _Run, item: Drawn, result: Rerun) -> None:
    report = run.report
    if result.record.methods:
        reverifications.keep(run.store.place, item.partition, result.record)
    for method in result.record.methods:
        report.runs += len(method.runs)
        if method.lost is None:
            report.held += 1
        else:
            report.lost[method.method_id] = method.lost
    report.unknown.update(result.unknown)
    report.cpu_seconds += result.cpu_seconds
