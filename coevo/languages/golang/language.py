"""Go with its package testing: compiles packages of old revisions and runs their tests."""

from __future__ import annotations

import os
from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages import base
from coevo.languages.capabilities import Capability
from coevo.languages.golang import assertions, reading, surgery
from coevo.languages.golang.engine import make_engine as make_engine
from coevo.languages.golang.kits import (
    GoKits,
    add_commands as add_commands,
    choose_command_prefix,
    make_run_pattern,
)
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.golang.refactorings import GoRefactoringFinder
from coevo.languages.golang.supply import GoSupply, inspect_machine as inspect_machine
from coevo.languages.golang.surgery import defects, placebos, undo
from coevo.languages.golang.toolchains import LIMIT, find_toolchains, select_toolchains_of_version
from coevo.languages.kits import PromptWords
from coevo.languages.measures import Measures
from coevo.languages.reading import LanguageReading
from coevo.languages.surgery import FileSurgery
from coevo.languages.universal_mutator import UniversalMutator
from coevo.model.listener import Say, ignore_message
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod

NAME = 'go'
RUNTIME = 'Go'
BUILD_FILES = ('go.mod', 'Gopkg.toml', 'glide.yaml', 'Godeps/Godeps.json', 'vendor/vendor.json')
REVISION_NEEDS = 'a go.mod, or a Go package, at its root'

READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
MEASURES = Measures(
    assertions=assertions,
    defects=defects,
    mutation=UniversalMutator(suffix='.go', grammar=GO),
    placebos=placebos,
    undoing=undo,
)
OFFERS = frozenset(Capability) - {Capability.MUTATE}

WORKAROUNDS = base.NO_WORKAROUNDS
suggest_workaround = base.suggest_no_workaround
explain_outdated = base.accept_any_age
list_tool_versions = base.list_no_tools
get_mutation_tool = base.refuse_mutation_tool
make_refactoring_finder = GoRefactoringFinder
make_agent_kits = GoKits


def looks_buildable(repository: Repository, rev: str) -> bool:
    """Return whether the root of a revision has a go.mod, a file of a predecessor, or a Go file.

    Predecessors are dep, glide, godep and govendor.
    """
    tree = repository.tree(rev)
    if any(name in tree for name in BUILD_FILES):
        return True
    return any(path.endswith('.go') and '/' not in path for path in tree)


def make_runtimes(*, brings: bool = False, like: str = '', say: Say = ignore_message) -> GoSupply:
    """Return the toolchains that a run may use.

    brings  whether missing releases may be downloaded; never if the user limits the toolchains
    like    a version such as 1.26.8: selects this very version, failing that those of its release,
            failing that all
    """
    known = find_toolchains()
    may_bring = brings and not os.environ.get(LIMIT)
    return GoSupply(
        known=select_toolchains_of_version(like, known) or known, brings=may_bring, say=say
    )


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    """Return Go's parts of a prompt: its framework and a `go test` command for the methods.

    Without methods, the command runs all tests of the package.
    """
    chosen = f" -run '{make_run_pattern(methods)}'" if methods else ''
    command = f'{choose_command_prefix(module, environment)} -vet=off{chosen} .'
    return PromptWords(
        framework='Go',
        new_test='`go test` calls TestX; it runs ExampleX if that ends with a comment `// Output:`.',
        new_file='its package clause and the imports that its tests need',
        running=(f'When done, ensure that the tests compile and pass: `{command}`',),
        side_effects='tests that write into the tree, or a go.mod that is completed',
    )
