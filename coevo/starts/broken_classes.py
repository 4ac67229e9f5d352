"""Test classes that the new code breaks as a whole: a fixture that no longer compiles, say.

An update in such a class cannot pass beside what that was, whoever writes it: that its fixtures changed,
too, is the code's doing and no change of the tests' own.
"""

from __future__ import annotations

from coevo.git.contents import content
from coevo.languages.cells import Compiled
from coevo.languages.table import surgery
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import Task


def all_broken(runner: IsolatedCellRunner, task: Task) -> frozenset[str]:
    """The subjects in whose old class no test compiles on the new code, all other tests being old, too."""
    pair = runner.pair
    compiled = runner.compile(pair.old.rev, pair.new.rev, task.module, ())
    olds = {subject.method_id: subject.old for subject in task.subjects if subject.old is not None}
    classes = {(one.test_file, one.test_class, one.module) for one in olds.values()}
    broken = {one for one in classes if _is_broken(runner, compiled, *one)}
    return frozenset(
        name for name, one in olds.items() if (one.test_file, one.test_class, one.module) in broken
    )


def _is_broken(
    runner: IsolatedCellRunner, compiled: Compiled, path: str, class_: str, module: str
) -> bool:
    source = content(runner.repository, runner.pair.old.rev, path)
    assert source is not None, 'what was changed stands in a file of the old revision'
    tests = surgery(runner.pair.language).other_tests(source, [], path)
    methods = [
        TestMethod(
            module=module,
            test_file=path,
            test_class=class_,
            test_method=one.name,
            parameters=one.parameters,
        )
        for one in tests
        if one.owner == class_
    ]
    verdicts = [runner.built.compile_verdict(compiled, method) for method in methods]
    return bool(verdicts) and all(
        one is not None and one.outcome is Outcome.COMPILE_ERROR for one in verdicts
    )
