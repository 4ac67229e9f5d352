"""The cells in which submitted targets run: what is shown of the code's text, and the old test tree
on the old code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.git.repository import find_old_path, load_content
from coevo.languages.cells import CompiledTests
from coevo.languages.observation import MainSources
from coevo.languages.surgery import Graft, StartStateInvalid
from coevo.languages.table import get_surgery
from coevo.model.records import TestMethod
from coevo.starts.added_files import (
    TestSources,
    find_added_helpers,
    list_added_test_data,
    merge_data,
)
from coevo.starts.isolated_cells import NO_SOURCES, Files, do_passes_need_main_sources

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
