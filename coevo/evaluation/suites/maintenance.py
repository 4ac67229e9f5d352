"""One submitted file of whole-file maintenance, judged: what became of each test of the old and the new file.

The file is run as a suite is. Beside it, once for each task, the old file and gold's are run here, too: what
they do not bear out is `unknown`, and no fault of a submission. What cannot be applied leaves the file as
it is at the start.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.memory import asked_once
from coevo.evaluation.judging.protocol import check_builds
from coevo.evaluation.judging.shown_sources import shown_sources
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.judging import Submission
from coevo.evaluation.suites.judging import judge_suite
from coevo.evaluation.suites.judging import submitted_tests
from coevo.evaluation.suites.maintained_kills import StrengthRunner
from coevo.evaluation.suites.maintained_outcomes import MaintainedSeen
from coevo.evaluation.suites.maintained_outcomes import scored
from coevo.evaluation.suites.maintained_outcomes import submitted_as
from coevo.evaluation.suites.maintained_records import MaintainedResult
from coevo.evaluation.suites.outcomes import JudgedSuite
from coevo.evaluation.suites.outcomes import SuiteSeen
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.suites.texts import FileText
from coevo.evaluation.suites.texts import TestText
from coevo.evaluation.suites.texts import file_text
from coevo.git.repository import Repository
from coevo.languages.cells import Compiled
from coevo.model.maintenance import STAYING
from coevo.model.maintenance import MaintainedMethod
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import is_pass

_WHAT = 'maintained'
_NOTHING = FileText(tests={}, rest=(), has_error=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """Tests that pass in the old file, and in gold's, by their names there."""

    at_start: tuple[str, ...]
    in_gold: tuple[str, ...]


