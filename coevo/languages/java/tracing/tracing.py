"""Trace the code that test methods execute, with JaCoCo's agent and one for entered methods.

A trace contains everything that its method needs: fixtures of its class, static initialisers and
everything that is created once, lazily. In an ordinary shared JVM, these would appear only in the
trace of the first method that needs them (benchmarks/figures.md has the measured loss). So a method
has a JVM of its own, or shares one in which the project's classes are reloaded for each method. In
such a JVM, only objects that libraries keep for the project are created once. A test that leaves
threads behind is the last of its JVM. A test that does not pass in a shared JVM is traced again,
alone.

The data are recorded beside mined code, which could forge them. They decide no verdict. Coverage of
a submitted test counts only for lines that an observer (`observer.py`) saw executed.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coevo.languages.java.building.session import JvmDeath
from coevo.languages.java.processes.launch import WORKER
from coevo.languages.java.processes.plan import JvmAgent, LaunchPlan
from coevo.languages.java.processes.runner import TargetRecording, run_traced, run_watched
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.toolchain import AGENT
from coevo.languages.java.tracing.code_files import CodeFiles
from coevo.languages.verdicts import CoveredLine, ExecutedMethod, Trace, TraceBatch, VerdictBatch
from coevo.model.words import Outcome

# The limit for execution data in one request, in characters.
_REQUEST = 1 << 26

# A word of a command line has a maximal length; without a list, the agent instruments all classes.
_LONGEST_LIST = 100_000
_PACKAGE = re.compile(r'[\w$.-]+')


class Tracer:
    """Runs tests and returns what they execute; for use by one thread.

    A JVM of its own reads the recorded data. It runs no code of projects and starts with the first
    trace.
    """

    def __init__(self, builds: SharedBuilds) -> None:
        self._builds = builds
        self._session = builds.make_tracer_session()

    def trace(
        self,
        plan: LaunchPlan,
        code: CodeFiles,
        files: Collection[str],
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> TraceBatch:
        """Run each target of a plan and return what it executes, with line counts for `files`.

        The trace of a target is None if it could not be recorded or read.

        shared    whether targets may share a JVM
        watched   lines for an observer, by top-level type; the plan must then be observed
        together  whether a joint trace of all targets is wanted as well
        """
        plan = replace(plan, agents=self._list_agents(code))
        recorded: dict[int, TargetRecording | None] = {}
        spent = 0.0
        if shared and watched is None and _can_reload_classes(plan):
            recorded, spent = self._record_passing_in_shared_jvm(plan)
        for index, target in enumerate(plan.targets):
            if index not in recorded:
                recorded[index], batch = self._run_alone(replace(plan, targets=(target,)), watched)
                spent += batch.cpu_seconds
        data = [recorded[index] for index in range(len(plan.targets))]
        traces: list[Trace | None] = [None] * len(data)
        for places in _split_into_portions(data):
            portion_traces, used = self._request_traces_and_cpu_seconds(
                [recording for index in places if (recording := data[index])], code, files
            )
            spent += used
            for index, trace in zip(places, portion_traces, strict=True):
                traces[index] = trace
        whole = [
            recording for recording, trace in zip(data, traces, strict=True) if recording and trace
        ]
        if not together or not whole:
            return TraceBatch(traces=tuple(traces), cpu_seconds=spent)
        (joined,), used = self._request_traces_and_cpu_seconds(
            [_join_recordings(whole)], code, files
        )
        return TraceBatch(traces=tuple(traces), cpu_seconds=spent + used, together=joined)

    def close(self) -> None:
        """End the JVM."""
        self._session.close()

    def _record_passing_in_shared_jvm(
        self, plan: LaunchPlan
    ) -> tuple[dict[int, TargetRecording | None], float]:
        """Run targets in a shared JVM; return the recordings of those that pass, and CPU seconds.

        Recordings are by the index of the target. If a target ends the JVM early, the remaining
        ones continue in another JVM. A target that does not pass is missing in the result.
        """
        recorded: dict[int, TargetRecording | None] = {}
        rest = list(range(len(plan.targets)))
        spent = 0.0
        while len(rest) > 1:
            targets = tuple(plan.targets[index] for index in rest)
            recordings, batch = self._run_plan(replace(plan, targets=targets, reload_classes=True))
            spent += batch.cpu_seconds
            outcomes = dict(zip(rest, zip(recordings, batch.verdicts, strict=True), strict=True))
            passed = {
                index: recording
                for index, (recording, verdict) in outcomes.items()
                if verdict is not None and verdict.outcome is Outcome.PASS
            }
            if not passed:
                break  # shared JVMs do not suit these tests
            recorded |= passed
            rest = [index for index in rest if outcomes[index][1] is None]
        return recorded, spent

    def _run_alone(
        self, plan: LaunchPlan, watched: Mapping[str, Collection[int]] | None
    ) -> tuple[TargetRecording | None, VerdictBatch]:
        if watched is None:
            (recorded,), batch = self._run_plan(plan)
            return recorded, batch
        job = self._builds.launcher.make_job(plan)
        return run_watched(self._builds.sandbox, job, plan.targets[0], watched)

    def _run_plan(self, plan: LaunchPlan) -> tuple[list[TargetRecording | None], VerdictBatch]:
        return run_traced(self._builds.sandbox, self._builds.launcher.make_job(plan), plan.targets)

    def _request_traces_and_cpu_seconds(
        self, data: Sequence[TargetRecording], code: CodeFiles, files: Collection[str]
    ) -> tuple[Sequence[Trace | None], float]:
        request = [
            'trace',
            *(
                f'folder={self._builds.launcher.locate_in_sandbox(folder)}'
                for folder in code.folders
            ),
            *(f'removed={self._builds.launcher.locate_in_sandbox(file)}' for file in code.removed),
            *(f'source={source_entry}' for source_entry in code.list_indexed_source_paths(files)),
            *(f'covered={recording.covered}' for recording in data),
            *(f'entered={recording.entered}' for recording in data),
        ]
        answer = self._session.ask(
            request, self._builds.locate_folder_creating_parents('traces', str(id(self)))
        )
        if isinstance(answer, JvmDeath):
            return [None] * len(data), 0.0
        entered = [recording.entered for recording in data]
        traces = parse_traces(answer.report, entered, code, files)
        with_reached = [
            trace and replace(trace, reached=recording.reached)
            for trace, recording in zip(traces, data, strict=True)
        ]
        return with_reached, answer.cpu_seconds

    def _list_agents(self, code: CodeFiles) -> tuple[JvmAgent, ...]:
        """Return JaCoCo's agent, then coevo's, which instruments the classes after JaCoCo."""
        library = self._builds.launcher.locate_tool_library(AGENT)
        return (
            JvmAgent(jar=library, options=make_jacoco_options(code.folders)),
            JvmAgent(jar=WORKER, options='|'.join(code.places_at_run_time)),
        )


def _join_recordings(recorded: Sequence[TargetRecording]) -> TargetRecording:
    """Join the recordings of several targets into one.

    JaCoCo can read concatenated files, and counts a branch that any of them took.
    """
    blocks = [base64.urlsafe_b64decode(f'{recording.covered}==') for recording in recorded]
    reached: dict[str, frozenset[int]] = {}
    for recording in recorded:
        for name, lines in (recording.reached or {}).items():
            reached[name] = reached.get(name, frozenset()) | lines
    return TargetRecording(
        covered=base64.urlsafe_b64encode(b''.join(blocks)).decode(),
        entered='\n'.join(recording.entered for recording in recorded),
        reached=reached if any(recording.reached is not None for recording in recorded) else None,
    )


def _can_reload_classes(plan: LaunchPlan) -> bool:
    """Return whether only folders follow the libraries on a plan's class path.

    Then classes can be reloaded from these folders in the same order.
    """
    return not any(folder.endswith(('.jar', '*')) for folder in plan.class_path_after_leading_jars)


def make_jacoco_options(folders: Iterable[Path]) -> str:
    """Return the options of JaCoCo's agent: no output, and only packages of these folders.

    If the list of packages would be too long, all classes are included.
    """
    names = sorted({name for folder in folders for name in _list_packages(folder)})
    roots: list[str] = []
    for name in names:
        if not any(name.startswith(f'{root}.') for root in roots):
            roots.append(name)
    listed = ':'.join(f'{name}.*' if name else '*' for name in roots)
    only = f',includes={listed}' if listed and len(listed) < _LONGEST_LIST else ''
    return f'output=none{only}'


def _list_packages(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        if any(name.endswith('.class') for name in names):
            package = os.path.relpath(parent, folder).replace('/', '.')
            yield package if package != '.' and _PACKAGE.fullmatch(package) else ''


def _split_into_portions(data: Sequence[TargetRecording | None]) -> Iterator[list[int]]:
    """Yield the indexes of the existing recordings, in portions that fit into one request."""
    portion: list[int] = []
    size = 0
    for index, recording in enumerate(data):
        if recording is None:
            continue
        more = len(recording.covered) + len(recording.entered)
        if portion and size + more > _REQUEST:
            yield portion
            portion, size = [], 0
        portion.append(index)
        size += more
    if portion:
        yield portion


# Make traces from the report of the reader of execution data
# (coevo/languages/java/jvm/builder/Execution).

_Counts = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExecutedClass:
    """A class of the code with its coverage in one or more tests, or without any.

    path     repository path of its source; None if that was generated
    covered  methods that JaCoCo reports as covered
    lines    by number: missed and covered instructions, then missed and covered branches
    """

    key: tuple[int, str]
    path: str | None
    covered: tuple[ExecutedMethod, ...]
    missed: Mapping[str, ExecutedMethod]  # by CLASS.METHODDESCRIPTOR with internal names
    lines: Mapping[int, _Counts]


def parse_traces(
    report: Mapping[str, Any], entered: Sequence[str], code: CodeFiles, files: Collection[str]
) -> list[Trace | None]:
    """Return a trace for each test of a report, with line counts for `files`.

    A trace is None if the test has no valid data. `entered` has a text for each test: a line for
    each method that it entered. These methods count in addition to those that JaCoCo reports as
    covered.
    """
    classes = [_parse_class(class_, code) for class_ in report['classes']]
    blank = {class_.key: class_ for class_ in (classes[index] for index in report['blank'])}
    traces: list[Trace | None] = []
    for places, lines in zip(report['tests'], entered, strict=True):
        hit = [classes[index] for index in places or ()]
        there = {**blank, **{class_.key: class_ for class_ in hit}}
        traces.append(
            None
            if places is None
            else Trace(
                executed=tuple(
                    sorted(
                        _list_executed_methods(hit, frozenset(lines.splitlines())),
                        key=_get_sort_key,
                    )
                ),
                lines={path: _sum_lines(path, there.values()) for path in sorted(files)},
            )
        )
    return traces


def _parse_class(one: Mapping[str, Any], code: CodeFiles) -> _ExecutedClass:
    name = one['name']
    path = code.find_source(one['folder'], name, one['source'])
    internal = name.replace('.', '/')
    return _ExecutedClass(
        key=(one['folder'], name),
        path=path,
        covered=tuple(_parse_method(name, path, row) for row in one['methods'] if row[-1]),
        missed={
            f'{internal}.{row[0]}{row[1]}': _parse_method(name, path, row)
            for row in one['methods']
            if not row[-1]
        },
        lines={number: (mi, ci, mb, cb) for number, mi, ci, mb, cb in one['lines'] or ()},
    )


def _parse_method(type_: str, path: str | None, told: Sequence[Any]) -> ExecutedMethod:
    name, descriptor, first, last, _ = told
    return ExecutedMethod(
        type=type_,
        method=name,
        descriptor=descriptor,
        file=path,
        first_line=first,
        last_line=last,
    )


def _list_executed_methods(
    classes: Iterable[_ExecutedClass], entered: frozenset[str]
) -> Iterator[ExecutedMethod]:
    for class_ in classes:
        yield from class_.covered
        yield from (class_.missed[name] for name in class_.missed.keys() & entered)


def _get_sort_key(method: ExecutedMethod) -> tuple[str, ...]:
    return (method.type, method.method, method.descriptor, method.file or '')


def _sum_lines(path: str, classes: Iterable[_ExecutedClass]) -> tuple[CoveredLine, ...]:
    """Return the sums over all classes of a file, as JaCoCo's reports do."""
    sums: dict[int, _Counts] = {}
    for class_ in classes:
        if class_.path == path:
            for number, (mi, ci, mb, cb) in class_.lines.items():
                old = sums.get(number, (0, 0, 0, 0))
                sums[number] = (old[0] + mi, old[1] + ci, old[2] + mb, old[3] + cb)
    return tuple(
        CoveredLine(
            line=number,
            missed_instructions=mi,
            covered_instructions=ci,
            missed_branches=mb,
            covered_branches=cb,
        )
        for number, (mi, ci, mb, cb) in sorted(sums.items())
    )
