"""Let Pynguin write the tests of a task, without a model: a test file for the code that it names.

This file runs in the sandbox under the task's interpreter, without coevo, so it imports only the
standard library. `/agent/VERSION` has Pynguin for Python VERSION, such as 3.12. Pynguin runs the
code while it searches for calls, and writes what the code returns as assertions.

If the task asks for tests by name, each gets the bodies of some generated tests: those that mention
what the prompt names come first. Otherwise the generated file is the test file; if there is one
already, or several modules are named, the generated tests are put into one file. Tests that Pynguin
expects to fail (`xfail`) are left out.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

SOFTWARE, OUTPUT = '/agent', '/tmp/pynguin'
# Exit statuses: no Pynguin for this Python, no module to test, no test was generated.
NO_SOFTWARE, NO_MODULE, NO_TEST = 3, 4, 5
# Pynguin's own default is 600 seconds. It then makes assertions, which has no limit of its own.
_MOST_SECONDS, _SHARE = 600.0, 0.3


def main() -> int:
    """Write the test file; return the exit status."""
    version = f'{sys.version_info[0]}.{sys.version_info[1]}'
    software = Path(SOFTWARE, version)
    if not (software / 'pynguin').is_dir():
        print(f'{software} has no Pynguin', file=sys.stderr)
        return NO_SOFTWARE
    task = json.loads(Path(os.environ['COEVO_TASK']).read_text())
    code, wanted = task['code'], task['tests']
    test_file = Path(task['test_file'])  # own name: of this sandbox, whose project it is
    start = test_file.read_text() if test_file.is_file() else ''
    generated: list[str] = []
    named = [part['file'] for part in code if part['file'].endswith('.py')]
    paths = [path for path in dict.fromkeys(named) if Path(path).is_file()]
    if not paths:
        print('no Python module is named', file=sys.stderr)
        return NO_MODULE
    is_whole = not (wanted or start or len(paths) > 1)
    for path in paths:
        text = run_pynguin(Path(path), software, compute_search_seconds() / len(paths))
        generated += (
            [drop_expected_failures(text)] if is_whole else list_self_contained_bodies(text)
        )
    if not any(generated):
        print('Pynguin generated no test that is expected to pass', file=sys.stderr)
        return NO_TEST
    names = wanted or [f'#test_generated_{index}' for index in range(len(generated))]
    words = [part['name'].rpartition('#')[2].partition('(')[0] for part in code]
    content = (
        generated[0] if is_whole else add_tests(start, names, sort_by_mentions(generated, words))
    )
    test_file.parent.mkdir(parents=True, exist_ok=True)
    test_file.write_text(content)
    return 0


def compute_search_seconds() -> float:
    """Return how long Pynguin may search: a part of the attempt's time, at most its own default."""
    return min(_MOST_SECONDS, float(os.environ.get('COEVO_SECONDS', 'inf')) * _SHARE)


def find_root_and_module(path: Path) -> tuple[Path, str]:
    """Return the folder that has to be on `sys.path` for a module, and the module's name."""
    root = path.parent
    while (root / '__init__.py').is_file():
        root = root.parent
    name = '.'.join(path.relative_to(root).with_suffix('').parts)
    return root, name.removesuffix('.__init__')


def run_pynguin(path: Path, software: Path, seconds: float) -> str:
    """Return the test file that Pynguin writes for a module; '' if it writes none."""
    root, module = find_root_and_module(path)
    output = Path(OUTPUT, module)  # own name: in this sandbox
    output.mkdir(parents=True, exist_ok=True)
    folders = [str(root.absolute()), os.environ.get('PYTHONPATH', ''), str(software)]
    words = [sys.executable, '-m', 'pynguin', '--project-path', str(root), '--module-name', module]
    words += ['--output-path', str(output), '--maximum-search-time', str(max(1, int(seconds)))]
    words += ['--seed', os.environ.get('COEVO_SEED', '0')]
    environment = {
        **os.environ,
        'HOME': '/tmp',
        'PYNGUIN_DANGER_AWARE': '1',
        'PYTHONPATH': os.pathsep.join(filter(None, folders)),
    }
    subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, check=False)
    files = sorted(output.glob('test_*.py'))
    return files[0].read_text() if files else ''


