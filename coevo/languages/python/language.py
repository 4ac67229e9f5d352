"""Python tested by pytest: environments of old revisions, and their tests run in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.capabilities import not_offered
from coevo.languages.engine import RunSettings
from coevo.languages.measures import Measures
from coevo.languages.prompt_words import PromptWords
from coevo.languages.python import assertions
from coevo.languages.python import c_libraries
from coevo.languages.python import load_errors
from coevo.languages.python import reading
from coevo.languages.python import smells
from coevo.languages.python import surgery
from coevo.languages.python import uv
from coevo.languages.python.commands import commands
from coevo.languages.python.engine import PythonEngine
from coevo.languages.python.findings import findings
from coevo.languages.python.interpreter_choice import RELEASED
from coevo.languages.python.interpreter_choice import allows
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.kits import PythonKits
from coevo.languages.python.mutation import MUTATION
from coevo.languages.python.names import in_module
from coevo.languages.python.names import pytest_id
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.requirements.reading import needs
from coevo.languages.python.supply import PythonSupply
from coevo.languages.python.supply import alike
from coevo.languages.python.surgery import defects
from coevo.languages.python.surgery import placebos
from coevo.languages.python.surgery import undo
from coevo.languages.reading import Reading
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.surgery import Surgery
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Sandbox

NAME = 'python'
ENGINE_VERSION = 20
RUNTIME = 'Python'
NEEDS = f'one of {", ".join(BUILD_FILES)} at its root'

WORKAROUNDS = frozenset[str]()
READING: Reading = reading
SURGERY: Surgery = surgery
MEASURES = Measures(
    assertions=assertions,
    defects=defects,
    smells=smells,
    mutation=MUTATION,
    placebos=placebos,
    undoing=undo,
    errors=load_errors,
)
mutation_tool = not_offered(Capability.MUTATE)
# Without a compiler nobody can watch; doctor says so.
_OBSERVER = frozenset({Capability.OBSERVE, Capability.WATCH} if c_libraries.compiler() else ())
OFFERS = _OBSERVER | {Capability.TRACE, Capability.BORROW, Capability.CHECK_SOURCES}

__all__ = [
    'WORKAROUNDS',
    'BUILD_FILES',
    'ENGINE_VERSION',
    'MEASURES',
    'NAME',
    'NEEDS',
    'OFFERS',
    'READING',
    'RUNTIME',
    'SURGERY',
    'commands',
    'detect',
    'engine',
    'findings',
    'kits',
    'mutation_tool',
    'outdated',
    'prompt_words',
    'refactoring_finder',
    'runtimes',
    'tool_versions',
    'workaround',
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


def outdated(repository: Repository, rev: str, level: int | None) -> str | None:
    """What excludes all interpreters that we know of is for an older one."""
    allowed = needs(repository, rev).pythons
    known = any(all(allows(text, one) for text in allowed) for one in RELEASED)
    return None if known else f'Python {", ".join(allowed)}'


def workaround(verdict: Verdict) -> None:
    """None is known."""


def tool_versions() -> tuple[str, ...]:
    return (uv.version(),)


def prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    names = ' '.join(dict.fromkeys(map(pytest_id, methods)) or (in_module(module, test_file),))
    where = '' if module == '.' else f'cd {module} && '
    return PromptWords(
        framework='pytest',
        new_test='Name it so that pytest collects it, as its neighbours are named.',
        new_file='the imports that its tests need',
        running=(f'{where}python -m pytest {names}',),
        side_effects='tests that write into the tree, or caches of pytest',
    )


def kits(sandbox: Sandbox, folder: Path, say: Say) -> PythonKits:
    return PythonKits(sandbox, folder, say)


def engine(run: RunSettings, stack: ExitStack) -> PythonEngine:
    return PythonEngine(run, stack)
