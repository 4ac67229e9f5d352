"""Placebos, which detect submitted tests that notice an edit whatever the edit does.

A target is run on code with edits that change nothing (`coevo.measures.placebos`), in cells that
are made and run like those of mutants and undone changes. All declarations are rewritten in one
program; a second program has a single rewrite, as small as a mutant. If gold itself fails with a
program, for instance because it reads line numbers, that program does not count. Gold runs in a
cell that no submission sees.

Disguises are the other way round: an edit with which a target failed, rewritten as a placebo is. A
target that fails with the edit and passes twice with the disguise has not noticed what the code does.

What is drawn follows from the task and the submitted file, so that three evaluations are equal and
no test file can contain what it will be run with.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.submitted_tests import run_alone
from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Placebo
from coevo.languages.cells import CompiledTests
from coevo.languages.measures import PlaceboKind
from coevo.languages.table import get_measures
from coevo.measures.parts import Edit
from coevo.measures.placebos import (
    PLAIN_EDITS,
    REWRITING_EDITS,
    SINGLE_REWRITE,
    PlaceboEdit,
    RewriteAmount,
    make_disguise,
    make_placebo,
)
from coevo.model.dependencies import Dependency
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files

# The share of rewrites in each draw, and whether it has idle copies: an edit may turn out not to
# compile at the place drawn for it.
_DRAWS = ((1.0, True), (1.0, False), (0.5, False), (0.1, False))
# Rewritten code is slower. A test that needs more than this share of a limit does not run on it. By
# default the limit is ten times what the test needs.
_SHARE_OF_LIMIT = 0.1


class PlaceboReaction(StrEnum):
    """The reaction of a test to edits that change nothing.

    BLIND: it passes with them. SEES_EDITS: it fails twice.
    """

    BLIND = 'blind'
    SEES_EDITS = 'sees_edits'
    UNSTABLE = 'unstable'  # it both passes and fails with the same edit


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboResult:
    """The reaction of a test to placebos.

    kind  the kind that gold passes with; NONE if there is no such kind, NOT_OFFERED if the language
          has no placebos
    """

    sight: PlaceboReaction
    kind: Placebo
    cpu_seconds: float = 0.0


def draw_placebos(
    context: TaskContext,
    patched: bytes,
    declarations: Sequence[Dependency],
    edit: PlaceboEdit,
    *seed: object,
) -> Iterator[Files]:
    """Yield code with an edit of some declarations, each time with fewer rewrites.

    Nothing if there is no place for an edit. What is drawn depends on the task, the submitted file
    (`patched`), the edit and `seed`.
    """
    may_copy = edit.kind is PlaceboKind.MOVED and edit.amount is RewriteAmount.ALL
    for share, copies_idly in _DRAWS:
        if copies_idly and not may_copy:
            continue
        drawn = replace(edit, share=share, copies_idly=copies_idly)
        draw = _make_draw(context, patched, drawn, *seed)
        code = make_placebo(context.repository, context.pair, declarations, drawn, draw)
        if not code:
            return
        yield code


def _draw_disguises(context: TaskContext, patched: bytes, edit: Edit) -> Iterator[Files]:
    """Yield a file with an edit in disguise, with an idle copy of the code at new and without."""
    for idle in (True, False):
        draw = _make_draw(context, patched, 'disguise', idle, edit)
        source = make_disguise(context.repository, context.pair, edit, draw, idle=idle)
        if source is not None:
            yield ((edit[0], source),)


def _make_draw(context: TaskContext, patched: bytes, *seed: object) -> Random:
    submitted = hashlib.sha256(patched).hexdigest()
    text = repr((context.assignment.task_id, submitted, seed))
    return Random(hashlib.sha256(text.encode()).digest())


def add_placebo_result(seen: TargetResult, looked: PlaceboResult) -> TargetResult:
    """Return the result of a passing target with the result of its placebo run added.

    A target that sees edits is marked as tampered, and an unstable one as unstable.
    """
    new = seen.new
    assert new is not None, 'what was looked at has passed'
    known = (seen.placebo, looked.kind)
    seen = replace(
        seen,
        placebo=min((kind for kind in known if kind is not None), key=tuple(Placebo).index),
        cpu_seconds=seen.cpu_seconds + looked.cpu_seconds,
    )
    match looked.sight:
        case PlaceboReaction.SEES_EDITS:
            return replace(seen, new=replace(new, tampered=PlaceboReaction.SEES_EDITS))
        case PlaceboReaction.UNSTABLE:
            return replace(seen, unstable='once pass, once not with an edit of no effect')
        case PlaceboReaction.BLIND:
            return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldVerdict:
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboSubject:
    """A passing target of a submission.

    patched  the submitted test file
    method   the target as it was submitted
    slowest  CPU seconds of the slowest of its passing runs
    """

    context: TaskContext
    patched: bytes
    target: Target
    method: TestMethod
    slowest: float

    @property
    def is_quick(self) -> bool:
        """True if it is far from its limit, so that it can run on rewritten code."""
        limit = self.context.conditions.cpu_limit
        return limit is None or self.slowest <= limit * _SHARE_OF_LIMIT


@dataclass(slots=True, kw_only=True)
class _PlaceboRun:
    """The runs of a subject with placebos in some declarations, and their CPU seconds."""

    subject: PlaceboSubject
    declarations: Sequence[Dependency]
    ledger: Ledger | None
    cpu_seconds: float = 0.0

    def find_reaction(self, edit: PlaceboEdit) -> PlaceboReaction | None:
        """Run the subject with an edit; None if there is no place for it, or gold fails with it."""
        compiled = self._compile(edit)
        if compiled is None:
            return None
        cell, code = compiled
        if self._passes(cell, self.subject.method):
            return PlaceboReaction.BLIND
        if self._passes(cell, self.subject.method):  # a failure is repeated to rule out chance
            return PlaceboReaction.UNSTABLE
        return PlaceboReaction.SEES_EDITS if self._gold_passes(code) else None

    def find_reaction_to_disguise(self, edit: Edit) -> PlaceboReaction | None:
        """Run the subject with an edit, with which it failed, in disguise.

        None if it fails with the disguise, too, or if there is none. The edit alone is run again
        before a pass counts. SEES_EDITS if it still fails with the edit and passes with the
        disguise, with which gold fails.
        """
        subject = self.subject
        context, patched = subject.context, subject.patched
        drawn = _draw_disguises(context, patched, edit) if subject.is_quick else ()
        cells = ((self._compile_file(patched, code), code) for code in drawn)
        compiled = next((each for each in cells if each[0].code_failure is None), None)
        if compiled is not None and not self._passes(compiled[0], subject.method):
            return None
        plain = self._compile_file(patched, (edit,))
        if self._passes(plain, subject.method):
            return PlaceboReaction.UNSTABLE
        if compiled is None:
            return None
        if not self._passes(compiled[0], subject.method):
            return PlaceboReaction.UNSTABLE
        has_gold = context.gold is not None
        return (
            PlaceboReaction.SEES_EDITS if has_gold and not self._gold_passes(compiled[1]) else None
        )

    def make_result(self, sight: PlaceboReaction, kind: Placebo) -> PlaceboResult:
        """Return a result with the CPU seconds so far."""
        return PlaceboResult(sight=sight, kind=kind, cpu_seconds=self.cpu_seconds)

    def _compile(self, edit: PlaceboEdit) -> tuple[CompiledTests, Files] | None:
        """Compile the submitted file on code with an edit; None if there is no place for one."""
        subject = self.subject
        places = [
            (declared.file, declared.start_line, declared.declaration)
            for declared in self.declarations
        ]
        drawn = draw_placebos(subject.context, subject.patched, self.declarations, edit, places)
        cells = ((self._compile_file(subject.patched, code), code) for code in drawn)
        return next(((cell, code) for cell, code in cells if cell.code_failure is None), None)

    def _compile_file(self, tests: bytes, code: Files) -> CompiledTests:
        context = self.subject.context
        files: Files = ((context.assignment.task.test_file, tests),)
        cell = context.compile(context.pair.new.rev, files, code)
        self.cpu_seconds += cell.cpu_seconds
        return cell

    def _gold_passes(self, code: Files) -> bool:
        """Return whether gold passes on edited code; it runs once for each code."""
        context, target = self.subject.context, self.subject.target

        def run_gold() -> _GoldVerdict:
            """Run gold, if there is any."""
            gold = context.gold
            passes = gold is not None and self._passes(
                self._compile_file(gold, code), target.method
            )
            return _GoldVerdict(passes=passes)

        what = ('placebo', target.name, hashlib.sha256(repr(code).encode()).hexdigest())
        known = recall_or_compute(self.ledger, context.assignment, what, _GoldVerdict, run_gold)
        return known.passes

    def _passes(self, cell: CompiledTests, method: TestMethod) -> bool:
        context = self.subject.context
        verdict, batch = run_alone(context.built, cell, method, context.conditions)
        self.cpu_seconds += batch.cpu_seconds
        return verdict.outcome is Outcome.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboRunner:
    """A runner of targets with placebos; with a ledger, gold runs once for each program."""

    ledger: Ledger | None = None

    def run_target_with_placebos(
        self,
        subject: PlaceboSubject,
        seen: TargetResult,
        groups: Sequence[Sequence[Dependency]],
        *,
        single: bool = False,
    ) -> TargetResult:
        """Return the result of a passing target after its runs with placebos.

        All declarations are rewritten in one program. If nothing can be rewritten, or gold fails
        with that, each group gets a program with statements without effect.

        single  whether the target also runs on code with a single rewrite
        Raises: Transient if a test process does not start.
        """
        declarations = [declaration for group in groups for declaration in group]
        looked = self._run_rewriting_placebos(subject, declarations, single=single)
        if looked.kind is Placebo.REWRITTEN:
            return add_placebo_result(seen, looked)
        seen = replace(seen, cpu_seconds=seen.cpu_seconds + looked.cpu_seconds)
        for group in groups:
            looked = self._run_plain_placebos(subject, group)
            seen = add_placebo_result(seen, looked)
            if looked.sight is not PlaceboReaction.BLIND:
                break
        return seen

    def rerun_with_failing_edit(
        self, subject: PlaceboSubject, edit: Edit, seen: TargetResult
    ) -> TargetResult:
        """Run a target again with an edit of the code with which it ran and failed, in disguise.

        In between it has passed without the edit. So a test that depends on the time, which fails
        for a while and then passes for a while, is exposed as unstable; and one that knows the code
        by its looks as tampered. Where there is no disguise, the edit itself is run.

        Raises: Transient if a test process does not start.
        """
        began = time.monotonic()
        run = _PlaceboRun(subject=subject, declarations=(), ledger=self.ledger)
        reaction = run.find_reaction_to_disguise(edit)
        new = seen.new
        assert new is not None, 'what failed with an edit has passed without it'
        return replace(
            seen,
            new=replace(new, tampered=reaction) if reaction is PlaceboReaction.SEES_EDITS else new,
            unstable='once pass, once not with other code'
            if reaction is PlaceboReaction.UNSTABLE
            else seen.unstable,
            cpu_seconds=seen.cpu_seconds + run.cpu_seconds,
            seconds=seen.seconds + time.monotonic() - began,
        )

    def _run_rewriting_placebos(
        self, subject: PlaceboSubject, declarations: Sequence[Dependency], *, single: bool
    ) -> PlaceboResult:
        """Run a target on rewritten code; the kind is NONE if there is none that gold passes on."""
        run = _PlaceboRun(subject=subject, declarations=declarations, ledger=self.ledger)
        for edit in REWRITING_EDITS if subject.is_quick else ():
            sight = run.find_reaction(edit)
            if sight is None:
                continue
            if sight is PlaceboReaction.BLIND and single:
                sight = run.find_reaction(SINGLE_REWRITE) or PlaceboReaction.BLIND
            return run.make_result(sight, Placebo.REWRITTEN)
        return run.make_result(PlaceboReaction.BLIND, Placebo.NONE)

    def _run_plain_placebos(
        self, subject: PlaceboSubject, declarations: Sequence[Dependency]
    ) -> PlaceboResult:
        """Run a target on code with a statement without effect in each declaration.

        The kind that is noticed most easily comes first: a test that passes with it would pass with
        the others. A kind with which gold fails is skipped. If no kind is left, the reaction is
        BLIND.
        """
        if get_measures(subject.context.pair.language).placebos is None:
            return PlaceboResult(sight=PlaceboReaction.BLIND, kind=Placebo.NOT_OFFERED)
        run = _PlaceboRun(subject=subject, declarations=declarations, ledger=self.ledger)
        for edit in PLAIN_EDITS:
            sight = run.find_reaction(edit)
            if sight is not None:
                return run.make_result(sight, Placebo(edit.kind))
        return run.make_result(PlaceboReaction.BLIND, Placebo.NONE)
