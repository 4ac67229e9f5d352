"""`--format jsonl`: tasks, graded attempts and preferences as JSON lines, to train on.

tasks.jsonl        a line for each task: `prompt` (the question of coevo's baseline one-shot, as
                   messages), `completion` (gold's test file in the form that the question asks for,
                   of `implement` gold's patch; null if it is not UTF-8 or cannot be told from its
                   fence), `gold_patch` and `metadata`
attempts.jsonl     a line for each graded attempt: the same `prompt`, the attempt's `completion`
                   (null if no answer was found or none can be applied), `rewards`, `reasons`, and
                   what the attempt says of itself
preferences.jsonl  a line for each pair of attempts at a task of which one has better rewards:
                   `prompt`, `chosen`, `rejected` and the rewards of both

Both files of attempts are there if attempts were named. Prompts and completions are lists of
messages, so that TRL reads the files as they are: `tasks.jsonl` to imitate gold,
`preferences.jsonl` for DPO.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from coevo.agents.one_shot import extract_longest_code_block
from coevo.evaluation.assignments import list_task_ids
from coevo.evaluation.judging.application import AppliedFile, apply_patch
from coevo.evaluation.records import Prediction
from coevo.exports.attempts import GradedAttempt, load_attempts
from coevo.exports.selection import (
    Omissions,
    Selection,
    TaskTexts,
    describe_task,
    encode_json_lines,
    load_task_texts,
    open_repositories_with_tasks,
    refuse_empty_export,
    select_tasks,
)
from coevo.snapshots import snapshot
from coevo.storage import durable

Line = dict[str, object]
Messages = list[dict[str, str]]


@dataclass(slots=True, kw_only=True)
class TrainingLines:
    """The lines of the three files."""

    tasks: list[Line] = field(default_factory=list)
    attempts: list[Line] = field(default_factory=list)
    preferences: list[Line] = field(default_factory=list)


def write_training_files(
    folder: Path,
    selection: Selection,
    results: Sequence[Path],
    release: Mapping[str, str | None],
    omissions: Omissions,
) -> Iterator[str]:
    """Write the files into a folder, and yield a sentence about each.

    results  folders with graded attempts; none: only the tasks are written

    Raises: Fatal if no task is left.
    """
    wanted = select_tasks(selection)
    known = list_task_ids(snapshot.attach_snapshots_unchecked((selection.snapshot,)))
    attempts: dict[str, list[GradedAttempt]] = defaultdict(list)
    for attempt in load_attempts(results, wanted, known, str(release['snapshot_sha256'])):
        attempts[attempt.task_id].append(attempt)
    lines = TrainingLines()
    for repository, of_repository in open_repositories_with_tasks(
        wanted, selection.clones, omissions
    ):
        for assignment in of_repository:
            texts = load_task_texts(repository, assignment, omissions)
            if texts is not None:
                _add_task(lines, texts, attempts[assignment.task_id], release)
    refuse_empty_export(len(lines.tasks), omissions)
    files = {'tasks.jsonl': lines.tasks}
    if results:
        files |= {'attempts.jsonl': lines.attempts, 'preferences.jsonl': lines.preferences}
    for name, content in files.items():
        durable.write_durably(folder / name, [encode_json_lines(content)])  # own name: one of three
        yield f'{name}: {len(content):,} lines'


def _add_task(
    lines: TrainingLines,
    texts: TaskTexts,
    attempts: Sequence[GradedAttempt],
    release: Mapping[str, str | None],
) -> None:
    prompt: Messages = [{'role': 'user', 'content': texts.question}]
    shared: Line = {
        'prompt': prompt,
        'task_id': texts.task.task_id,
        'metadata': describe_task(texts.task, release),
    }
    patch = texts.task.gold_patch
    is_code = texts.task.asks_for_code
    gold = _format_answer(patch.encode('utf-8', 'surrogateescape') if is_code else texts.gold)
    lines.tasks.append({**shared, 'completion': gold, 'gold_patch': patch})
    find = _find_patch if is_code else _find_file
    answered = [(attempt, _format_answer(find(texts, attempt.answer))) for attempt in attempts]
    lines.attempts += [
        {**shared, **_describe_attempt(attempt), 'completion': a} for attempt, a in answered
    ]
    lines.preferences += [{**shared, **pair} for pair in _make_preference_pairs(answered)]


def _format_answer(file: bytes | None) -> Messages | None:
    """Return a file or patch as the answer that one-shot asks for; None if it would be read otherwise."""
    try:
        text = None if file is None else file.decode()
    except UnicodeDecodeError:
        return None
    if text is None:
        return None
    answer = f'```\n{text}```\n' if text.endswith('\n') else f'```\n{text}\n```\n'
    if (extract_longest_code_block(answer) or '').rstrip('\n') != text.rstrip('\n'):
        return None
    return [{'role': 'assistant', 'content': answer}]


def _find_file(texts: TaskTexts, answer: Prediction | None) -> bytes | None:
    """Return the test file of an answer; None if there is none, or its patch does not apply."""
    if answer is None or answer.file is not None:
        return None if answer is None else answer.file
    applied = apply_patch(answer.patch, texts.task.test_file, texts.start)
    return applied.content if isinstance(applied, AppliedFile) else None


def _find_patch(texts: TaskTexts, answer: Prediction | None) -> bytes | None:
    """Return the patch of an answer; None if there is none."""
    return None if answer is None or not answer.patch else answer.patch


def _describe_attempt(attempt: GradedAttempt) -> Line:
    row = attempt.row
    return {
        'attempt': row.attempt,
        'model': row.model,
        'harness': row.harness,
        'seed': row.seed,
        'protocol': str(row.protocol),
        'exit_status': row.exit_status,
        'cost_usd': row.cost_usd,
        'tokens': row.tokens,
        'seconds': row.agent_seconds,
        'prediction_sha256': row.prediction_sha256,
        'rewards': attempt.rewards.to_mapping(),
        'reasons': list(attempt.reasons),
    }


def _make_preference_pairs(
    answered: Sequence[tuple[GradedAttempt, Messages | None]],
) -> Iterator[Line]:
    """Yield each pair of different answers of which one has better rewards, in the order given.

    An answer that was given several times is paired once, with the rewards of its first attempt.
    """
    first: dict[str, tuple[GradedAttempt, Messages]] = {}
    for attempt, answer in answered:
        if answer is not None:
            first.setdefault(answer[0]['content'], (attempt, answer))
    for pair in combinations(first.values(), 2):
        for (better, chosen), (worse, rejected) in (pair, pair[::-1]):
            if better.rewards.dominates(worse.rewards):
                yield {
                    'chosen': chosen,
                    'rejected': rejected,
                    'chosen_rewards': better.rewards.to_mapping(),
                    'rejected_rewards': worse.rewards.to_mapping(),
                    'chosen_sha256': better.row.prediction_sha256,
                    'rejected_sha256': worse.row.prediction_sha256,
                }
