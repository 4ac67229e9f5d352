"""Submitted tests: their targets, the cells in which they run, and re-runs of those that pass."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.git.repository import find_old_path, load_content
from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import SourceFile
from coevo.languages.engine import BuiltPair
from coevo.languages.surgery import Graft, StartStateInvalid
from coevo.languages.table import get_reading_of_file, get_surgery
from coevo.languages.verdicts import UNOBSERVED, MainSources, RunConditions, Verdict, VerdictBatch
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.added_files import (
    TestSources,
    find_added_helpers,
    list_added_test_data,
    merge_data,
)
from coevo.starts.isolated_cells import (
    NO_SOURCES,
    Files,
    describe_verdict,
    do_passes_need_main_sources,
)

# The assignment of submitted methods to targets, where a target may have two names.
#
# If the developers renamed a target, the start file has it under its old name, and a submission may
# keep that name or take the new one. Other tests of the start file never count as an answer.

Declared = tuple[str, str, tuple[str, ...]]
"""Class, name and parameters."""


def match_targets(
    file: SourceFile, targets: Sequence[Target], start: bytes | None
) -> dict[str, TestMethod]:
    """Return the submitted methods by target name: as many as possible, and no method twice.

    The new name comes first, unless another target needs that method. Example: a pair renames a to
    b and b to c. A file that keeps a and b answers both targets.
    """
    others, olds = _split_start_methods_by_target(start, targets)
    wanted = {
        target.name: _list_candidates(file, target, olds.get(target.name), others)
        for target in targets
    }
    taken: dict[Declared, str] = {}
    for target in targets:
        _assign_method(target.name, wanted, taken, set())
    answers = {name: key for key, name in taken.items()}
    return {
        target.name: _make_method(target, answers[target.name])
        for target in targets
        if target.name in answers
    }


def _assign_method(
    name: str,
    wanted: Mapping[str, Sequence[Declared]],
    taken: dict[Declared, str],
    asked: set[Declared],
) -> bool:
    """Assign a method to a target, moving its present owner to another method if necessary.

    This is the search for augmenting paths in a bipartite matching.
    """
    for key in wanted[name]:
        if key not in asked:
            asked.add(key)
            if key not in taken or _assign_method(taken[key], wanted, taken, asked):
                taken[key] = name
                return True
    return False


def _list_candidates(
    file: SourceFile, target: Target, old: Declared | None, others: Collection[Declared]
) -> list[Declared]:
    new = _make_key(target.method)
    names = [new] if old is None else [new, old]
    candidates = (_find_declared(file, name, others) for name in names)
    return list(dict.fromkeys(key for key in candidates if key is not None))


def _find_declared(
    file: SourceFile, wanted: Declared, others: Collection[Declared]
) -> Declared | None:
    """Return the method with these parameters, or else the only one of its name; else None.

    A method in `others` is never returned.
    """
    owner, name, _ = wanted
    alike = [key for key in _list_keys(file) if key[:2] == (owner, name) and key not in others]
    if wanted in alike:
        return wanted
    return alike[0] if len(alike) == 1 else None


def _split_start_methods_by_target(
    start: bytes | None, targets: Sequence[Target]
) -> tuple[frozenset[Declared], Mapping[str, Declared]]:
    """Return the start file's methods that are no targets, and those of targets by name."""
    if start is None:
        return frozenset(), {}
    path = targets[0].method.test_file
    file = get_reading_of_file(path).parse(start, path)
    olds: dict[str, Declared] = {}
    for target in targets:
        if target.is_at_start:
            wanted = replace(target.method, test_method=target.method_at_start)
            old_key = _find_declared(file, _make_key(wanted), ())
            if old_key is not None:
                olds[target.name] = old_key
    return frozenset(_list_keys(file)) - frozenset(olds.values()), olds


def _list_keys(file: SourceFile) -> list[Declared]:
    return [
        (type_.name, member.name, member.parameters)
        for type_ in file.types
        for member in type_.members
        if member.kind == 'method'
    ]


