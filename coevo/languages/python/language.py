"""Python with pytest: implements `coevo.languages.base.Language`.

It makes environments for old revisions and runs their tests in the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coevo.git.repository import Repository
from coevo.languages import base
from coevo.languages.capabilities import Capability
from coevo.languages.kits import PromptWords
from coevo.languages.measures import Measures
from coevo.languages.python import assertions, reading, smells, supply, surgery, uv
from coevo.languages.python.assertions import MUTATION
from coevo.languages.python.commands import (
    add_commands as add_commands,
    get_path_within_module,
    make_pytest_id,
)
from coevo.languages.python.engine import make_engine as make_engine
from coevo.languages.python.interpreters import RELEASED, allows_feature, find_interpreters
from coevo.languages.python.kits import PythonKits
from coevo.languages.python.requirements.reading import BUILD_FILES as BUILD_FILES, load_needs
from coevo.languages.python.supply import (
    PythonSupply,
    choose_interpreters_of_version,
    inspect_machine as inspect_machine,
)
from coevo.languages.python.surgery import defects, placebos, undo
from coevo.languages.reading import LanguageReading
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.surgery import FileSurgery
from coevo.model.listener import Say, ignore_message
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod

NAME = 'python'
RUNTIME = 'Python'
REVISION_NEEDS = f'one of {", ".join(BUILD_FILES)} at its root'

READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
MEASURES = Measures(
    assertions=assertions,
    defects=defects,
    smells=smells,
    mutation=MUTATION,
    placebos=placebos,
    undoing=undo,
    errors=assertions,
)
# The observer needs a C compiler; `doctor` reports a missing one.
_OBSERVER = frozenset({Capability.OBSERVE, Capability.WATCH} if supply.find_compiler() else ())
OFFERS = _OBSERVER | {
    *(Capability.TRACE, Capability.BORROW, Capability.CHECK_SOURCES, Capability.UMPIRE)
}

WORKAROUNDS = base.NO_WORKAROUNDS
looks_buildable = partial(base.has_file_at_root, BUILD_FILES)
suggest_workaround = base.suggest_no_workaround
get_mutation_tool = base.refuse_mutation_tool
make_refactoring_finder = NoRefactoringFinder
make_agent_kits = PythonKits


def make_runtimes(
    *, brings: bool = False, like: str = '', say: Say = ignore_message
) -> PythonSupply:
    """Return the interpreters to use, as found on this machine.

    brings  whether an interpreter that a pair needs may be downloaded
    like    a version such as 3.11.7: exactly that one, else those of its feature release, else all
    """
    return PythonSupply(
        known=choose_interpreters_of_version(like, find_interpreters()), brings=brings, say=say
    )


def explain_outdated(repository: Repository, rev: str, level: int | None) -> str | None:
    """Return the requirement of a revision that excludes all releases of Python that coevo knows.

    It is a text such as `Python <3`; None if the revision allows one of them.
    """
    allowed = load_needs(repository, rev).pythons
    known = any(all(allows_feature(text, feature) for text in allowed) for feature in RELEASED)
    return None if known else f'Python {", ".join(allowed)}'


def list_tool_versions() -> tuple[str, ...]:
    """Return the version of uv alone, as `uv VERSION`."""
    return (uv.load_version(),)


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    """Return what a prompt says about pytest, with the command that runs the tests.

    Without methods, the command runs the whole test file.
    """
    names = ' '.join(
        dict.fromkeys(map(make_pytest_id, methods)) or (get_path_within_module(module, test_file),)
    )
    where = '' if module == '.' else f'cd {module} && '
    return PromptWords(
        framework='pytest',
        new_test='Name it so that pytest collects it, as its neighbours are named.',
        new_file='the imports that its tests need',
        running=(f'When done, ensure that the tests pass: `{where}python -m pytest {names}`',),
        side_effects='tests that write into the tree, or caches of pytest',
    )
