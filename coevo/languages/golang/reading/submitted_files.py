"""Restricts submitted Go files.

Unless the project's own files do so, a submitted file must not run code before the tests start, nor
use ways into the memory of the test process, which reports the verdicts. Assembler files need no
rule here, since patches must not touch them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tree_sitter import Parser

from coevo.languages.golang.reading.declared import list_declarations
from coevo.languages.golang.reading.imports import list_imports
from coevo.languages.golang.reading.token_walk import GO

_BEFORE = ('TestMain', 'init')
_IMPORTS = ('C', 'unsafe')

# The compiler obeys a directive wherever a comment begins with it.
_DIRECTIVE = re.compile(rb'//go:(linkname|cgo_\w+)')

# For texts that the parser does not read as the compiler does.
_FUNCTION = re.compile(rb'\bfunc\s+(TestMain|init)\s*[(\[]')
_PATH = re.compile(rb'["`](C|unsafe)["`]')


def explain_refusal(source: bytes, own: Sequence[bytes]) -> str | None:
    """Return a sentence on why a submitted file is refused; None if it is accepted.

    It is refused for a forbidden construct, such as `TestMain`, that it has more often than any
    single one of the project's own files (`own`).
    """
    known: Counter[str] = Counter()
    for each in own:
        known |= Counter(_list_forbidden(each))
    more = Counter(_list_forbidden(source)) - known
    return next((f'a submitted file may not {what}' for what in sorted(more)), None)


def _list_forbidden(source: bytes) -> Iterator[str]:
    root = Parser(GO).parse(source).root_node
    for directive in _DIRECTIVE.findall(source):
        yield f'have //go:{directive.decode()}'
    if root.has_error:
        yield from (f'declare {name.decode()}' for name in _FUNCTION.findall(source))
        yield from (f'import "{path.decode()}"' for path in _PATH.findall(source))
        return
    for declaration in list_declarations(root, source):
        if declaration.kind == 'func' and declaration.receiver is None:
            yield from (f'declare {name}' for name in declaration.names if name in _BEFORE)
    for line in list_imports(root, source):
        if line.path in _IMPORTS:
            yield f'import "{line.path}"'
        elif '\\' in line.path:
            yield 'import a path that is written with escapes'
