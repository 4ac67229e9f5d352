"""Several attempts at a task: which are to be made, with what each begins, and what it is told.

once       each begins at the start state, and is told the prompt alone
feedback   each begins with the test file that the one before left, and is told what became of it; none is
           made after one that solves its task
diversify  each begins at the start state, and is told the test files that those before left
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.agents.difference import Ends, GitFile
from coevo.agents.records import Attempt
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.judging.application import AppliedFile, apply_patch
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import AttemptProtocol, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest
from coevo.model.task_rows import TaskRow

# Characters of all earlier files together that an agent is told of.
MOST_EARLIER = 60_000

_FEEDBACK = """
This is attempt {number}. Your attempt before was judged, and its test file stands in the repository. It does not yet do
what is asked:

{told}

Mend the test file. All that was said above still holds.
"""
_EARLIER = """
This is attempt {number}. For this task the test files below were written before, and are kept. Write another test file at
the same path, for statements and branches that they leave out.

{files}
"""

Done = Mapping[tuple[str, int], Attempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSeries:
    """How often each task is attempted.

    snapshot  where tasks and answers are judged by, of `feedback` alone
    seed      of first attempts, one more for each that follows; None: agents are told none
    """

    attempts: int = 1
    protocol: AttemptProtocol = AttemptProtocol.ONCE
    snapshot: Path | str | None = None
    seed: int | None = None

    def compute_seed(self, number: int) -> int | None:
        return None if self.seed is None else self.seed + number - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTurn:
    """An attempt that is to be made.

    earlier  the attempts before it that it knows of
    told     of `feedback`: what became of the last of these
    """

    task: TaskRow
    number: int = 1
    earlier: tuple[Attempt, ...] = ()
    feedback: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStart:
    """The test file that an attempt begins with, None if it is absent, and its whole prompt."""

    file: bytes | None
    prompt: str


def list_waiting_turns(
    series: AttemptSeries, tasks: Sequence[TaskRow], done: Done, number: int
) -> tuple[AttemptTurn, ...]:
    """The attempts of a number that are to be made: of tasks of which the one before is done."""
    turns = []
    for task in tasks:
        before = [done.get((task.task_id, previous)) for previous in range(1, number)]
        earlier = tuple(previous for previous in before if previous is not None)
        if (task.task_id, number) in done or len(earlier) < number - 1:
            continue
        knows = series.protocol is not AttemptProtocol.ONCE
        turns.append(AttemptTurn(task=task, number=number, earlier=earlier if knows else ()))
    return tuple(turns)


def collect_feedback(
    series: AttemptSeries, turns: Sequence[AttemptTurn], options: EvaluationOptions
) -> Mapping[str, tuple[str, str | None]]:
    """What became of the attempts before, by task; see `make_feedback`."""
    last = [turn.earlier[-1] for turn in turns]
    answers = [
        Prediction(task_id=attempt.task_id, patch=_encode_patch(attempt.patch)) for attempt in last
    ]
    tasks = frozenset(attempt.task_id for attempt in last)
    evaluation = evaluate(replace(options, predictions=answers, tasks=tasks))
    return {
        task_id: make_feedback(
            [row for row in evaluation.rows if row.task_id == task_id],
            [row for row in evaluation.suites if row.task_id == task_id],
        )
        for task_id in sorted(tasks)
    }


def make_attempt_start(
    series: AttemptSeries, turn: AttemptTurn, start: bytes | None
) -> AttemptStart:
    """start  the test file of the start state"""
    prompt = turn.task.prompt or ''
    if not turn.earlier:
        return AttemptStart(file=start, prompt=prompt)
    files = [_apply_earlier_patch(turn.task, attempt, start) for attempt in turn.earlier]
    if series.protocol is AttemptProtocol.FEEDBACK:
        words = _FEEDBACK.format(number=turn.number, told=turn.feedback)
        return AttemptStart(file=files[-1], prompt=prompt + words)
    words = _EARLIER.format(number=turn.number, files=_format_files(files))
    return AttemptStart(file=start, prompt=prompt + words)


def rebase_on_start(
    files: Mapping[str, Ends], path: str, start: bytes | None, begun: bytes | None
) -> Mapping[str, Ends]:
    """What differs from the start state, of files that differ from what an attempt began with.

    path  the test file's, which it began with as `begun`
    """
    if start == begun:
        return files
    end = files[path][1] if path in files else _make_plain_file(begun)
    mode = end.mode if end is not None else '100644'
    return {**files, path: (None if start is None else GitFile(mode=mode, content=start), end)}


def _make_plain_file(content: bytes | None) -> GitFile | None:
    return None if content is None else GitFile(mode='100644', content=content)


def _apply_earlier_patch(task: TaskRow, earlier: Attempt, start: bytes | None) -> bytes | None:
    """The test file that an attempt left; that of the start where its patch cannot be judged."""
    result = apply_patch(_encode_patch(earlier.patch), task.test_file, start)
    return result.content if isinstance(result, AppliedFile) else start


def _encode_patch(patch: str | None) -> bytes | None:
    return None if patch is None else patch.encode('utf-8', 'surrogateescape')


def _format_files(files: Sequence[bytes | None]) -> str:
    left, parts = MOST_EARLIER, []
    for number, file in enumerate(files, 1):
        text = (file or b'').decode('utf-8', 'replace')[:left]
        left -= len(text)
        parts.append(f'File {number}:\n\n{text}')
    return '\n\n'.join(parts)


# What an agent is told of its attempt before: made of the rows of a verdict, never of what a
# process wrote.
#
# A row holds the outcome, why, and the failure's signature with its message: of an assertion that
# is the value that it found, so that later attempts know more than a first one
# (`docs/scoring.md`).

# Tests that are told of, and characters of each and of all.
MOST_TESTS, MOST_OF_ONE, MOST = 10, 300, 2400


def make_feedback(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> tuple[str, str | None]:
    """Say what became of an attempt, by the rows of its targets or suite; empty if it solved its task.

    The second is a trouble of ours, for which nothing is known of it, or None.
    """
    for row in rows:
        if row.outcome is TaskOutcome.INFRA:
            return '', row.said or str(row.detail)
    for suite in suites:
        if suite.outcome is SuiteOutcome.INFRA:
            return '', suite.said or str(suite.detail)
    lines = [
        *_describe_methods(rows),
        *(line for suite in suites for line in _describe_suite(suite)),
    ]
    return _shorten('\n'.join(lines), MOST), None


def _describe_methods(rows: Sequence[MethodResult]) -> Iterator[str]:
    broken = [row for row in rows if row.outcome is not TaskOutcome.SUCCESS]
    for row in broken[:MOST_TESTS]:
        why = row.detail.clause if row.detail else row.outcome.clause
        yield _format_line(row.test_method, why, row.said)
    yield from _summarise_rest(len(broken), len(rows) - len(broken))


def _describe_suite(suite: SuiteResult) -> Iterator[str]:
    if suite.outcome is SuiteOutcome.SUCCESS:
        return
    broken = [test for test in suite.tests if not test.passes]
    if not broken:
        why = suite.detail.clause if suite.detail else suite.outcome.clause
        yield _format_line('the file', why, suite.said)
        return
    for test in broken[:MOST_TESTS]:
        yield _format_line(test.test_method, str(_describe_failure(test)), test.signature or '')
    yield from _summarise_rest(len(broken), len(suite.tests) - len(broken))


def _describe_failure(test: SuiteTest) -> str:
    if test.tampered is not None:
        return 'interfered with how it is run'
    return test.unstable or str(test.outcome)


def _summarise_rest(broken: int, passing: int) -> Iterator[str]:
    if broken > MOST_TESTS:
        yield f'- and {broken - MOST_TESTS} more that do not pass'
    if broken and passing:
        yield f'- {passing} others pass'


def _format_line(name: str, why: str, said: str) -> str:
    text = ' '.join(f'{name}: {why}; {said}'.rstrip('; ').split())
    return f'- {_shorten(text, MOST_OF_ONE)}'


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f'{text[: most - 1]}…'
