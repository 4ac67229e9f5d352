"""Finds the functions that `go test` runs, and guesses what each of them is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.golang.reading.layout import GoFile
from coevo.languages.golang.reading.token_walk import OUTPUT
from coevo.languages.reading import Resolve
from coevo.model.records import TestMethod

_MAIN = 'TestMain'
_INIT = 'init'
_PARAMETERS = {'Test': 'T', 'Fuzz': 'F'}


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """Return the functions of a file that `go test` runs as tests, in order; skipped ones, too.

    () for a file in which it does not look for tests. `resolve` is not used.
    """
    return tuple(_list_tests(file))


def is_run_by_framework(member: Member) -> bool:
    """Return whether a member runs by itself: `TestMain`, `init`, or a variable named `_`."""
    if member.kind == 'initializer':
        return True
    if member.kind != 'method' or '$' in member.owner:
        return False
    return member.name == _INIT or (member.name == _MAIN and not is_test(member))


def is_test(member: Member) -> bool:
    """Return whether a function is a test, a fuzz test, or an example with an expected output.

    Its name, parameters and comments decide. Methods and benchmarks are no tests.
    """
    if member.kind != 'method' or '$' in member.owner:
        return False
    for prefix, type_ in _PARAMETERS.items():
        if has_test_name(member.name, prefix):
            return _takes_parameter(member.tokens, type_)
    return has_test_name(member.name, 'Example') and _has_output(member.tokens)


def has_test_name(name: str, prefix: str) -> bool:
    """Return whether a name begins with a prefix that is not followed by a lower-case letter.

    With `Test`, `TestX` and `Test_x` do; `Testing` does not.
    """
    return name.startswith(prefix) and not name[len(prefix) : len(prefix) + 1].islower()


def _list_tests(file: SourceFile) -> Iterator[tuple[DeclaredType, Member]]:
    if isinstance(file, GoFile) and not file.runs:
        return
    for type_ in file.types:
        for member in type_.members:
            if is_test(member):
                yield type_, member


def _takes_parameter(tokens: tuple[str, ...], type_: str) -> bool:
    """Return whether a function's one parameter is a pointer to `T` or `testing.T`.

    False if it has a result or type parameters.

    type_  the name of the type: T or F
    """
    head = _list_parameter_tokens(tokens)
    if '*' not in head[:2]:
        return False
    name = head[head.index('*') + 1 :]
    return name == (type_,) or (len(name) == 3 and name[1:] == ('.', type_))


def _has_output(tokens: tuple[str, ...]) -> bool:
    """Return whether a function without parameters has a comment `// Output:`, as examples do."""
    return not _list_parameter_tokens(tokens) and any(
        text.startswith('//') and OUTPUT.match(text[2:]) for text in tokens
    )


def _list_parameter_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tokens between the brackets of a function's parameters.

    ('?',) if the function has type parameters or results.
    """
    start = tokens.index('func') + 2
    if tokens[start : start + 1] != ('(',) or ')' not in tokens:
        return ('?',)
    end = tokens.index(')', start)
    return tokens[start + 1 : end] if tokens[end + 1 : end + 2] == ('{',) else ('?',)


# `ExampleRouter_Walk` shows a method of Router (https://pkg.go.dev/testing#hdr-Examples); tests are
# often named in the same way.
_OF_TYPE = re.compile(r'(?:Test|Fuzz|Example)_?([A-Z]\w*?)_\w+')
_EXTERNAL = '_test'


def guess_class_under_test(test: TestMethod) -> str:
    """Return the type after which a test is named: `Router` for `TestRouter_Walk`.

    For a test without such a name, return its package, such as `mux` for packages mux and mux_test.
    """
    match = _OF_TYPE.fullmatch(test.test_method)
    return match[1] if match else test.test_class.removesuffix(_EXTERNAL)
