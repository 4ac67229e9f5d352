"""What test methods execute of the code, recorded by JaCoCo's agent and one of entered methods.

A trace is all that its method needs: fixtures of its class, static initialisers and whatever is made
once, lazily. In a JVM that is merely shared these are found with the first method that comes by and
with no other (benchmarks/dependency_map.md has what that loses). So a method has a JVM of its own, or
shares one in which the project's classes are loaded anew for each method. There only what libraries
keep of the project is made once. Who leaves threads behind is the last of its JVM, and who does
not pass there is traced again, alone.

The data are written beside mined code, which could write others. They decide no verdict. What a
submitted test covers counts only where an observer (`observer.py`) saw the same lines reached.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coevo.languages.java.building.session import Died
from coevo.languages.java.processes.launch import WORKER
from coevo.languages.java.processes.plan import Agent
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import Recorded
from coevo.languages.java.processes.runner import run_traced
from coevo.languages.java.processes.runner import run_watched
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.toolchain import AGENT
from coevo.languages.java.tracing.code_files import CodeFiles
from coevo.languages.java.tracing.traces import read_traces
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.languages.verdicts import Batch
from coevo.model.words import Outcome

# Execution data of one request, in characters.
_REQUEST = 1 << 26

# A word of a command line has a limit; agents take all classes for theirs without a list.
_LONGEST_LIST = 100_000
_PACKAGE = re.compile(r'[\w$.-]+')


class Tracer:
    """For one thread; its JVM, which runs no project's code, starts with the first trace."""

    def __init__(self, builds: SharedBuilds) -> None:
        self._builds = builds
        self._session = builds.reader()

    def trace(
        self,
        plan: LaunchPlan,
        code: CodeFiles,
        files: Collection[str],
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> Traced:
        """A trace for each target of a plan that is arranged, lines for those source files.

        shared    whether targets may have a JVM in common
        watched   lines for an observer; the plan is observed then
        together  whether one of all of them is wanted, too
        """
        plan = replace(plan, agents=self._agents(code))
        recorded: dict[int, Recorded | None] = {}
        spent = 0.0
        if shared and watched is None and _can_be_loaded_anew(plan):
            recorded, spent = self._share(plan)
        for place, target in enumerate(plan.targets):
            if place not in recorded:
                recorded[place], batch = self._run_alone(replace(plan, targets=(target,)), watched)
                spent += batch.cpu_seconds
        data = [recorded[place] for place in range(len(plan.targets))]
        traces: list[Trace | None] = [None] * len(data)
        for places in _portions(data):
            told, used = self._read([one for place in places if (one := data[place])], code, files)
            spent += used
            for place, trace in zip(places, told, strict=True):
                traces[place] = trace
        whole = [one for one, trace in zip(data, traces, strict=True) if one and trace]
        if not together or not whole:
            return Traced(traces=tuple(traces), cpu_seconds=spent)
        (joined,), used = self._read([_joined(whole)], code, files)
        return Traced(traces=tuple(traces), cpu_seconds=spent + used, together=joined)

    def close(self) -> None:
        self._session.close()

    def _share(self, plan: LaunchPlan) -> tuple[dict[int, Recorded | None], float]:
        """What was recorded of targets that pass in a shared JVM, by place; who ends it early is
        followed by a next one."""
        recorded: dict[int, Recorded | None] = {}
        rest = list(range(len(plan.targets)))
        spent = 0.0
        while len(rest) > 1:
            targets = tuple(plan.targets[place] for place in rest)
            found, batch = self._run(replace(plan, targets=targets, reload_classes=True))
            spent += batch.cpu_seconds
            told = dict(zip(rest, zip(found, batch.verdicts, strict=True), strict=True))
            passed = {
                place: one
                for place, (one, verdict) in told.items()
                if verdict is not None and verdict.outcome is Outcome.PASS
            }
            if not passed:
                break  # it does not suit these tests
            recorded |= passed
            rest = [place for place in rest if told[place][1] is None]
        return recorded, spent

    def _run_alone(
        self, plan: LaunchPlan, watched: Mapping[str, Collection[int]] | None
    ) -> tuple[Recorded | None, Batch]:
        if watched is None:
            (recorded,), batch = self._run(plan)
            return recorded, batch
        job = self._builds.launcher.job(plan)
        return run_watched(self._builds.sandbox, job, plan.targets[0], watched)

    def _run(self, plan: LaunchPlan) -> tuple[list[Recorded | None], Batch]:
        return run_traced(self._builds.sandbox, self._builds.launcher.job(plan), plan.targets)

    def _read(
        self, data: Sequence[Recorded], code: CodeFiles, files: Collection[str]
    ) -> tuple[Sequence[Trace | None], float]:
        request = [
            'trace',
            *(f'folder={self._builds.launcher.inside(folder)}' for folder in code.folders),
            *(f'removed={self._builds.launcher.inside(file)}' for file in code.removed),
            *(f'source={place}' for place in code.places(files)),
            *(f'covered={one.covered}' for one in data),
            *(f'entered={one.entered}' for one in data),
        ]
        answer = self._session.ask(request, self._builds.folder('traces', str(id(self))))
        if isinstance(answer, Died):
            return [None] * len(data), 0.0
        entered = [one.entered for one in data]
        traces = read_traces(answer.report, entered, code, files)
        with_reached = [
            trace and replace(trace, reached=one.reached)
            for trace, one in zip(traces, data, strict=True)
        ]
        return with_reached, answer.cpu_seconds

    def _agents(self, code: CodeFiles) -> tuple[Agent, ...]:
        """JaCoCo's, then ours, which changes what that has changed."""
        library = self._builds.launcher.library(AGENT)
        return (
            Agent(jar=library, options=jacoco_options(code.folders)),
            Agent(jar=WORKER, options='|'.join(code.places_at_run_time)),
        )


def _joined(recorded: Sequence[Recorded]) -> Recorded:
    """What was recorded of several, as of one: JaCoCo reads its files one behind the other, and counts
    a branch that any of them took."""
    blocks = [base64.urlsafe_b64decode(f'{one.covered}==') for one in recorded]
    reached: dict[str, frozenset[int]] = {}
    for one in recorded:
        for name, lines in (one.reached or {}).items():
            reached[name] = reached.get(name, frozenset()) | lines
    return Recorded(
        covered=base64.urlsafe_b64encode(b''.join(blocks)).decode(),
        entered='\n'.join(one.entered for one in recorded),
        reached=reached if any(one.reached is not None for one in recorded) else None,
    )


def _can_be_loaded_anew(plan: LaunchPlan) -> bool:
    """Whether folders alone stand behind the libraries, so that either is found where it was."""
    return not any(place.endswith(('.jar', '*')) for place in plan.folders)


def jacoco_options(folders: Iterable[Path]) -> str:
    """Nothing is written or sent by the agent itself; it changes classes of these folders alone."""
    names = sorted({name for folder in folders for name in _packages(folder)})
    roots: list[str] = []
    for name in names:
        if not any(name.startswith(f'{root}.') for root in roots):
            roots.append(name)
    listed = ':'.join(f'{name}.*' if name else '*' for name in roots)
    only = f',includes={listed}' if listed and len(listed) < _LONGEST_LIST else ''
    return f'output=none{only}'


def _packages(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        if any(name.endswith('.class') for name in names):
            package = os.path.relpath(parent, folder).replace('/', '.')
            yield package if package != '.' and _PACKAGE.fullmatch(package) else ''


def _portions(data: Sequence[Recorded | None]) -> Iterator[list[int]]:
    """Places of what is there, as many at a time as fit into a request."""
    portion: list[int] = []
    size = 0
    for place, one in enumerate(data):
        if one is None:
            continue
        more = len(one.covered) + len(one.entered)
        if portion and size + more > _REQUEST:
            yield portion
            portion, size = [], 0
        portion.append(place)
        size += more
    if portion:
        yield portion
