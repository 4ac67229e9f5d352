"""The table of the languages whose code can be rewritten without changing what it does."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.languages.golang.surgery import rewriting as golang
from coevo.languages.java.surgery import rewriting as java
from coevo.languages.python.surgery import rewriting as python
from coevo.languages.rewriting import ProgramRewriter

_GO: ProgramRewriter = golang
_JAVA: ProgramRewriter = java
_PYTHON: ProgramRewriter = python

REWRITERS: Mapping[str, ProgramRewriter] = {'go': _GO, 'java': _JAVA, 'python': _PYTHON}
"""The rewriters by the values of the `language` columns.

They stand in no language's `Measures`, since what was mined depends on those and not on them.
"""
