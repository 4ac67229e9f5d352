"""Which functions of a Go file `go test` runs: tests, fuzz tests with their seeds, examples with an output.

The rules are those of the go tool (https://go.dev/src/cmd/go/internal/load/test.go, isTest and isTestFunc, and
https://go.dev/src/go/doc/example.go). Benchmarks are none: they are not run. Subtests are part of their function,
and the methods of a suite are subtests of the function that runs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.golang.reading.files import GoFile
from coevo.languages.golang.reading.token_walk import OUTPUT
from coevo.languages.reading import Resolve

_MAIN = 'TestMain'
_INIT = 'init'
_PARAMETERS = {'Test': 'T', 'Fuzz': 'F'}


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """The test functions that a file declares, in its order; skipped ones too."""
    return tuple(_list_tests(file))


def is_fixture(member: Member) -> bool:
    """Whether a member runs by itself: `TestMain`, `init`, a variable that is there for its value alone."""
    if member.kind == 'initializer':
        return True
    if member.kind != 'method' or '$' in member.owner:
        return False
    return member.name == _INIT or (member.name == _MAIN and not is_test(member))


def is_test(member: Member) -> bool:
    """Whether a function is a test by its name, its parameter, and what it says of its output."""
    if member.kind != 'method' or '$' in member.owner:
        return False
    for prefix, type_ in _PARAMETERS.items():
        if has_test_name(member.name, prefix):
            return _takes_parameter(member.tokens, type_)
    return has_test_name(member.name, 'Example') and _has_output(member.tokens)


def has_test_name(name: str, prefix: str) -> bool:
    """Whether what follows a prefix does not begin with a lower-case letter."""
    return name.startswith(prefix) and not name[len(prefix) : len(prefix) + 1].islower()


def _list_tests(file: SourceFile) -> Iterator[tuple[DeclaredType, Member]]:
    if isinstance(file, GoFile) and not file.runs:
        return
    for type_ in file.types:
        for member in type_.members:
            if is_test(member):
                yield type_, member


def _takes_parameter(tokens: tuple[str, ...], type_: str) -> bool:
    """Whether the one parameter is a pointer to `T`, or to that of a package, and there is no result."""
    head = _load_parameters(tokens)
    if '*' not in head[:2]:
        return False
    name = head[head.index('*') + 1 :]
    return name == (type_,) or (len(name) == 3 and name[1:] == ('.', type_))


def _has_output(tokens: tuple[str, ...]) -> bool:
    """Whether an example without parameters tells what it prints."""
    return not _load_parameters(tokens) and any(
        text.startswith('//') and OUTPUT.match(text[2:]) for text in tokens
    )


def _load_parameters(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """What stands between the brackets of a function that has no type parameters and no result."""
    start = tokens.index('func') + 2
    if tokens[start : start + 1] != ('(',) or ')' not in tokens:
        return ('?',)
    end = tokens.index(')', start)
    return tokens[start + 1 : end] if tokens[end + 1 : end + 2] == ('{',) else ('?',)
