"""Run a sample of labels again, and check whether their cells still give the recorded outcomes.

The deciding cells of the drawn methods are run as for the label: three fresh processes each, at the
same revisions, in the same sandbox, under the same override, and on a runtime of the same version,
or else of the same release. The cache is not used, since a cached verdict is no repetition. The
results are kept in the store (`coevo.storage.reverifications`), and a release counts them
(`packagers.assembly`).

A label is lost if an outcome or the signature of a failure differs. Transient failures of coevo say
nothing. Neither does code that could be built for the label and cannot be built now, since missing
libraries and servers are not the label's fault. Such methods are listed in the report, but no
results are kept for them.

The sample depends only on the seed and the ids of methods: the same seed draws the same methods, as
long as the population is the same, and adds further runs of them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from coevo.engine.evidence import decide_candidate
from coevo.engine.execution import evaluate_pair
from coevo.engine.results import PairEvaluation, SelectedMethod
from coevo.engine.workers import WorkFailure
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.table import get_engine_version
from coevo.languages.verdicts import KILLED
from coevo.model.errors import Bug, Fatal, Transient
from coevo.model.listener import SILENT, Listener
from coevo.model.method_rows import MethodRow, list_deciding_cells_of_row
from coevo.model.records import Candidate, Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import MethodChange, Outcome, Walk
from coevo.snapshots import snapshot
from coevo.storage import reverifications
from coevo.storage.place import Root, find_local_folder
from coevo.storage.reverifications import ReverificationRecord, ReverifiedLabel
from coevo.storage.store import Partition, Store
from flows.cohorts import PairBugs
from flows.eligibility import check_not_withdrawn, load_withdrawn_repos_and_pair_ids
from flows.measuring import find_override
from flows.rebuilding import (
    RebuildSettings,
    open_pinned_clone,
    rebuild_and_work_on_segments,
    restore_pair,
)
from flows.rows import build_cell_rows
from miners.cloning.remotes import Unclonable
from miners.diffs.changes import diff_pair

# Run labels of one pair again, and compare the outcomes with those that made the labels.


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunResult:
    """The result of running some labels of a pair again.

    record       the labels about which the runs say something, whether they hold or not
    unknown      by method id, why the runs say nothing about a label
    cpu_seconds  CPU time of all runs
    """

    record: ReverificationRecord
    unknown: Mapping[str, str]
    cpu_seconds: float


def rerun_methods(
    repository: Repository,
    segment: Segment,
    method_ids: Collection[str],
    pair: Pair,
    builder: Builder,
) -> RerunResult:
    """Run each deciding cell of some methods three times in fresh processes, and compare.

    The runs have the segment's override and no cache. Nothing is written to the store.

    method_ids  of the methods; others than the segment's are ignored
    pair        the pair of the segment
    """
    rows = {row.method_id: row for row in segment.methods if row.method_id in method_ids}
    change = diff_pair(repository, pair)
    selected = [
        SelectedMethod(method_id=id_, candidate=restored)
        for candidate in change.candidates
        if (id_ := compute_candidate_id(pair, candidate)) in rows
        and (restored := _restore_candidate(candidate, rows[id_])) is not None
    ]
    unknown = dict.fromkeys(
        rows.keys() - {method.method_id for method in selected},
        'this engine does not find it in its pair',
    )
    evaluation = evaluate_pair(builder, pair, selected, override=find_override(segment))
    methods = []
    for method in selected:
        row = rows[method.method_id]
        trouble = _explain_inconclusive_rerun(row, method, evaluation)
        if trouble is not None:
            unknown[method.method_id] = trouble
            continue
        lost = _find_difference(row, method, evaluation, build_changed=change.build_changed)
        runs = tuple(build_cell_rows(pair, [method], evaluation))
        methods.append(ReverifiedLabel(method_id=method.method_id, lost=lost, runs=runs))
    return RerunResult(
        record=ReverificationRecord(
            pair_id=pair.pair_id,
            key=segment.key,
            engine_version=get_engine_version(pair.language),
            runtime=evaluation.new.runtime,
            sandbox=segment.pair.sandbox,
            methods=tuple(methods),
        ),
        unknown=unknown,
        cpu_seconds=sum(evaluation.cost.cpu_seconds.values()),
    )


def _restore_candidate(candidate: Candidate, row: MethodRow) -> Candidate | None:
    """Return a candidate of the diff with the change and the cells of its row.

    None if the diff finds another change than the row has. The runs may have shown that the
    surroundings of a test changed which the diff takes for unchanged (`labels.correct_change_by_cells`).
    """
    shown_by_runs = (MethodChange.UNCHANGED, MethodChange.CONTEXT_CHANGED)
    if candidate.change is not row.change and (candidate.change, row.change) != shown_by_runs:
        return None
    return replace(candidate, change=row.change, surroundings_differ=row.t_old_c_new is not None)


def _explain_inconclusive_rerun(
    row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation
) -> str | None:
    """Return why the new runs say nothing about a label; None if they say something.

    Either the code cannot be built any more, or a process was killed, and the outcome differs.
    """
    cells = evaluation.get_deciding_cells(selected.method_id)
    for cell in list_deciding_cells_of_row(row):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs if cell in cells else ():  # `LATER_CELL` may not be run again
            if run.agreement_key != was and run.verdict.outcome is Outcome.UNBUILDABLE:
                return f'{cell} cannot be built now: {run.verdict.signature}'
            if run.agreement_key != was and run.verdict.signature in KILLED:
                return f'{cell}: a process was killed'
    return None


def _find_difference(
    row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation, *, build_changed: bool
) -> str | None:
    """Return what differs from the runs that made the label; None if nothing does."""
    cells = evaluation.get_deciding_cells(selected.method_id)
    for cell in list_deciding_cells_of_row(row):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs if cell in cells else ():  # `LATER_CELL` may not be run again
            if run.agreement_key != was:
                return (
                    f'{cell} is {_format_outcome(*run.agreement_key)}, was {_format_outcome(*was)}'
                )
    decision = decide_candidate(
        selected.candidate, selected.method_id, evaluation, build_changed=build_changed
    )
    if row.track is not None and decision.track is not row.track:
        return f'no {row.track}: {decision.no_track or decision.reason}'
    return None


def _format_outcome(outcome: Outcome | None, signature: str | None) -> str:
    return f'{outcome} ({signature})' if signature else str(outcome)


# Run a sample of labels again, and check whether their cells still give the recorded outcomes.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverifyOptions:
    """The number of labels to run again, and the seed that draws them.

    snapshot  draw only labels that were released there; None draws all valid labels of the store
    repository  draw only labels of this one
    local     folder of clones, as in MineOptions
    """

    store: Root
    sample: int
    seed: int = 0
    snapshot: Path | str | None = None
    repository: str | None = None
    jobs: int = 1
    local: Path | None = None

    @property
    def clones_folder(self) -> Path:
        """The folder of clones."""
        return self.local or find_local_folder(self.store)


@dataclass(slots=True, kw_only=True)
class Reverification:
    """The result of running labels again.

    population   labels that could be drawn
    drawn        labels that were drawn
    confirmed    number of drawn labels that hold
    reused       number of drawn labels that the same draw ran again before
    runs         number of runs of tests now
    lost         by method id, how the new outcome differs from the recorded one
    unknown      by method id, why nothing can be said
    """

    population: int
    drawn: int
    confirmed: int = 0
    reused: int = 0
    runs: int = 0
    cpu_seconds: float = 0.0
    lost: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReverifyRun:
    options: ReverifyOptions
    store: Store
    report: Reverification
    listener: Listener

    def mark_unknown(self, method_ids: Iterable[str], sentence: str) -> None:
        """Record why nothing can be said about some methods."""
        self.report.unknown.update(dict.fromkeys(method_ids, sentence))


def reverify_labels(options: ReverifyOptions, listener: Listener = SILENT) -> Reverification:
    """Draw a sample of labels, run it again, and write the results to the store.

    A kill loses only the pairs in progress. A label is run once by each engine version and seed: the
    same call goes on after an interruption.

    Raises: Fatal if there are no labels to draw from.
    """
    store = Store(options.store)
    if options.repository is not None:
        store.list_repository_partitions(options.repository)
        check_not_withdrawn(options.store, options.repository)
    labels = order_labels_for_drawing(store, options.snapshot, options.seed, options.repository)
    drawn = labels[: options.sample]
    if not drawn:
        of = f' of {options.repository}' if options.repository else ''
        raise Fatal(
            f'{options.store} holds no label{of} to run again: mine or release something first'
        )
    report = Reverification(population=len(labels), drawn=len(drawn))
    run = _ReverifyRun(options=options, store=store, report=report, listener=listener)
    wanted: dict[Partition, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for label in drawn:
        wanted[label.partition][label.pair_id].add(label.method_id)
    for partition, pairs in sorted(wanted.items()):
        _rerun_partition(run, partition, pairs)
    return report


def _rerun_partition(
    run: _ReverifyRun, partition: Partition, pairs: Mapping[str, Collection[str]]
) -> None:
    """Run the drawn methods of one repository and walk; `pairs` has them by pair."""
    todo = _count_and_leave_out_known_results(run, partition, pairs)
    if not todo:
        return
    with ExitStack() as stack:
        try:
            repository = stack.enter_context(
                open_pinned_clone(run.options.clones_folder, partition.repo)
            )
        except (Unclonable, Transient) as error:
            run.mark_unknown((method_id for _, ids in todo for method_id in ids), str(error))
            return
        _rerun_segments(run, repository, partition, todo)


def _count_and_leave_out_known_results(
    run: _ReverifyRun, partition: Partition, pairs: Mapping[str, Collection[str]]
) -> list[tuple[Segment, frozenset[str]]]:
    """Count the drawn methods that this draw ran before; return the others by segment."""
    known = _load_results_of_draw(run, partition)
    todo: list[tuple[Segment, frozenset[str]]] = []
    for segment in run.store.load_current_segments(partition):
        drawn = frozenset(pairs.get(segment.pair.pair_id, ()))
        labels = known.get(segment.key, {})
        before = drawn & labels.keys()
        for method_id in before:
            _count_label(run.report, labels[method_id])
        run.report.reused += len(before)
        if drawn - before:
            todo.append((segment, drawn - before))
    return todo


def _rerun_segments(
    run: _ReverifyRun,
    repository: Repository,
    partition: Partition,
    todo: Sequence[tuple[Segment, frozenset[str]]],
) -> None:
    """Run methods again, and keep each result as soon as it is there.

    todo  segments with the methods of each that are run
    """
    pairs = {segment.pair.pair_id: ids for segment, ids in todo}

    def rerun_segment(segment: Segment, pair: Pair, builder: Builder) -> RerunResult:
        """Run the drawn methods of one segment again."""
        return rerun_methods(repository, segment, pairs[pair.pair_id], pair, builder)

    settings = RebuildSettings(
        repository=repository,
        task=f'reverify {partition.repo}',
        jobs=run.options.jobs,
        listener=run.listener,
    )
    segments = [segment for segment, _ in todo]
    with closing(rebuild_and_work_on_segments(settings, segments, rerun_segment)) as results:
        for segment, result in results:
            ids = pairs[segment.pair.pair_id]
            if isinstance(result, WorkFailure):
                run.mark_unknown(ids, result.sentence)
            elif isinstance(result, Bug):
                pair = restore_pair(repository, segment.pair)
                bugs = PairBugs(run.store.storage, partition, 'reverify')
                record = bugs.write_bug_and_get_address(pair, segment.key, result)
                run.mark_unknown(ids, f'a bug of coevo, of which {record} has the traceback')
            else:
                _record_result(run, partition, result)


def _record_result(run: _ReverifyRun, partition: Partition, result: RerunResult) -> None:
    report = run.report
    if result.record.methods:
        record = replace(result.record, seed=run.options.seed)
        reverifications.add_reverification(run.store.storage, partition, record)
    for method in result.record.methods:
        report.runs += len(method.runs)
        _count_label(report, method)
    report.unknown.update(result.unknown)
    report.cpu_seconds += result.cpu_seconds


def _count_label(report: Reverification, label: ReverifiedLabel) -> None:
    if label.lost is None:
        report.confirmed += 1
    else:
        report.lost[label.method_id] = label.lost


def _load_results_of_draw(
    run: _ReverifyRun, partition: Partition
) -> Mapping[str, dict[str, ReverifiedLabel]]:
    """Return what the same draw found before with this engine, by segment key and method id."""
    known: dict[str, dict[str, ReverifiedLabel]] = defaultdict(dict)
    for record in reverifications.load_reverifications(run.store.storage, partition):
        if _is_of_draw(record, partition, run.options.seed):
            known[record.key] |= {label.method_id: label for label in record.methods}
    return known


def _is_of_draw(record: ReverificationRecord, partition: Partition, seed: int) -> bool:
    engine = get_engine_version(partition.language)
    return (record.seed, record.engine_version) == (seed, engine)


# The rest draws labels: a random sample of all valid ones, those with a track first.

_PREFERENCE = tuple(Walk)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLabel:
    """A labelled method, in the preferred one of its walks."""

    partition: Partition
    pair_id: str
    method_id: str
    tracked: bool


def order_labels_for_drawing(
    store: Store, released: Path | str | None, seed: int, repository: str | None = None
) -> tuple[DrawnLabel, ...]:
    """Return all labels of a store that no other draw refuted, in the order of drawing.

    The caller takes the first ones as its sample. Labels with a track come first. Beyond that the
    order depends only on the seed and on the ids of methods.

    released    a snapshot; only its labels are drawn
    repository  only labels of this one are drawn
    """

    def rank_label(label: DrawnLabel) -> tuple[bool, str]:
        """Return the sort key of a label: tracked ones first, then by a hash with the seed."""
        rank = hashlib.sha256(f'{seed}\0{label.method_id}'.encode()).hexdigest()
        return not label.tracked, rank

    return tuple(sorted(_list_drawable_labels(store, released, repository, seed), key=rank_label))


def _list_drawable_labels(
    store: Store, released: Path | str | None, repository: str | None, seed: int
) -> Iterator[DrawnLabel]:
    """Yield one label for each method id, even if several walks have it.

    Refuted labels and those of withdrawn repositories and pairs are left out.
    """
    selected = None if released is None else _load_released_methods(released)
    there = (
        store.list_partitions()
        if repository is None
        else store.list_repository_partitions(repository)
    )
    withdrawn = load_withdrawn_repos_and_pair_ids(store.storage)
    partitions = sorted(
        (partition for partition in there if partition.repo not in withdrawn),
        key=lambda one: _PREFERENCE.index(one.walk),
    )
    known = {
        id_ for partition in partitions for id_ in _list_refuted_methods(store, partition, seed)
    }
    for partition in partitions:
        for segment in store.load_current_segments(partition):
            if segment.pair.pair_id in withdrawn:
                continue
            for row in segment.methods:
                if row.method_id not in known and (selected is None or row.method_id in selected):
                    known.add(row.method_id)
                    yield DrawnLabel(
                        partition=partition,
                        pair_id=row.pair_id,
                        method_id=row.method_id,
                        tracked=row.track is not None,
                    )


def _list_refuted_methods(store: Store, partition: Partition, seed: int) -> Iterator[str]:
    """Yield the methods that another draw refuted.

    Those of this draw stay in it, so that it goes on with the same labels after an interruption.
    """
    for record in reverifications.load_reverifications(store.storage, partition):
        if not _is_of_draw(record, partition, seed):
            yield from (method.method_id for method in record.methods if method.lost is not None)


def _load_released_methods(path: Path | str) -> frozenset[str]:
    with snapshot.translate_read_errors((path,)):
        connection = snapshot.open_snapshots(path)
        rows = connection.execute('SELECT DISTINCT method_id FROM methods').fetchall()
    return frozenset(id_ for (id_,) in rows)
