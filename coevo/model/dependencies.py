"""Production code that a test depends on, and how the pair changed it.

A test can be associated with two lists of changed dependencies: those that it calls, and all that
it executes. The published lists (TestEvo-Bench, A.2: the closure that is "what coverage and
mutation are evaluated against") hold methods that tests call by name; A.1 speaks of all methods
that a test exercises. The data has both: `dependencies` lists all, and `coupled_by` marks those
that are called. The profile chooses the list for the prompt, the focal method, coverage and
mutants. Labels, filters and undone changes use all dependencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import Choice, Column


class Revised(Choice):
    """The kind of change of a production declaration between old and new."""

    INSERTED = 'inserted', 'it is new'
    MODIFIED = 'modified', 'it was changed'
    REMOVED = 'removed', 'it is gone'


class CoupledBy(Choice):
    """Why a changed declaration is a dependency of a test, strongest reason first."""

    CALL = 'call', "the test's own text calls or names it"
    HELPER = 'helper', 'what the test uses in the test tree calls or names it'
    EXECUTION = 'execution', 'the test runs it, and other sources call it'


RESOURCE = 'resource'
"""The value of `Dependency.declaration` for a resource file."""


class DependencyList(Choice):
    """The choice among a test's two lists of changed dependencies; see `choose_dependency_list`."""

    CALLED = 'called', 'those that the test itself calls'
    EXECUTED = 'executed', 'all that it executes'


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A changed production declaration that a test refers to or executes.

    Lines are 1-based and inclusive, at the new revision (at the old one if it was removed). `rank`
    starts at 1.
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
        """True for a method or constructor."""
        return self.name.endswith(')')

    @property
    def is_resource(self) -> bool:
        """True for a resource file."""
        return self.declaration == RESOURCE


def choose_dependency_list(
    dependencies: Sequence[Dependency], wanted: DependencyList
) -> DependencyList | None:
    """Return `wanted`, or EXECUTED where the list of called dependencies has nothing to cover.

    That list has nothing to cover if it is empty, or if it has no method although an executed
    dependency is one. None if there are no dependencies.
    """
    if not dependencies:
        return None
    called = select_called_or_all_dependencies(dependencies, DependencyList.CALLED)
    has_method = any(dependency.is_method for dependency in dependencies)
    is_empty = not any(dependency.is_method for dependency in called) if has_method else not called
    return DependencyList.EXECUTED if is_empty else wanted


def select_called_or_all_dependencies(
    dependencies: Sequence[Dependency], which: DependencyList | None
) -> tuple[Dependency, ...]:
    """Return the dependencies of one of the two lists, in their order.

    CALLED selects those that the test itself calls; EXECUTED and None (older snapshots) select all.
    """
    return tuple(
        dependency
        for dependency in dependencies
        if which is not DependencyList.CALLED or dependency.coupled_by is CoupledBy.CALL
    )
