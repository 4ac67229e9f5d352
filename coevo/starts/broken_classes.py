"""Test classes that the new code breaks as a whole: a fixture that no longer compiles, say, or an import.

An update in such a class cannot pass beside what that was, whoever writes it: that its fixtures changed,
too, is the code's doing and no change of the tests' own.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.contents import load_content
from coevo.languages.cells import CompiledTests
from coevo.languages.table import get_surgery
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import IsolatedCellRunner, IsolatedTask


def find_wholly_broken(
    runner: IsolatedCellRunner, task: IsolatedTask, names: Sequence[str]
) -> list[str]:
    """Of some subjects those in whose old class no test compiles on the new code, all other tests being
    old, too."""
    if not names:
        return []
    pair = runner.pair
    compiled = runner.compile(pair.old.rev, pair.new.rev, task.module, None, whole=True)
    olds = {subject.method_id: subject.old for subject in task.subjects}
    classes = {name: _identify_class(old) for name in names if (old := olds[name]) is not None}
    broken = {
        class_key
        for class_key in set(classes.values())
        if _is_class_broken(runner, compiled, *class_key)
    }
    return [name for name, class_key in classes.items() if class_key in broken]


def _identify_class(method: TestMethod) -> tuple[str, str, str]:
    return method.test_file, method.test_class, method.module


def _is_class_broken(
    runner: IsolatedCellRunner, compiled: CompiledTests, path: str, class_: str, module: str
) -> bool:
    source = load_content(runner.repository, runner.pair.old.rev, path)
    assert source is not None, 'what was changed stands in a file of the old revision'
    tests = get_surgery(runner.pair.language).list_other_tests(source, [], path)
    methods = {
        str(number): TestMethod(
            module=module,
            test_file=path,
            test_class=class_,
            test_method=test.name,
            parameters=test.parameters,
        )
        for number, test in enumerate(tests)
        if test.owner == class_
    }
    # Where names are looked up as a test runs, no compiler has said that they are gone.
    verdicts = runner.run_once(compiled, methods)
    return bool(methods) and all(
        name in verdicts and verdicts[name].outcome is Outcome.COMPILE_ERROR for name in methods
    )
