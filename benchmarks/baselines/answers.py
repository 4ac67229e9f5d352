"""What each baseline answers to a task: a patch against its start state."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Parser

from benchmarks.baselines.copying import (
    Model,
    copy_sibling,
    find_nearest_model,
    list_models,
    put_test,
)
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.start_states import restore_start_file
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, load_content
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.golang.surgery.undo import get_text, list_parameters
from coevo.languages.surgery import StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.dependencies import Dependency
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAnswer:
    """How a baseline answers, and what it is in a clause."""

    make: Callable[[Repository, Assignment], str]
    clause: str


def answer_gold(repository: Repository, assignment: Assignment) -> str:
    """Take the developers' own patch."""
    return assignment.task.test_patch


def answer_nothing(repository: Repository, assignment: Assignment) -> str:
    """Hand in an empty patch."""
    return ''


def add_blank_line(repository: Repository, assignment: Assignment) -> str:
    """Add a blank line at the end, so that there is something to judge."""
    start = restore_start_file(repository, assignment.task)
    return '' if start is None else make_file_patch(assignment.task.test_file, start, start + b'\n')


def delete_others(repository: Repository, assignment: Assignment) -> str:
    """Take gold, and delete every other test of the file, with what they alone use."""
    task = assignment.task
    new = load_content(repository, task.new_rev, task.test_file)
    if new is None:
        return task.test_patch
    of = get_reading(task.language)
    targets = {
        (target.method.test_class, target.method.test_method, target.method.parameters)
        for target in assignment.targets
    }
    others = [
        TestMethod(
            module=task.module,
            test_file=task.test_file,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in of.find_tests(of.parse(new, task.test_file), lambda name: ())
        if (type_.name, member.name, member.parameters) not in targets
    ]
    targets_gone = [StartTarget(method=method) for method in others]
    try:
        cut = (
            get_surgery(task.language).make_start_file(new, new, targets_gone)
            if targets_gone
            else new
        )
    except StartStateInvalid:
        return task.test_patch  # they cannot go
    return make_file_patch(task.test_file, restore_start_file(repository, task), cut)


def call_named(repository: Repository, assignment: Assignment) -> str:
    """Write for each target a test that calls the methods which the prompt names."""
    task = assignment.task
    write = CALLS.get(task.language)
    named = [each for each in task.dependencies if each.is_method]
    if write is None or not named:
        return ''
    start = text = restore_start_file(repository, task)
    models = list_models(repository, assignment, start)
    for target in assignment.targets:
        model = find_nearest_model(target, text, models)
        if model is not None:
            text = put_test(text, target, model, write(target.method.test_method, named, model))
    return make_file_patch(task.test_file, start, text)


ANSWERS: Mapping[str, BaselineAnswer] = {
    'gold': BaselineAnswer(make=answer_gold, clause="the developers' own patch"),
    'empty': BaselineAnswer(make=answer_nothing, clause='an empty patch'),
    'no-change': BaselineAnswer(make=add_blank_line, clause='the start file and a blank line'),
    'copy-sibling': BaselineAnswer(
        make=copy_sibling, clause='the most similar test of the start state, names replaced'
    ),
    'delete-others': BaselineAnswer(
        make=delete_others, clause="the developers' patch, and every other test of the file deleted"
    ),
    'call-named': BaselineAnswer(
        make=call_named,
        clause='a call of each named method with default arguments, asserted to be non-null',
    ),
}
"""By the name of the submission."""


# The answer `call-named`: tests that call each method which the prompt names, with default arguments,
# and assert that something comes back. Nothing of gold is read: a dependency's name and its head stand
# in the prompt as well.

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
