"""The table of the languages whose code can be rewritten without changing what it does."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.languages.golang.surgery import idle_copies as golang_copies, rewriting as golang
from coevo.languages.java.surgery import idle_copies as java_copies, rewriting as java
from coevo.languages.python.surgery import idle_copies as python_copies, rewriting as python
from coevo.languages.rewriting import IdleCopying, ProgramRewriter

_GO: ProgramRewriter = golang
_JAVA: ProgramRewriter = java
_PYTHON: ProgramRewriter = python

REWRITERS: Mapping[str, ProgramRewriter] = {'go': _GO, 'java': _JAVA, 'python': _PYTHON}
"""The rewriters by the values of the `language` columns.

They stand in no language's `Measures`, since what was mined depends on those and not on them.
"""

_GO_COPIES: IdleCopying = golang_copies
_JAVA_COPIES: IdleCopying = java_copies
_PYTHON_COPIES: IdleCopying = python_copies

IDLE_COPYING: Mapping[str, IdleCopying] = {
    'go': _GO_COPIES,
    'java': _JAVA_COPIES,
    'python': _PYTHON_COPIES,
}
"""What puts other code into a function, by the same values."""
