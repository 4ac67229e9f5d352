"""Tests that call each method which the prompt names, with default arguments, and assert that something comes back.

Nothing of gold is read: a dependency's name and its head stand in the prompt as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Parser

from benchmarks.baselines.copying import Model
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.golang.surgery.undo import get_text, list_parameters
from coevo.model.dependencies import Dependency

_JAVA_DEFAULTS = {
    **dict.fromkeys(('int', 'long', 'float', 'double'), '0'),
    'short': '(short) 0',
    'byte': '(byte) 0',
    'char': "' '",
    'boolean': 'false',
}
_GO_DEFAULTS = {
    **dict.fromkeys(('byte', 'int', 'int32', 'int64', 'rune', 'uint', 'uint64'), '0'),
    **dict.fromkeys(('any', 'error', 'interface{}'), 'nil'),
    'bool': 'false',
    'string': '""',
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


def write_go_test(name: str, dependencies: Sequence[Dependency], model: Model) -> str:
    """Write a test function of that name; outside of the package, functions are named by it."""
    package = re.search(rb'(?m)^package (\w+?)(_test)?\s*$', model.source)
    holder = f'{package[1].decode()}.' if package is not None and package[2] else ''
    lines = [line for each in dependencies for line in _write_go_call(each, holder)]
    return '\n'.join((f'func {name}(t *testing.T) {{', *(f'\t{line}' for line in lines), '}'))


def _write_go_call(dependency: Dependency, holder: str) -> Iterator[str]:
    source = f'package p\n{dependency.declaration} {{ }}\n'.encode()
    function = next(
        (node for node in Parser(GO).parse(source).root_node.children if 'decl' in node.type), None
    )
    name = None if function is None else function.child_by_field_name('name')
    if function is None or name is None:
        return
    given = ', '.join(
        _choose_go_default(parameter.type)
        for parameter in list_parameters(function.child_by_field_name('parameters'))
        if not parameter.is_variadic
    )
    receiver = list_parameters(function.child_by_field_name('receiver'))
    called = f'new({holder}{receiver[0].type.lstrip("*")}).' if receiver else holder
    call = f'{called}{get_text(name)}({given})'
    result = function.child_by_field_name('result')
    count = 0 if result is None else max(1, len(list_parameters(result)))
    if not count:
        yield call
    else:
        names = ', '.join(['got', *['_'] * (count - 1)])
        yield f'if {names} := {call}; interface{{}}(got) == nil {{'
        yield '\tt.Fatal("nothing came back")'
        yield '}'


def _choose_go_default(type_: str) -> str:
    return _GO_DEFAULTS.get(type_, 'nil' if type_[:1] in '*[m' else f'*new({type_})')


CALLS: Mapping[str, Callable[[str, Sequence[Dependency], Model], str]] = {
    'go': write_go_test,
    'java': write_java_test,
    'python': write_python_test,
}
"""By language; of another one there is no such test, and the answer is empty."""
