"""What mining a demo's repository has to give, in rows.

A test method stands once for every pair in which it is a candidate: with its label and track, or
with the reason why it was dropped; with a label and a reason where only its track was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coevo.model.words import Label, Stage, Track


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ExpectedMethod:
    """A test method in the pair that ends with the step: `test` is Class#method at its new end."""

    step: str
    test: str
    label: Label | None = None
    track: Track | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Loss:
    """A commit or a pair that left the funnel: the one that the step made."""

    step: str
    stage: Stage
    reason: str


TASKS = {
    Label.UPDATE: Track.UPDATE,
    Label.REPAIR: Track.REPAIR,
    Label.GENERATION: Track.GENERATION,
}


def expect_labelled(
    step: str, test_class: str, verdicts: dict[Label, tuple[str, ...]]
) -> Iterator[ExpectedMethod]:
    for label, names in verdicts.items():
        for name in names:
            yield ExpectedMethod(
                step=step, test=f'{test_class}#{name}', label=label, track=TASKS.get(label)
            )


def expect_dropped(
    step: str, test_class: str, verdicts: dict[str, tuple[str, ...]]
) -> Iterator[ExpectedMethod]:
    for reason, names in verdicts.items():
        for name in names:
            yield ExpectedMethod(step=step, test=f'{test_class}#{name}', reason=reason)
