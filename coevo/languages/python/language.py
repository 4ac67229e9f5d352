"""Python tested by pytest: environments of old revisions, and their tests run in the sandbox."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.git.repository import Repository
from coevo.languages.base import RunSettings
from coevo.languages.capabilities import Capability
from coevo.languages.python.engine import PythonEngine
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.supply import PythonSupply
from coevo.languages.python.supply import alike
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.model.listener import Say
from coevo.model.listener import silent

NAME = 'python'
RUNTIME = 'Python'
NEEDS = f'one of {", ".join(BUILD_FILES)} at its root'

OFFERS = frozenset({Capability.TRACE, Capability.BORROW, Capability.CHECK_SOURCES})

__all__ = [
    'NAME',
    'NEEDS',
    'OFFERS',
    'RUNTIME',
    'detect',
    'engine',
    'refactoring_finder',
    'runtimes',
]


def detect(repository: Repository, rev: str) -> bool:
    """Whether a revision has a build file of Python's at its root."""
    tree = repository.tree(rev)
    return any(name in tree for name in BUILD_FILES)


def runtimes(*, brings: bool = False, like: str = '', say: Say = silent) -> PythonSupply:
    """like  a version such as 3.11.7: that very one, else those of its feature release, else all"""
    return PythonSupply(known=alike(like, find_interpreters()), brings=brings, say=say)


def refactoring_finder() -> NoRefactoringFinder:
    return NoRefactoringFinder()


def engine(run: RunSettings, stack: ExitStack) -> PythonEngine:
    return PythonEngine(run, stack)
