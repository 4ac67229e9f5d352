"""The requirements for building and running the tests of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """A library that a task's tests run with: its coordinates and the checksum of its bytes."""

    coordinates: Annotated[
        str, Column('The library with its version, as the registry of the language writes it.')
    ]
    sha256: Annotated[
        str,
        Column('SHA-256 of its bytes; where it has several files, of their sorted checksums.'),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The runtime, tools, commands and libraries that build and run a task's module.

    The commands stay empty while mining. The release fills them in, once it is known which tests
    form a task.
    """

    runtime: Annotated[str, Column('The version of the runtime (JDK, interpreter).')]
    build_tool: Annotated[str, Column('The build tool with its version.')]
    compile_command: Annotated[
        str,
        Column(
            'What builds the start state, at its root, with the network: a line for `sh`, with '
            '`runtime` as the runtime at hand. Plain tools, nothing of coevo.'
        ),
    ] = ''
    test_command: Annotated[
        str,
        Column(
            'What then runs the target tests, by their new names, and fails if one of them fails: a '
            'line for `sh` at the root. Of a suite it runs the whole test file. Build tools may pass '
            'over a test that is not there.'
        ),
    ] = ''
    libraries: Annotated[
        tuple[LibraryEntry, ...], Column('The libraries that the tests run with, in their order.')
    ]
