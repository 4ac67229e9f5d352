"""Series of attempts at a task: attempts to make, their start files and their prompts.

once       each begins with the start state and the prompt alone
feedback   each begins with the test file that the previous one left, and its prompt has feedback;
           the series ends when the task is solved
diversify  each begins with the start state, and its prompt shows the files of all previous ones

Feedback is made from the rows of a verdict, never from what a process wrote. A row has the outcome,
its reason, and the failure's signature with the message. The message of an assertion contains the
value that it found, so later attempts know more than the first (`docs/scoring.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.agents.difference import PLAIN, Ends, GitFile
from coevo.agents.records import Attempt
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.judging.application import AppliedFile, apply_patch
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import AttemptProtocol, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest
from coevo.model.task_rows import TaskRow

# Most characters of all earlier files together in a prompt.
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
    """The number of attempts at each task, and what they know of each other.

    snapshot  the snapshot that attempts are graded with; for the protocol `feedback` alone
    seed      seed of first attempts, increased by one for each further attempt; None is no seed
    """

    attempts: int = 1
    protocol: AttemptProtocol = AttemptProtocol.ONCE
    snapshot: Path | str | None = None
    seed: int | None = None

    def compute_seed(self, number: int) -> int | None:
        """Return the seed of the attempt with this number; None if there are no seeds."""
        return None if self.seed is None else self.seed + number - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTurn:
    """An attempt to make.

    earlier   the earlier attempts that it may know of
    feedback  how the last of these was graded; for the protocol `feedback` alone
    """

    task: TaskRow
    number: int = 1
    earlier: tuple[Attempt, ...] = ()
    feedback: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStart:
    """The test file that an attempt begins with, None if it is absent, and the whole prompt."""

    file: bytes | None
    prompt: str


def list_waiting_turns(
    series: AttemptSeries, tasks: Sequence[TaskRow], done: Done, number: int
) -> tuple[AttemptTurn, ...]:
    """Return the attempts with this number that are not finished.

    A task is left out until all of its earlier attempts are finished.
    """
    turns = []
    for task in tasks:
        before = [done.get((task.task_id, previous)) for previous in range(1, number)]
        earlier = tuple(previous for previous in before if previous is not None)
        if (task.task_id, number) in done or len(earlier) < number - 1:
            continue
        knows = series.protocol is not AttemptProtocol.ONCE
        turns.append(AttemptTurn(task=task, number=number, earlier=earlier if knows else ()))
    return tuple(turns)


def grade_and_collect_feedback_or_trouble(
    series: AttemptSeries, turns: Sequence[AttemptTurn], options: EvaluationOptions
) -> Mapping[str, tuple[str, str | None]]:
    """Grade the last attempt of each turn and return, by task id, the result of `make_feedback_or_trouble`."""
    last = [turn.earlier[-1] for turn in turns]
    answers = [
        Prediction(task_id=attempt.task_id, patch=_encode_patch(attempt.patch)) for attempt in last
    ]
    tasks = frozenset(attempt.task_id for attempt in last)
    evaluation = evaluate(replace(options, predictions=answers, tasks=tasks))
    return {
        task_id: make_feedback_or_trouble(
            [row for row in evaluation.rows if row.task_id == task_id],
            [row for row in evaluation.suites if row.task_id == task_id],
        )
        for task_id in sorted(tasks)
    }


def make_attempt_start(
    series: AttemptSeries, turn: AttemptTurn, start: bytes | None
) -> AttemptStart:
    """Return the test file and the prompt that an attempt begins with.

    Without earlier attempts that it may know, they are `start` and the task's prompt. Under
    `feedback` the file is the one that the last attempt left, and the prompt says how that was
    graded. Under `diversify` the prompt shows the earlier files.
    start  the test file of the start state
    """
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
    """Return the files that differ from the start state, given those that the attempt has changed.

    files  the files that differ from what the attempt began with
    path   path of the test file, which is `start` in the start state
    begun  the test file that the attempt began with
    """
    if start == begun:
        return files
    end = files[path][1] if path in files else _make_plain_file(begun)
    mode = end.mode if end is not None else PLAIN
    return {**files, path: (None if start is None else GitFile(mode=mode, content=start), end)}


def _make_plain_file(content: bytes | None) -> GitFile | None:
    return None if content is None else GitFile(mode=PLAIN, content=content)


def _apply_earlier_patch(task: TaskRow, earlier: Attempt, start: bytes | None) -> bytes | None:
    """Return the test file that an attempt left; None if it deleted the file.

    If the attempt has no patch that applies, return `start`.
    """
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


# Most tests in a feedback, most characters of each, and most characters in all.
MOST_TESTS, MOST_OF_ONE, MOST = 10, 300, 2400


def make_feedback_or_trouble(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> tuple[str, str | None]:
    """Describe how an attempt was graded, from the rows of its targets or suite.

    Return the text, empty if the task was solved, and None. If grading itself failed (`infra`),
    return an empty text and the reason.
    """
    for row in rows:
        if row.outcome is TaskOutcome.INFRA:
            return '', row.said or str(row.detail)
    for suite in suites:
        if suite.outcome is SuiteOutcome.INFRA:
            return '', suite.said or str(suite.detail)
    lines = [
        *_describe_failing_methods(rows),
        *(line for suite in suites for line in _describe_failing_suite_tests(suite)),
    ]
    return _shorten('\n'.join(lines), MOST), None


def _describe_failing_methods(rows: Sequence[MethodResult]) -> Iterator[str]:
    broken = [row for row in rows if row.outcome is not TaskOutcome.SUCCESS]
    for row in broken[:MOST_TESTS]:
        why = row.detail.clause if row.detail else row.outcome.clause
        yield _format_line(row.test_method, why, row.said)
    yield from _summarise_rest(len(broken), len(rows) - len(broken))


def _describe_failing_suite_tests(suite: SuiteResult) -> Iterator[str]:
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
