"""The interface between `coevo run` and the agents that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Adapter(Protocol):
    """An agent that coevo can run; the modules of this package implement it."""

    @property
    def COMMAND(self) -> str:
        """The shell command; the prompt is its standard input and the file $COEVO_PROMPT."""

    @property
    def APIS(self) -> tuple[str, ...]:
        """The names in `coevo.agents.apis` of the APIs that it can use, the default first."""

    @property
    def ENVIRONMENT(self) -> Mapping[str, str]:
        """Environment variables in the sandbox, such as a dummy key if the agent requires one."""

    @property
    def INSTALL(self) -> str:
        """Instructions to install its software into the folder DIR, which --software names."""

    @property
    def SOFTWARE(self) -> Path | None:
        """A file of coevo that is mounted in /agent; None if --software names a folder instead."""

    @property
    def HAS_TOOLS(self) -> bool:
        """True if the agent runs commands.

        Such an agent needs a language's tools and a task's libraries.
        """
