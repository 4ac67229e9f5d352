"""A language of the tests, small enough to be seen through, that is built and run in the real sandbox.

A file `*.toy` has types, `[shop.Till]`, and lines below them, `name: body`. In the code a body is a value
(`price: 2`), or `!` and what happens to who asks for it (`price: !hang`). In files `test_*.toy` it is steps
with `then` between them, see `programs`; `_before` runs before each test of its type, other names with `_`
are helpers. A folder with a `toy.build` is a module; `build: COMMAND` in it is run when it is built,
`library: VALUE` and `setting: VALUE` are what its tests run with.

Fulfils `coevo.languages.base.Language`, as a language of its own does, and nothing of it is a mock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coevo.languages import base
from coevo.languages.capabilities import Capability
from coevo.languages.kits import NoKits, PromptWords
from coevo.languages.measures import Measures
from coevo.languages.reading import LanguageReading
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.runtimes import SystemRuntimes
from coevo.languages.surgery import FileSurgery
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from tests.languages.toy import measures, reading, running, surgery
from tests.languages.toy.trees import BUILD_FILE

NAME = 'toy'
BUILD_FILES = (BUILD_FILE,)
REVISION_NEEDS = f'a {BUILD_FILE} at its root'
RUNTIME = 'shell'
READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
OFFERS = frozenset({Capability.BORROW, Capability.CHECK_SOURCES, Capability.TRACE})
MEASURES = Measures(mutation=measures, defects=measures, errors=measures)

WORKAROUNDS = base.NO_WORKAROUNDS
add_commands = base.keep_environment
looks_buildable = partial(base.has_file_at_root, BUILD_FILES)
explain_outdated = base.accept_any_age
get_mutation_tool = base.refuse_mutation_tool
inspect_machine = base.need_nothing_of_the_machine
list_tool_versions = base.list_no_tools
make_engine = running.make_engine
make_agent_kits = NoKits
make_refactoring_finder = NoRefactoringFinder
make_runtimes = SystemRuntimes
suggest_workaround = base.suggest_no_workaround


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    return PromptWords(
        framework='toy',
        new_test='',
        new_file='the header of its type',
        running=(f'Run the steps of {", ".join(one.test_method for one in methods)} by hand.',),
        side_effects='what they write',
    )
