"""Run the tests of a project as its developers do: `python -m pytest` in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coevo.languages.python.cell import PythonCell
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.commands import make_target
from coevo.languages.python.events import PythonProcessReport, is_below_conftest
from coevo.languages.python.options import make_developer_options
from coevo.languages.python.runner import LOADING_SECONDS, PythonRunResult
from coevo.languages.verdicts import ProjectRun
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_REFUSED = 'settings_refused'
_UNFINISHED = 'unfinished'


def run_project_tests(
    cells: PythonCells,
    cell: PythonCell,
    reported_methods: Sequence[TestMethod],
    settings: Mapping[str, bytes],
) -> ProjectRun:
    """Run all tests of a project on its own code as its developers do; return the outcomes.

    If pytest refuses the options of the settings, which may be those of a plugin that is left out,
    it runs once more without them. The limit is `LOADING_SECONDS` of CPU time; what was reported
    until then counts.

    methods   the test methods by which the outcomes are named
    settings  the settings files of the project's folder, by name
    """
    spent = 0.0
    for options in dict.fromkeys((make_developer_options(settings.get), make_developer_options())):
        done = cells.run_request(
            cell,
            {'mode': 'umpire', 'files': [], 'options': list(options)},
            (),
            cpu_seconds=LOADING_SECONDS,
            shared=False,
        )
        spent += done.cpu_seconds
        if not _has_refused_options(done):
            break
    return ProjectRun(
        outcomes=dict(_assign_outcomes(done.heard, reported_methods)),
        failure=_explain_failure(done),
        cpu_seconds=spent,
    )


def _has_refused_options(done: PythonRunResult) -> bool:
    return not done.heard.rulings and ('*' in done.heard.files or not done.heard.loaded)


def _explain_failure(done: PythonRunResult) -> str | None:
    if _has_refused_options(done):
        return _REFUSED
    return None if done.heard.loaded else _UNFINISHED


def _assign_outcomes(
    heard: PythonProcessReport, methods: Sequence[TestMethod]
) -> Iterator[tuple[TestMethod, Outcome]]:
    """Yield each method with its outcome, or with that of its file if the file did not load."""
    for method in methods:
        target = make_target(method)
        if target in heard.rulings:
            yield method, heard.rulings[target]
            continue
        for path, verdict in sorted(heard.files.items()):
            if path == method.test_file or is_below_conftest(method.test_file, path):
                yield method, verdict.outcome
                break