def drop_expected_failures(text: str) -> str:
    """Return a generated file without tests that are expected to fail; '' if no test is left."""
    tree = ast.parse(text)
    tree.body = [statement for statement in tree.body if not _is_expected_failure(statement)]
    return f'{ast.unparse(tree)}\n' if any(map(_is_test, tree.body)) else ''


def list_self_contained_bodies(text: str) -> list[str]:
    """Return the body of each generated test, after the imports and definitions that it uses.

    Pynguin's own scaffolding, which seeds `random` in fixtures of the file, is used by no body.
    """
    tree = ast.parse(text)
    others = [statement for statement in tree.body if not _is_test(statement)]
    return [
        '\n'.join(map(ast.unparse, [*_select_used(others, statement.body), *statement.body]))
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef)
        and _is_test(statement)
        and not _is_expected_failure(statement)
    ]


def _select_used(statements: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
    """Return all imports but Pynguin's own, and what the body uses directly or indirectly."""
    used = {name for statement in body for name in _list_used_names(statement)}
    chosen: set[int] = set()
    while True:
        more = {
            index
            for index, statement in enumerate(statements)
            if index not in chosen and _list_defined_names(statement) & used
        }
        if not more:
            break
        chosen |= more
        used |= {name for index in more for name in _list_used_names(statements[index])}
    return [
        statement
        for index, statement in enumerate(statements)
        if index in chosen
        or (
            isinstance(statement, (ast.Import, ast.ImportFrom))
            and not any((alias.asname or '').startswith('_pynguin') for alias in statement.names)
        )
    ]


def _list_used_names(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _list_defined_names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition('.')[0] for alias in statement.names}
    return set()


def _is_test(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name.startswith('test')


def _is_expected_failure(statement: ast.stmt) -> bool:
    decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
    return any('xfail' in ast.unparse(decorator) for decorator in decorators)


def sort_by_mentions(bodies: list[str], words: list[str]) -> list[str]:
    """Return bodies that mention most of the words first, in their order otherwise."""
    patterns = [re.compile(rf'\b{re.escape(word)}\b') for word in words if word]
    return sorted(bodies, key=lambda body: -sum(bool(each.search(body)) for each in patterns))


def add_tests(start: str, wanted: list[str], bodies: list[str]) -> str:
    """Return a test file with the wanted tests, among which the bodies are shared out in turn.

    A test of a class is added at its end, or in a new class if the file has no such class.

    wanted  the tests by module, class and name, such as `tests.test_till$TestTill#test_total`
    """
    text = start
    for index, test in enumerate(wanted):
        chosen = bodies[index % len(bodies) :: len(wanted)]
        container, _, name = test.partition('#')
        owner = container.partition('$')[2].rpartition('$')[2]
        text = _add_test(text, owner, name, '\n'.join(chosen))
    return text


def _add_test(text: str, owner: str, name: str, body: str) -> str:
    method = textwrap.indent(body, '    ')
    if not owner:
        return f'{_end_line(text)}\n\ndef {name}():\n{method}\n'
    source = textwrap.indent(f'def {name}(self):\n{method}\n', '    ')
    owner_class = next(
        (
            each
            for each in ast.walk(ast.parse(text))
            if isinstance(each, ast.ClassDef) and each.name == owner
        ),
        None,
    )
    if owner_class is None or owner_class.end_lineno is None:
        return f'{_end_line(text)}\n\nclass {owner}:\n{source}'
    lines = _end_line(text).splitlines(keepends=True)
    inner = textwrap.indent(source, ' ' * owner_class.col_offset)
    return ''.join(
        [*lines[: owner_class.end_lineno], '\n', inner, *lines[owner_class.end_lineno :]]
    )


def _end_line(text: str) -> str:
    return text if not text or text.endswith('\n') else f'{text}\n'


if __name__ == '__main__':
    sys.exit(main())
