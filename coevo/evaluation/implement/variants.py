"""Variants: copies of the targets with other literals, which are not shown.

Code that answers the values of the visible tests alone does not answer these. A variant is a copy
of the test file in which every target has another word or number (`coevo.languages.literals`). With
gold's code a target of the copy passes, or an assertion fails with a message; it has to end in the
same way with submitted code. Copies that end otherwise with gold, or not always alike, are dropped.

A failing variant is a control, too: code that makes assertions ineffective passes where gold fails.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.implement.context import CodeContext, CodeEnd, Methods
from coevo.languages.declarations import Member
from coevo.languages.literals import (
    LiteralPiece,
    draw_in_turns,
    group_words_in_literals,
    replace_pieces,
)
from coevo.languages.table import get_reading
from coevo.languages.verdicts import Verdict
from coevo.model.records import compute_short_hash
from coevo.model.words import Outcome

# The most copies of the test file; each has another literal in each target.
MOST_COPIES = 6

_ADDRESS = re.compile(r'0x[0-9a-fA-F]{4,}|@[0-9a-f]{5,8}\b')
_SPACES = re.compile(r'\s+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The ending of a target of a copy: `pass` or `fail`, with the message of the failed assertion."""

    copy: int
    name: str
    outcome: Outcome
    message: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFile:
    """A copy of the test file; `changed` are the targets that differ from the file, by name."""

    number: int
    content: bytes
    changed: Methods


def make_literal_variants(context: CodeContext, targets: Methods) -> Iterator[VariantFile]:
    """Yield copies of the test file, always the same for a task."""
    read = get_reading(context.assignment.task.language)
    file = read.parse(context.start, context.assignment.task.test_file)
    members = {
        (type_.name, member.name, member.parameters): member
        for type_ in file.types
        for member in type_.members
        if member.kind == 'method'
    }
    drawn = {
        name: _draw_literal_groups(context, member, name)
        for name, method in targets.items()
        if (member := members.get((method.test_class, method.test_method, method.parameters)))
    }
    for number in range(MOST_COPIES):
        chosen = {name: groups[number] for name, groups in drawn.items() if number < len(groups)}
        if chosen:
            pieces = tuple(piece for group in chosen.values() for piece in group)
            yield VariantFile(
                number=number,
                content=replace_pieces(context.start, tuple(dict.fromkeys(pieces))),
                changed={name: targets[name] for name in chosen},
            )


def _draw_literal_groups(
    context: CodeContext, member: Member, name: str
) -> Sequence[tuple[LiteralPiece, ...]]:
    rules = get_reading(context.assignment.task.language).LEXIS
    groups = group_words_in_literals(rules, context.start, member.start_byte, member.end_byte)
    task_id = context.assignment.task_id
    drawn = draw_in_turns(groups, lambda text: compute_short_hash(task_id, name, text.hex()))
    return [groups[text] for text in drawn]


def run_variant_with_cpu_seconds(
    context: CodeContext, end: CodeEnd, variant: VariantFile, methods: Methods
) -> tuple[Mapping[str, Verdict], float]:
    """Return the verdicts on targets of a copy with a code, and the CPU seconds.

    A target that ended its process before others had their turn may leave these out.
    """
    files = ((context.assignment.task.test_file, variant.content),)
    runner = context.make_runner(end)
    compiled = context.compile(end, context.module, files)
    verdicts = runner.run_in_one_process(compiled, methods)
    return verdicts, runner.cpu_seconds + compiled.cpu_seconds


def find_steady_endings(
    variant: VariantFile, first: Mapping[str, Verdict], second: Mapping[str, Verdict]
) -> Iterator[Ending]:
    """Yield how the targets of a copy end with gold, if they end alike in both runs."""
    for name in variant.changed:
        endings = [
            make_ending_if_pass_or_fail(variant.number, name, run.get(name))
            for run in (first, second)
        ]
        if endings[0] is not None and endings[0] == endings[1]:
            yield endings[0]


def make_ending_if_pass_or_fail(number: int, name: str, verdict: Verdict | None) -> Ending | None:
    """Return how a target ended; None if it neither passed nor failed in an assertion."""
    if verdict is None or verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
        return None
    message = _SPACES.sub(' ', _ADDRESS.sub('0x', verdict.message)).strip()
    is_pass = verdict.outcome is Outcome.PASS
    return Ending(
        copy=number, name=name, outcome=verdict.outcome, message='' if is_pass else message
    )


def passes_failing_variants(
    expected: Collection[Ending], passing: Collection[tuple[int, str]]
) -> bool:
    """Return whether code passes all variants that fail with gold, of which there are several.

    One of them may pass by right, such as an assertion that a number is greater than another.
    """
    failing = {(end.copy, end.name) for end in expected if end.outcome is Outcome.FAIL}
    return len(failing) > 1 and failing <= set(passing)
