"""Python tested by pytest: environments of old revisions, and their tests run in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.measures import Measures
from coevo.languages.prompt_words import PromptWords
from coevo.languages.python import (
    assertions,
    c_libraries,
    load_errors,
    reading,
    smells,
    surgery,
    uv,
)
from coevo.languages.python.commands import add_commands
from coevo.languages.python.engine import make_engine
from coevo.languages.python.findings import inspect_machine
from coevo.languages.python.interpreter_choice import RELEASED, allows_feature
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.kits import PythonKits
from coevo.languages.python.mutation import MUTATION
from coevo.languages.python.names import make_pytest_id, to_module_path
from coevo.languages.python.requirements.reading import BUILD_FILES, load_needs
from coevo.languages.python.supply import PythonSupply, choose_alike
from coevo.languages.python.surgery import defects, placebos, undo
from coevo.languages.reading import LanguageReading
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.surgery import FileSurgery
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.listener import Say, ignore_message
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Sandbox

NAME = 'python'
ENGINE_VERSION = 20
RUNTIME = 'Python'
NEEDS = f'one of {", ".join(BUILD_FILES)} at its root'

WORKAROUNDS = frozenset[str]()
READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
MEASURES = Measures(
    assertions=assertions,
    defects=defects,
    smells=smells,
    mutation=MUTATION,
    placebos=placebos,
    undoing=undo,
    errors=load_errors,
)
get_mutation_tool = make_refusal(Capability.MUTATE)
# Without a compiler nobody can watch; doctor says so.
_OBSERVER = frozenset({Capability.OBSERVE, Capability.WATCH} if c_libraries.find_compiler() else ())
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
    'add_commands',
    'can_build_revision',
    'make_engine',
    'inspect_machine',
    'make_kits',
    'get_mutation_tool',
    'explain_outdated',
    'make_prompt_words',
    'make_refactoring_finder',
    'make_runtimes',
    'list_tool_versions',
    'suggest_workaround',
]


def can_build_revision(repository: Repository, rev: str) -> bool:
    """Whether a revision has a build file of Python's at its root."""
    tree = repository.tree(rev)
    return any(name in tree for name in BUILD_FILES)


def make_runtimes(
    *, brings: bool = False, like: str = '', say: Say = ignore_message
) -> PythonSupply:
    """like  a version such as 3.11.7: that very one, else those of its feature release, else all"""
    return PythonSupply(known=choose_alike(like, find_interpreters()), brings=brings, say=say)


def make_refactoring_finder() -> NoRefactoringFinder:
    return NoRefactoringFinder()


def explain_outdated(repository: Repository, rev: str, level: int | None) -> str | None:
    """What excludes all interpreters that we know of is for an older one."""
    allowed = load_needs(repository, rev).pythons
    known = any(all(allows_feature(text, feature) for text in allowed) for feature in RELEASED)
    return None if known else f'Python {", ".join(allowed)}'


def suggest_workaround(verdict: Verdict) -> None:
    """None is known."""


def list_tool_versions() -> tuple[str, ...]:
    return (uv.load_version(),)


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    names = ' '.join(
        dict.fromkeys(map(make_pytest_id, methods)) or (to_module_path(module, test_file),)
    )
    where = '' if module == '.' else f'cd {module} && '
    return PromptWords(
        framework='pytest',
        new_test='Name it so that pytest collects it, as its neighbours are named.',
        new_file='the imports that its tests need',
        running=(f'{where}python -m pytest {names}',),
        side_effects='tests that write into the tree, or caches of pytest',
    )


def make_kits(sandbox: Sandbox, folder: Path, say: Say) -> PythonKits:
    return PythonKits(sandbox, folder, say)
