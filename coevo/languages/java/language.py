"""Java built by Maven, or by a Gradle of the machine: the module that fulfils `coevo.languages.base.Language`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.capabilities import EVERYTHING
from coevo.languages.engine import RunSettings
from coevo.languages.java import reading
from coevo.languages.java import surgery
from coevo.languages.java.commands import commands
from coevo.languages.java.engine import JavaEngine
from coevo.languages.java.gradle.scripts import is_gradle
from coevo.languages.java.kits.maven_kits import MavenKits
from coevo.languages.java.kits.prompt_words import prompt_words
from coevo.languages.java.maven.pom_demand import demand_of
from coevo.languages.java.measures import MEASURES
from coevo.languages.java.places import POM
from coevo.languages.java.processes import workarounds
from coevo.languages.java.processes.workarounds import workaround
from coevo.languages.java.refactorings.miner import RefactoringMiners
from coevo.languages.java.tools import pit
from coevo.languages.java.tools.findings import findings
from coevo.languages.java.tools.gradles import find_gradles
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import alike
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.tool_versions import tool_versions
from coevo.languages.mutation_tools import MutationTool
from coevo.languages.reading import Reading
from coevo.languages.surgery import Surgery
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.sandboxes.sandbox import Sandbox

NAME = 'java'
ENGINE_VERSION = 14
BUILD_FILES = (POM,)
NEEDS = f'a {POM} at its root'
RUNTIME = 'JDK'
WORKAROUNDS = workarounds.WORKAROUNDS.keys()
_LEAST_LEVEL = 8  # A.1
READING: Reading = reading
SURGERY: Surgery = surgery
OFFERS = EVERYTHING

__all__ = [
    'MEASURES',
    'WORKAROUNDS',
    'BUILD_FILES',
    'ENGINE_VERSION',
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
    """Whether a revision has a POM at its root, or is one of Gradle's where a Gradle is at hand."""
    if POM in repository.tree(rev):
        return True
    return is_gradle(repository, rev) and bool(find_gradles())


def runtimes(*, brings: bool = False, like: str = '', say: Say = silent) -> JdkSupply:
    """like  a version such as 17.0.15: that very one, else those of its feature release, else all"""
    known = alike(like, find_jdks()) if like else ()
    return JdkSupply(known or None, brings=brings, say=say)


def refactoring_finder() -> RefactoringMiners:
    return RefactoringMiners()


def outdated(repository: Repository, rev: str, level: int | None) -> str | None:
    """By the highest level in its own POMs, where its build knows of none."""
    declared = level or demand_of(repository, rev).lowest
    return f'Java {declared}' if declared is not None and declared < _LEAST_LEVEL else None


def mutation_tool() -> MutationTool:
    return pit


def kits(sandbox: Sandbox, folder: Path, say: Say) -> MavenKits:
    return MavenKits(sandbox, folder, say)


def engine(run: RunSettings, stack: ExitStack) -> JavaEngine:
    return JavaEngine(run, stack)
