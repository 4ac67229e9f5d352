"""Tests that call each method which the prompt names, with default arguments, and assert that something comes back.

Nothing of gold is read: a dependency's name and its head stand in the prompt as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.baselines.copying import Model
from coevo.model.dependencies import Dependency

_JAVA_DEFAULTS = {
    **dict.fromkeys(('int', 'long', 'float', 'double'), '0'),
    'short': '(short) 0',
    'byte': '(byte) 0',
    'char': "' '",
    'boolean': 'false',
}
_PYTHON_DEFAULTS = {'int': '0', 'float': '0.0', 'str': "''", 'bool': 'False', 'bytes': "b''"}

# By what a file that uses it has in it: how a test is marked, and who asserts.
_FRAMEWORKS = (
    ('org.junit.jupiter', '@org.junit.jupiter.api.Test ', 'org.junit.jupiter.api.Assertions'),
    ('org.testng', '@org.testng.annotations.Test ', 'org.testng.Assert'),
    ('junit.framework', '', 'junit.framework.Assert'),
    ('', '@org.junit.Test ', 'org.junit.Assert'),
)


def write_java_test(name: str, dependencies: Sequence[Dependency], model: Model) -> str:
    """Write a test of that name in the framework of the model's file."""
    file = model.source.decode('utf-8', 'replace')
    marker, asserter = next((mark, who) for sign, mark, who in _FRAMEWORKS if sign in file)
    body = ''.join(f' {line}' for each in dependencies for line in _write_java_call(each, asserter))
    return f'{marker}public void {name}() throws Throwable {{{body} }}'


def _write_java_call(dependency: Dependency, asserter: str) -> Iterator[str]:
    owner, _, rest = dependency.name.partition('#')
    method, _, parameters = rest.removesuffix(')').partition('(')
    type_ = owner.replace('$', '.')
    given = ', '.join(_JAVA_DEFAULTS.get(kind, 'null') for kind in parameters.split(',') if kind)
    head = dependency.declaration.partition('(')[0]
    if method == re.split(r'[.$]', owner)[-1]:
        yield f'{asserter}.assertNotNull(new {type_}({given}));'
        return
    holder = type_ if re.search(r'\bstatic\b', head) else f'new {type_}()'
    if re.search(r'\bvoid\b', head):
        yield f'{holder}.{method}({given});'
    else:
        yield f'{asserter}.assertNotNull((Object) {holder}.{method}({given}));'


def write_python_test(name: str, dependencies: Sequence[Dependency], model: Model) -> str:
    """Write a test function of that name; a method where the model is one."""
    self_ = 'self' if '$' in model.class_name else ''
    lines = [line for each in dependencies for line in _write_python_call(each)]
    return '\n'.join((f'def {name}({self_}):', *(f'    {line}' for line in lines or ['pass'])))


def _write_python_call(dependency: Dependency) -> Iterator[str]:
    owner, _, rest = dependency.name.partition('#')
    module, _, classes = owner.partition('$')
    method = rest.partition('(')[0]
    holder = '.'.join((module, *classes.split('$'))) if classes else module
    given = _list_arguments(dependency.declaration, bound=bool(classes))
    called = f'{holder}().{method}' if classes else f'{holder}.{method}'
    if method == '__init__':
        called = holder
    yield f'import {module}'
    yield f'assert {called}({given}) is not None'


def _list_arguments(declaration: str, *, bound: bool) -> str:
    """List those without which it cannot be called; what cannot be parsed is called without any."""
    try:
        function = ast.parse(f'{declaration.rstrip().removesuffix(":")}: pass').body[0]
    except (SyntaxError, ValueError):
        return ''
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return ''
    stated = function.args
    places = [*stated.posonlyargs, *stated.args]
    needed = places[: len(places) - len(stated.defaults)][bound:]
    keywords = (
        word for word, value in zip(stated.kwonlyargs, stated.kw_defaults, strict=True) if not value
    )
    return ', '.join(
        (
            *map(_choose_default, needed),
            *(f'{word.arg}={_choose_default(word)}' for word in keywords),
        )
    )


def _choose_default(argument: ast.arg) -> str:
    kind = ast.unparse(argument.annotation) if argument.annotation else ''
    return _PYTHON_DEFAULTS.get(kind, 'None')


CALLS: Mapping[str, Callable[[str, Sequence[Dependency], Model], str]] = {
    'java': write_java_test,
    'python': write_python_test,
}
"""By language; of another one there is no such test, and the answer is empty."""
