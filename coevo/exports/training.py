"""The format `jsonl`: tasks, graded attempts and preference pairs as lines of JSON, for training.

tasks.jsonl        a line for each task: its prompt, gold patch, dates, licence and kind
attempts.jsonl     a line for each graded attempt: its answer, rewards and outcomes
preferences.jsonl  a line for each pair of attempts at one task, of which one is better

The last two exist only if runs are given. Lines are sorted, and the same input gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coevo.evaluation.assignments import Assignment
from coevo.exports.graded_attempts import GradedAttempt, pair_attempts
from coevo.exports.task_facts import describe_task
from coevo.storage import durable


def write_training_files(
    folder: Path,
    assignments: Sequence[Assignment],
    attempts: Sequence[GradedAttempt] | None,
    snapshot_sha256: str,
) -> dict[str, int]:
    """Write the files into a folder; return the number of lines of each, by its name.

    attempts  None if no runs were given
    """
    lines: dict[str, list[Mapping[str, Any]]] = {
        'tasks.jsonl': [_make_task_line(each, snapshot_sha256) for each in assignments]
    }
    if attempts is not None:
        prompts = {each.task_id: each.task.prompt for each in assignments}
        lines['attempts.jsonl'] = [_make_attempt_line(each, prompts) for each in attempts]
        lines['preferences.jsonl'] = [
            _make_preference_line(better, worse, prompts)
            for better, worse in pair_attempts(attempts)
        ]
    for name, of_file in lines.items():
        durable.write_durably(folder / name, encode_lines(of_file))  # own name: one of three above
    return {name: len(of_file) for name, of_file in lines.items()}


def encode_lines(rows: Iterable[Mapping[str, Any]]) -> Iterable[bytes]:
    """Yield each row as a line of JSON in UTF-8, with its keys in their order."""
    return (json.dumps(row, ensure_ascii=False).encode('utf-8', 'replace') + b'\n' for row in rows)


def _make_task_line(assignment: Assignment, snapshot_sha256: str) -> Mapping[str, Any]:
    task = assignment.task
    return {
        **describe_task(assignment, snapshot_sha256),
        'prompt': task.prompt,
        'gold_patch': task.test_patch,
        'source_patch': task.source_patch,
    }


def _make_attempt_line(
    attempt: GradedAttempt, prompts: Mapping[str, str | None]
) -> Mapping[str, Any]:
    answer = attempt.prediction
    return {
        'task_id': answer.task_id,
        'model': answer.model,
        'harness': answer.harness,
        'attempt': answer.attempt,
        'prompt': prompts[answer.task_id],
        'completion': attempt.answer,
        'form': 'patch' if answer.file is None else 'file',
        'rewards': asdict(attempt.rewards),
        'outcomes': attempt.outcomes,
    }


def _make_preference_line(
    better: GradedAttempt, worse: GradedAttempt, prompts: Mapping[str, str | None]
) -> Mapping[str, Any]:
    return {
        'task_id': better.prediction.task_id,
        'prompt': prompts[better.prediction.task_id],
        'chosen': better.answer,
        'rejected': worse.answer,
        'chosen_rewards': asdict(better.rewards),
        'rejected_rewards': asdict(worse.rewards),
        'chosen_model': better.prediction.model,
        'rejected_model': worse.prediction.model,
    }