def _make_key(method: TestMethod) -> Declared:
    return method.test_class, method.test_method, method.parameters


def _make_method(target: Target, key: Declared) -> TestMethod:
    return replace(target.method, test_method=key[1], parameters=key[2])


# The cells in which submitted targets run: what is shown of the code's text, and the old test tree
# on the old code.

# The main sources beside submitted tests: normally none, so that no test can read them.
#
# If gold itself fails without the sources, all cells of the task get the same text, that of the new
# revision, whatever code or edits they run on. The miner has tested that with gold. For older
# snapshots, which do not say it, it is tested here.

_WHAT = 'sources'


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNeed:
    needed: bool


def choose_shown_sources_with_cpu_seconds(
    context: TaskContext, ledger: Ledger | None
) -> tuple[MainSources, float]:
    """Return the main sources beside the tests of a task, and the CPU seconds of the decision.

    They are those of the new revision if gold fails without them, else none.
    Raises: Transient if a test process does not start.
    """
    needed, runner = context.assignment.task.reads_sources, context.make_runner()

    def check_gold() -> _SourceNeed:
        """Return whether gold needs the sources.

        It runs in a cell that no submission sees; both ends are built.
        """
        methods = {target.name: target.method for target in context.assignment.targets}
        return _SourceNeed(
            needed=do_passes_need_main_sources(runner, context.compile_gold_cell(runner), methods)
        )

    if needed is None:
        needed = recall_or_compute(
            ledger, context.assignment, (_WHAT,), _SourceNeed, check_gold
        ).needed
    return MainSources(rev=context.pair.new.rev) if needed else NO_SOURCES, runner.cpu_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OldCells:
    """The cells on the old code; a target counts as broken by the old code if it is broken in both.

    alone   the targets with only what they use themselves, and data files that the start state has
    helped  the same with helpers that the pair adds and the start state has; None if there are none
    note    a remark on how the file was made
    """

    alone: CompiledTests
    helped: CompiledTests | None
    note: str

    @property
    def cpu_seconds(self) -> float:
        """The processor time of compiling the cells."""
        return self.alone.cpu_seconds + (self.helped.cpu_seconds if self.helped else 0.0)


def compile_old_cells(
    context: TaskContext, patched: bytes, methods: Sequence[TestMethod]
) -> OldCells | None:
    """Compile the submitted targets in the old test tree on the old code, with and without helpers.

    None without methods. Both builds have the data files of the start state, without which a target
    would fail on any code. `helped` also has the helpers that the start state has and the old tree
    lacks; it is None if there are no such helpers.
    """
    if not methods:
        return None
    files, note = _transplant_targets_with_remark(context, patched, methods)
    task, old = context.assignment.task, context.pair.old.rev
    data = list_added_test_data(context.source, task.language, task.old_rev, task.new_rev)
    helpers = _find_added_helpers(context)
    whole = merge_data(files, data)
    return OldCells(
        alone=context.compile(old, whole),
        helped=context.compile(old, merge_data(whole, helpers)) if helpers else None,
        note=note,
    )


def _find_added_helpers(context: TaskContext) -> Files:
    task = context.assignment.task
    old = TestSources(repository=context.source, language=task.language, rev=task.old_rev)
    start = TestSources(
        repository=context.repository, language=task.language, rev=context.pair.new.rev
    )
    return find_added_helpers(old, start, task.test_file)


