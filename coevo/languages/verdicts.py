"""Verdicts on test methods, observations from outside their process, and the code that they
executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# Verdicts on test methods: the results of runs, of compilers, and of the project's own test
# command.

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


# Observations of a test from outside its process, which confirm or refute a reported pass.


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCalls:
    """Two counts of an observer: the framework called a test, and the test returned.

    entered  calls that began
    left     calls that ended
    failed   whether a call ended unlike that of a passing test
    """

    entered: int
    left: int
    failed: bool


def explain_unconfirmed_pass(seen: ObservedCalls, *, interferes: bool) -> str | None:
    """Return why a reported pass is not credible, as a short reason; None if it is confirmed.

    The reasons are `not_entered`, `not_left`, `thrown` and `interferes`; the first that applies
    wins.

    interferes  whether the process did something that is needed to forge a result
    """
    if not seen.entered:
        return 'not_entered'
    if seen.left < seen.entered:
        return 'not_left'
    if seen.failed:
        return 'thrown'
    return 'interferes' if interferes else None


def mark_unconfirmed_pass(verdict: Verdict | None, reason: str | None) -> Verdict | None:
    """Return a pass with the reason why it is not credible; any other verdict, or None, as it is.

    reason  None if the pass is credible
    """
    if verdict is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return replace(verdict, tampered=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class MainSources:
    """The main sources to lay in the tree of a test process, independently of its code.

    rev  a revision that was built, whose sources are used; None for no sources at all
    """

    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """Settings of a test process beyond those of its project.

    override           a workaround of `coevo.languages`, the same in all cells of a pair
    clock              the date at which the clock of the process starts; None for the machine's
                       clock. If the clock cannot be set, every verdict is `infra`
    cpu_limit          CPU seconds for each method; None for ten times its slowest passing run, at
                       least 60
    process_cpu_limit  CPU seconds for the whole process; None for the sum of its methods' limits
    observed           whether an observer outside the process confirms passes, see
                       `Verdict.tampered`
    expects            if observed: class names of throwables that tests declare they may end with
    sources            the main sources to show; None for those of the code itself, with all edits
    together           only for languages with hash seeds: whether a single method gets the seed of
                       a run of several methods; otherwise it gets the other seed
    """

    override: str | None = None
    clock: datetime | None = None
    cpu_limit: float | None = None
    process_cpu_limit: float | None = None
    observed: bool = False
    expects: tuple[str, ...] = ()
    sources: MainSources | None = None
    together: bool = False


PLAIN = RunConditions()


# The code that test methods executed, as the engine of their language recorded it.


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredLine:
    """A line of a source file, with its missed and covered instructions and branches.

    For tools that count statements, each statement is one instruction of its first line.
    """

    line: int
    missed_instructions: int
    covered_instructions: int
    missed_branches: int = 0
    covered_branches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedMethod:
    """A method of the code of which a test executed at least one instruction.

    type        the binary name of its class
    method      the name in the class file: `<init>`, `<clinit>`, `lambda$f$0`
    file        the repository path of its source; None if the tree has none
    first_line  the first line with code of its own, 0 without debug information
    last_line   the last one
    """

    type: str
    method: str
    descriptor: str = ''
    file: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The code that one test method executed; `executed` is sorted.

    lines    all known lines of the requested files, by repository path
    reached  the watched lines that were executed, by the names of
             `LanguageReading.list_watch_names`; None if none were watched
    """

    executed: tuple[ExecutedMethod, ...]
    lines: Mapping[str, tuple[CoveredLine, ...]]
    reached: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBatch:
    """A trace for each method; None for a method that did not run to its end.

    together  what all methods with a trace executed, as if in one run; None if there are none or it
              was not requested
    """

    traces: tuple[Trace | None, ...]
    cpu_seconds: float
    together: Trace | None = None


def unite_traces(traces: Iterable[Trace | None]) -> Trace | None:
    """Return one trace of what several traces executed together; None if all are None.

    A line counts with its highest number of covered instructions. Branches are not united, so this
    suits engines that report lines without branches.
    """
    known = [trace for trace in traces if trace is not None]
    if not known:
        return None
    lines: dict[str, dict[int, CoveredLine]] = {}
    for trace in known:
        for path, covered_lines in trace.lines.items():
            own = lines.setdefault(path, {})
            for line in covered_lines:
                before = own.get(line.line)
                if before is None or before.covered_instructions < line.covered_instructions:
                    own[line.line] = line
    return Trace(
        executed=tuple(dict.fromkeys(method for trace in known for method in trace.executed)),
        lines={path: tuple(own[at] for at in sorted(own)) for path, own in lines.items()},
        reached=unite_reached_lines(known),
    )


def unite_reached_lines(traces: Iterable[Trace | None]) -> dict[str, frozenset[int]] | None:
    """Return the watched lines that any trace reached, by file name; None if none were watched."""
    known = [trace for trace in traces if trace is not None]
    reached_lines: dict[str, frozenset[int]] = {}
    for trace in known:
        for name, lines in (trace.reached or {}).items():
            reached_lines[name] = reached_lines.get(name, frozenset()) | lines
    return reached_lines if any(trace.reached is not None for trace in known) else None
