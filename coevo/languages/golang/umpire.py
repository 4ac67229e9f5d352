"""Runs the tests of a package once as its developers do: by `go test` in its folder."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.cells import CellKey
from coevo.languages.golang.channel import make_verdicts, name_in_binary
from coevo.languages.golang.launch import PROCESSORS
from coevo.languages.golang.pair_runs import GoPairCells
from coevo.languages.golang.runner import GoCellLayout, GoRunResult, GoTestRun
from coevo.languages.project_runs import ProjectRun
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# CPU seconds for compiling, and for all of a package's tests together.
_COMPILING, _RUNNING = 300.0, 600.0

_ENDED = ('exit:0', 'exit:1')


def run_go_test(
    cells: GoPairCells, rev: str, module: str, methods: Sequence[TestMethod]
) -> ProjectRun:
    """Run all tests of a package once by `go test` in its folder, and return their outcomes.

    The command has no flags, so it includes vet. The outcomes come over the channel of the package
    testing, as in other runs. A package that does not compile, or at which vet complains, has none:
    the run failed with the status of the command.

    module   the package folder
    methods  the tests by which outcomes are named
    """
    end = cells.find_end(rev)
    if end.project is None:
        return ProjectRun(outcomes={}, failure='not_laid_out')
    key = CellKey(tests_rev=rev, code_rev=rev, module=module)
    tree = cells.all.pack_tree(key, end.project)
    run = GoTestRun(
        ground=GoCellLayout(
            prepared=cells.all.compiler.prepared,
            tree=tree,
            stand_ins=cells.all.get_stand_ins(tree),
            packages=cells.all.compiler.standard,
            binary=None,
            root=end.project.root,
            folder=module,
        ),
        limits=dict.fromkeys(map(name_in_binary, methods), _RUNNING),
        cpu_seconds=_COMPILING + _RUNNING,
        variables={'GOFLAGS': '', 'GOMAXPROCS': str(PROCESSORS)},
        loading=_COMPILING,
    )
    done = cells.all.run_test_process(run, shared=False)
    verdicts = make_verdicts(done.heard, list(run.limits), done.status, done.noise)
    outcomes = dict(zip(run.limits, verdicts, strict=True))
    return ProjectRun(
        outcomes={
            method: verdict.outcome
            for method in methods
            if (verdict := outcomes[name_in_binary(method)]) is not None
            and verdict.outcome not in (Outcome.MISSING, Outcome.INFRA)
        },
        failure=_find_failure(done),
        cpu_seconds=done.cpu_seconds,
    )


def _find_failure(done: GoRunResult) -> str | None:
    """Return the status of a command that did not end by itself, or failed before any test began.

    None for any other command, even if tests failed.
    """
    has_begun = any(test.begun for test in done.heard.tests.values())
    if done.status not in _ENDED:
        return done.status
    return None if has_begun or done.status == 'exit:0' else done.status