def _transplant_targets_with_remark(
    context: TaskContext, patched: bytes, methods: Sequence[TestMethod]
) -> tuple[Files, str]:
    """Return the old test file with the submitted targets and what only they use, and a remark.

    If that cannot be made, the submitted file replaces the old one as a whole.
    """
    task, source = context.assignment.task, context.source
    old_path = find_old_path(source, task.old_rev, task.new_rev, task.test_file)
    before = None if old_path is None else load_content(source, task.old_rev, old_path)
    if old_path != task.test_file or before is None:
        deleted_files: Files = () if old_path is None else ((old_path, None),)
        return tuple(sorted((*deleted_files, (task.test_file, patched)), key=lambda f: f[0])), ''
    cut = get_surgery(task.language)
    try:
        text = cut.transplant_tests_into_old(
            before,
            patched,
            [Graft(new=method) for method in methods],
            used_elsewhere=cut.list_names_in_related_files(source, task.old_rev, task.test_file),
        )
    except StartStateInvalid as error:
        return ((task.test_file, patched),), f'on old code as a whole file: {error}'
    return ((task.test_file, text),), ''


# Re-runs of submitted tests, each in a fresh process of its own, to find those that do not always
# do the same.


def run_alone(
    built: BuiltPair, cell: CompiledTests, method: TestMethod, conditions: RunConditions
) -> tuple[Verdict, VerdictBatch]:
    """Return the verdict on one method, from the compiler or else from a process of its own.

    A timeout, and a pass that the observer did not confirm, are run a second time before they
    count.

    Raises: Transient if the test process does not start.
    """
    compile_verdict = built.find_compile_verdict(cell, method)
    if compile_verdict is not None:
        return compile_verdict, VerdictBatch(verdicts=(compile_verdict,), cpu_seconds=0.0)
    verdict, batch = _run_once(built, cell, method, conditions)
    # An unconfirmed pass may be a failure of coevo's own observer, so it gets a second run.
    if verdict.outcome is Outcome.TIMEOUT or verdict.tampered == UNOBSERVED:
        used = batch.cpu_seconds
        verdict, batch = _run_once(built, cell, method, conditions)
        batch = replace(batch, cpu_seconds=batch.cpu_seconds + used)
    return verdict, batch


def _run_once(
    built: BuiltPair, cell: CompiledTests, method: TestMethod, conditions: RunConditions
) -> tuple[Verdict, VerdictBatch]:
    batch = built.run(cell, [method], conditions)
    (verdict,) = batch.verdicts
    assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
    if verdict.outcome is Outcome.INFRA:
        raise Transient(f'a test process did not start: {verdict.message.strip()}')
    return verdict, batch


# How often a test must pass unobserved before a failure on other code means anything.
PASSES = 3


def rerun_passing(
    context: TaskContext,
    cell: CompiledTests,
    method: TestMethod,
    seen: TargetResult,
    wanted_passes: int = PASSES,
) -> TargetResult:
    """Run a target on the new code, unobserved, until it has `passes` passes or fails.

    Passes that it has already count. A failure makes it unstable.
    """
    while seen.passes < wanted_passes and seen.unstable is None:
        began = time.monotonic()
        verdict, batch = run_alone(context.built, cell, method, context.conditions)
        steady = verdict.outcome is Outcome.PASS
        seen = replace(
            seen,
            passes=seen.passes + steady,
            slowest=max(seen.slowest, verdict.cpu_seconds),
            unstable=None
            if steady
            else f'on the new code once pass, once {describe_verdict(verdict)}',
            cpu_seconds=seen.cpu_seconds + batch.cpu_seconds,
            seconds=seen.seconds + time.monotonic() - began,
        )
    return seen


def rerun_failing(
    context: TaskContext, cell: CompiledTests, method: TestMethod, seen: TargetResult
) -> TargetResult:
    """Run a target that failed on the old code there once more.

    If the outcome or the failure is another one, the target is marked as unstable.
    """
    assert seen.old is not None, 'it was run on old code'
    if seen.unstable is not None:
        return seen
    began = time.monotonic()
    verdict, batch = run_alone(context.built, cell, method, context.conditions)
    same = describe_verdict(verdict) == describe_verdict(seen.old)
    return replace(
        seen,
        unstable=None
        if same
        else f'on old code once {describe_verdict(seen.old)}, once {describe_verdict(verdict)}',
        cpu_seconds=seen.cpu_seconds + batch.cpu_seconds,
        seconds=seen.seconds + time.monotonic() - began,
    )
