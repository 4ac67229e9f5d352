"""Verdicts on test methods: the results of runs, of compilers, and of the project's own test
command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# The status of a killed process, as a shell and as Python report it. If one of coevo's limits was
# reached, the status is a timeout or `memory` instead.
KILLED = ('exit:137', 'exit:-9')

# The signature of a test if its process rejects the options that the project sets.
OPTIONS_REFUSED = 'jvm_options'

# Marks a pass that should have been observed but was not, see `Verdict.tampered`.
UNOBSERVED = 'unobserved'

# The signature of tests that need another clock on a machine that cannot change it.
NO_CLOCK = 'no_clock'


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of one test method in a run, or of compiling it.

    signature    what went wrong, as a short and stable text; None if nothing did
    exceptions   class names of what was thrown, the outermost first, then its causes
    environment  the resource that the machine lacks, if that is why the test failed
    syntax       whether the compiler could not even parse the method
    tampered     why an observed pass is not credible
    """

    outcome: Outcome
    signature: str | None = None
    exceptions: tuple[str, ...] = ()
    message: str = ''
    cpu_seconds: float = 0.0
    environment: str | None = None
    syntax: bool = False
    tampered: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictBatch:
    """The verdicts of one process; None for a method that another one kept from running.

    output  the end of what the process wrote to both of its streams, in order
    """

    verdicts: tuple[Verdict | None, ...]
    cpu_seconds: float
    output: str = ''


RAN = 'ran'


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun:
    """The outcomes that the project's own command reported for one module and revision.

    outcomes     the worst outcome of each test method that the command ran or skipped; a method
                 that it does not select is absent
    failure      a short, stable reason why the command did not run to its end; None if it did. The
                 outcomes that it reported before that count
    cpu_seconds  of the command
    """

    outcomes: Mapping[TestMethod, Outcome]
    failure: str | None = None
    cpu_seconds: float = 0.0

    @property
    def status(self) -> str:
        """`ran` if the command ran to its end, otherwise the reason why not."""
        return self.failure or RAN
