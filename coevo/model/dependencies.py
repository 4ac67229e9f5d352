"""Production code that a test depends on, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from coevo.model.choices import Choice
from coevo.model.column import Column


class Revised(Choice):
    """What happened to a production declaration between old and new."""

    INSERTED = 'inserted', 'it is new'
    MODIFIED = 'modified', 'it was changed'
    REMOVED = 'removed', 'it is gone'


class CoupledBy(Choice):
    """Why a changed declaration is a dependency of a test, the strongest first."""

    CALL = 'call', "the test's own text calls or names it"
    HELPER = 'helper', 'what the test uses in the test tree calls or names it'
    EXECUTION = 'execution', 'the test runs it, and other sources call it'


RESOURCE = 'resource'
"""The declaration of a dependency that is a file of the resources."""


class DependencyList(Choice):
    """Which of its dependencies a test is asked about, see `coevo.model.dependency_lists`."""

    CALLED = 'called', 'those that the test itself calls'
    EXECUTED = 'executed', 'all that it executes'


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A changed production declaration that a test refers to or executes.

    Lines are 1-based and inclusive, at new (at old where it was removed). `rank` starts at 1.
    """

    name: Annotated[
        str,
        Column(
            'The qualified name, such as `pkg.Type#method(Parameter,Types)`, or '
            '`pkg.Type` for what lies outside of methods.'
        ),
    ] = ''
    declaration: Annotated[
        str, Column('The declaration as its source writes it; `resource` for a resource file.')
    ]
    file: Annotated[str, Column('The path of its file in the repository.')]
    start_line: Annotated[
        int, Column('Its first line, from 1; at new, or at old if it was removed.', unit='line')
    ]
    end_line: Annotated[int, Column('Its last line, included.', unit='line')]
    revised: Annotated[Revised, Column('What happened to it between old and new.')]
    executed_old: Annotated[
        bool | None,
        Column('Whether the test executes it at the old revision. Null if that is unknown.'),
    ] = None
    executed_new: Annotated[
        bool | None,
        Column('Whether the test executes it at the new revision. Null if that is unknown.'),
    ] = None
    coupling: Annotated[
        float | None,
        Column(
            'How often the test names it; a mention in a helper counts half. Null if that'
            ' is unknown.',
            unit='mentions',
        ),
    ] = None
    coupled_by: Annotated[
        CoupledBy | None, Column('Why it is a dependency. Null in data that does not say.')
    ] = None
    rank: Annotated[int, Column('Its place among the dependencies, from 1.')]

    @property
    def is_method(self) -> bool:
        """Whether it is a method or constructor, not the rest of a type."""
        return self.name.endswith(')')

    @property
    def is_resource(self) -> bool:
        """Whether it is a file that is no source."""
        return self.declaration == RESOURCE


# Which changed dependencies a test is asked about: those that it calls, or all that it executes.
#
# The published lists (TestEvo-Bench, A.2: the closure that is "what coverage and mutation are
# evaluated against") hold methods that tests call by name; A.1 speaks of all that a test
# exercises. Both are in the data: `dependencies` has all, `coupled_by` says which are called. A
# profile chooses for the prompt, the focal method, coverage and mutants. Labels, filters and
# reversals go by all.


def choose_dependency_list(
    dependencies: Sequence[Dependency], wanted: DependencyList
) -> DependencyList | None:
    """The list that is used: all where none is called; None where there is nothing to choose from.

    A list without a method is as good as empty where there are methods: it covers nothing.
    """
    if not dependencies:
        return None
    called = select_dependencies(dependencies, DependencyList.CALLED)
    has_method = any(dependency.is_method for dependency in dependencies)
    is_empty = not any(dependency.is_method for dependency in called) if has_method else not called
    return DependencyList.EXECUTED if is_empty else wanted


def select_dependencies(
    dependencies: Sequence[Dependency], which: DependencyList | None
) -> tuple[Dependency, ...]:
    """The dependencies of a list, in their order; None, of older snapshots, stands for all."""
    return tuple(
        dependency
        for dependency in dependencies
        if which is not DependencyList.CALLED or dependency.coupled_by is CoupledBy.CALL
    )
