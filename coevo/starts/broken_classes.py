"""Test classes that the new code breaks as a whole: a fixture that no longer compiles, say, or an import.

An update in such a class cannot pass beside what that was, whoever writes it: that its fixtures changed,
too, is the code's doing and no change of the tests' own.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.contents import content
from coevo.languages.cells import Compiled
from coevo.languages.table import surgery
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import Task


def all_broken(runner: IsolatedCellRunner, task: Task, names: Sequence[str]) -> list[str]:
    """Of some subjects those in whose old class no test compiles on the new code, all other tests being
    old, too."""
    if not names:
        return []
    pair = runner.pair
    compiled = runner.compile(pair.old.rev, pair.new.rev, task.module, None, whole=True)
    olds = {subject.method_id: subject.old for subject in task.subjects}
    classes = {name: _class_of(old) for name in names if (old := olds[name]) is not None}
    broken = {one for one in set(classes.values()) if _is_broken(runner, compiled, *one)}
    return [name for name, one in classes.items() if one in broken]


def _class_of(method: TestMethod) -> tuple[str, str, str]:
    return method.test_file, method.test_class, method.module


def _is_broken(
    runner: IsolatedCellRunner, compiled: Compiled, path: str, class_: str, module: str
) -> bool:
    source = content(runner.repository, runner.pair.old.rev, path)
    assert source is not None, 'what was changed stands in a file of the old revision'
    tests = surgery(runner.pair.language).other_tests(source, [], path)
    methods = {
        str(number): TestMethod(
            module=module,
            test_file=path,
            test_class=class_,
            test_method=one.name,
            parameters=one.parameters,
        )
        for number, one in enumerate(tests)
        if one.owner == class_
    }
    # Where names are looked up as a test runs, no compiler has said that they are gone.
    found = runner.once(compiled, methods)
    return bool(methods) and all(
        name in found and found[name].outcome is Outcome.COMPILE_ERROR for name in methods
    )
