"""What runs, and compilers, say of test methods."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.model.words import Outcome

# How a process ends that somebody killed, as a shell tells it and as Python does; under a limit of
# ours it is a time-out or `memory`.
KILLED = ('exit:137', 'exit:-9')

# The signature of a test whose process refuses the options that the project has for it.
OPTIONS_REFUSED = 'jvm_options'

# Says of a pass that nobody watched it though somebody should have, see `Verdict.tampered`.
UNOBSERVED = 'unobserved'

# The signature of tests that were to run under a clock that cannot be set here.
NO_CLOCK = 'no_clock'


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one run, or the compiler, says of one test method."""

    outcome: Outcome
    signature: str | None = None
    exceptions: tuple[str, ...] = ()  # class names, outermost first, then `message`
    message: str = ''
    cpu_seconds: float = 0.0
    environment: str | None = None  # what the machine withheld, where that is why it failed
    syntax: bool = False  # whether the compiler could not even parse it
    tampered: str | None = None  # why a pass is not to be believed, where it was observed


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictBatch:
    """One process: a verdict for each method, None for one that lost it to a neighbour.

    output  what it wrote to both of its streams, in order; the end of it
    """

    verdicts: tuple[Verdict | None, ...]
    cpu_seconds: float
    output: str = ''
