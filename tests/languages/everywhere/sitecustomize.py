"""On $PYTHONPATH: every Python that starts knows the toy, whatever module it is told to run.

Flow runs, the processes of their repositories and commands are each a process of their own, which no
test can reach into.
"""

from __future__ import annotations

from coevo.languages import table
from coevo.languages.base import Language
from tests.languages import toy

_TOY: Language = toy
assert isinstance(table.LANGUAGES, dict)
table.LANGUAGES[toy.NAME] = _TOY