def judge_maintenance(
    context: TaskContext, submission: Submission, refusal: Refusal | None, ledger: Ledger | None
) -> JudgedSuite:
    """A submitted file; Transient, NotBuilt.

    refusal  why what was handed in leaves the file as it is
    """
    began = time.monotonic()
    check_builds(context)
    sources, spent = shown_sources(context, ledger)
    plain = replace(context, conditions=replace(context.conditions, sources=sources))
    judged = _judged(context, submission, refusal, ledger)
    file = _File(context=plain, ledger=ledger, submission=submission, seen=judged.seen)
    maintained = tuple(file.results())
    return replace(
        judged,
        seen=replace(judged.seen, maintained=maintained),
        runtime=context.built.new.runtime,
        cpu_seconds=judged.cpu_seconds + spent + file.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def _judged(
    context: TaskContext, submission: Submission, refusal: Refusal | None, ledger: Ledger | None
) -> JudgedSuite:
    if refusal is not None:
        unchanged = refusal.detail is Detail.EMPTY
        settled = SuiteSeen(settled=SuiteOutcome.NO_CHANGE)
        return JudgedSuite(seen=settled if unchanged else SuiteSeen(refusal=refusal))
    methods = submitted_tests(submission)
    if isinstance(methods, SuiteSeen):
        return JudgedSuite(seen=methods)
    assert submission.patched is not None, 'a file with tests is there'
    return judge_suite(context, submission.patched, methods, ledger)


class _File:
    """A submitted file beside that of the start and gold's."""

    def __init__(
        self,
        *,
        context: TaskContext,
        ledger: Ledger | None,
        submission: Submission,
        seen: SuiteSeen,
    ) -> None:
        self._context, self._ledger = context, ledger
        self._patched = submission.patched
        task = context.assignment.task
        self._start = self._text(context.repository, context.pair.new.rev, context.start)
        self._gold = self._text(context.source, task.new_rev, context.gold)
        self._held, self.cpu_seconds = self._asked()
        self._is_start = seen.refusal is not None or seen.settled is SuiteOutcome.NO_CHANGE
        if self._is_start:
            self._found, self._passing = self._start, frozenset(self._held.at_start)
        else:
            rev = submission.tests_rev
            self._found = self._text(submission.repository, rev, submission.patched)
            self._passing = frozenset(one.test_method for one in seen.tests if one.passes)

    def results(self) -> Iterator[MaintainedResult]:
        """One for each test of either file, in the order of the task."""
        maintained = self._context.assignment.task.maintained or ()
        names = {one: self._name(one) for one in maintained}
        weaker = self._weaker(names)
        for one, name in names.items():
            yield self._result(one, name, weaker.get(one))

    def _result(
        self, one: MaintainedMethod, name: str | None, weaker: bool | None
    ) -> MaintainedResult:
        same = self._is_same(one, name)
        unreadable = self._found.has_error and one.old_method in self._start.tests
        duty, outcome = scored(
            one.duty,
            MaintainedSeen(
                at_start=one.old_method in self._held.at_start,
                in_gold=one.new_method in self._held.in_gold,
                there=name is not None or unreadable,
                passes=name in self._passing,
                same_text=same,
                weaker=weaker,
            ),
        )
        return MaintainedResult(
            old_method=one.old_method,
            new_method=one.new_method,
            label=one.label,
            duty=duty,
            submitted=name,
            outcome=outcome,
            same_text=same,
            weaker=weaker,
        )

    def _name(self, one: MaintainedMethod) -> str | None:
        return submitted_as(one, self._start.tests, self._found.tests)

    def _is_same(self, one: MaintainedMethod, name: str | None) -> bool | None:
        was = self._start.tests.get(one.old_method or '')
        now = self._found.tests.get(name or '')
        return None if was is None or now is None else was.hash == now.hash

    # -- how strong they are -----------------------------------------------------------------------

    def _weaker(self, names: Mapping[MaintainedMethod, str | None]) -> dict[MaintainedMethod, bool]:
        """Of tests that pass and had to stay, where they or what they use are other than at the start,
        and other than in gold."""
        staying = [one for one in names if self._had_to_stay(one)]
        passing = [one for one in staying if names[one] in self._passing]
        asked = [one for one in passing if self._may_be_weaker(one, names[one])]
        known = dict.fromkeys((one for one in passing if one not in asked), False)
        if not asked or not self._context.measured or self._patched is None:
            return known
        runner = StrengthRunner(
            context=self._context,
            ledger=self._ledger,
            start={_old(one): self._start.tests[_old(one)].method for one in staying},
            gold={_old(one): self._gold.tests[one.new_method or ''].method for one in staying},
        )
        submitted = {_old(one): self._found.tests[names[one] or ''].method for one in asked}
        told = runner.weaker(self._patched, submitted)
        self.cpu_seconds += runner.cpu_seconds
        return known | {one: told[_old(one)] for one in asked if _old(one) in told}

    def _had_to_stay(self, one: MaintainedMethod) -> bool:
        held = self._held
        return (
            one.duty in STAYING
            and one.old_method in held.at_start
            and one.new_method in held.in_gold
        )

    def _may_be_weaker(self, one: MaintainedMethod, name: str | None) -> bool:
        if self._is_start or name is None:
            return False
        texts = (self._start.tests[_old(one)], self._gold.tests[one.new_method or ''])
        known = zip((self._start, self._gold), texts, strict=True)
        now = self._found.tests[name]
        return not any(_equal(now, self._found, text, file) for file, text in known)

    # -- the old file and gold's -------------------------------------------------------------------

    def _text(self, repository: Repository, rev: str, source: bytes | None) -> FileText:
        if source is None or not source.strip():
            return _NOTHING
        task = self._context.assignment.task
        return file_text(
            repository, task.language, rev, self._context.module, task.test_file, source
        )

    def _asked(self) -> tuple[_Entry, float]:
        runner = self._context.runner()

        def ask() -> _Entry:
            return _Entry(
                at_start=_passing(runner, self._context.start_cell(runner), self._start),
                in_gold=_passing(runner, self._context.gold_cell(runner), self._gold),
            )

        entry = asked_once(self._ledger, self._context.assignment, (_WHAT,), _Entry, ask)
        return entry, runner.cpu_seconds


def _passing(runner: IsolatedCellRunner, cell: Compiled, file: FileText) -> tuple[str, ...]:
    methods = {name: text.method for name, text in file.tests.items()}
    verdicts = runner.verdicts(cell, methods, is_pass)
    return tuple(name for name, one in verdicts.items() if is_pass(one.outcome))


def _old(one: MaintainedMethod) -> str:
    assert one.old_method is not None, 'who passes at the start is there'
    return one.old_method


def _equal(one: TestText, beside: FileText, other: TestText, file: FileText) -> bool:
    return one.hash == other.hash and beside.rest == file.rest
