"""Java built by Maven or by an installed Gradle; implements `coevo.languages.base.Language`."""

from __future__ import annotations

from coevo.git.repository import Repository
from coevo.languages.capabilities import EVERYTHING
from coevo.languages.java import assertions, pit, reading, smells, surgery
from coevo.languages.java.building import compilation
from coevo.languages.java.commands import add_commands as add_commands
from coevo.languages.java.engine import make_engine as make_engine
from coevo.languages.java.gradle import has_gradle_script
from coevo.languages.java.kits import MavenKits, make_prompt_words as make_prompt_words
from coevo.languages.java.maven.pom_demand import find_pom_demand
from coevo.languages.java.places import POM
from coevo.languages.java.processes import workarounds
from coevo.languages.java.processes.workarounds import suggest_workaround as suggest_workaround
from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.refactorings.miner import RefactoringMiners
from coevo.languages.java.surgery import defects, placebos, undo
from coevo.languages.java.tools.gradles import find_gradles
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import find_alike_jdks, find_jdks
from coevo.languages.java.tools.toolchain import (
    inspect_machine as inspect_machine,
    list_tool_versions as list_tool_versions,
)
from coevo.languages.measures import Measures
from coevo.languages.mutation import MutationTool
from coevo.languages.reading import LanguageReading
from coevo.languages.surgery import FileSurgery
from coevo.languages.universal_mutator import UniversalMutator
from coevo.model.listener import Say, ignore_message

# The measures of tests that Java offers, with any build tool.

MEASURES = Measures(
    assertions=assertions,
    smells=smells,
    mutation=UniversalMutator(suffix='.java', grammar=JAVA),
    undoing=undo,
    placebos=placebos,
    defects=defects,
    errors=compilation,
)

NAME = 'java'
BUILD_FILES = (POM,)
REVISION_NEEDS = f'a {POM} at its root'
RUNTIME = 'JDK'
WORKAROUNDS = workarounds.WORKAROUNDS.keys()
_LEAST_LEVEL = 8  # TestEvo-Bench, A.1
READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
OFFERS = EVERYTHING
make_refactoring_finder = RefactoringMiners
make_agent_kits = MavenKits


def looks_buildable(repository: Repository, rev: str) -> bool:
    """Return whether the root of a revision has a build file that can be used here.

    This is a POM, or a Gradle script if a Gradle is installed.
    """
    if POM in repository.tree(rev):
        return True
    return has_gradle_script(repository, rev) and bool(find_gradles())


def make_runtimes(*, brings: bool = False, like: str = '', say: Say = ignore_message) -> JdkSupply:
    """Return the supply of JDKs for a run; see `Language.make_runtimes`.

    `like` is a version such as 17.0.15. It selects the installed JDKs of that version, else of its
    feature release, else all. `brings` says whether missing JDKs may be installed.
    """
    known = find_alike_jdks(like, find_jdks()) if like else ()
    return JdkSupply(known or None, brings=brings, say=say)


def explain_outdated(repository: Repository, rev: str, level: int | None) -> str | None:
    """Return the language level as a text if it is below Java 8, such as `Java 7`; else None.

    `level` is the level that the build reported; if it is None, the POMs' requirement decides.
    """
    declared = level or find_pom_demand(repository, rev).lowest
    return f'Java {declared}' if declared is not None and declared < _LEAST_LEVEL else None


def get_mutation_tool() -> MutationTool:
    """Return the module of PIT, which mutates byte code."""
    return pit
