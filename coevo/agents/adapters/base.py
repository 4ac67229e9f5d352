"""What a run has to know of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Adapter(Protocol):
    # a line for the shell; the prompt is standard input and the file $COEVO_PROMPT
    @property
    def COMMAND(self) -> str: ...

    # the APIs that it speaks, of `coevo.agents.apis`, the usual one first
    @property
    def APIS(self) -> tuple[str, ...]: ...

    # variables of the sandbox; where an agent wants a key, one that is none
    @property
    def ENVIRONMENT(self) -> Mapping[str, str]: ...

    # how its software comes into the folder DIR that --software names
    @property
    def INSTALL(self) -> str: ...

    # its software where coevo brings it, a file that is put into /agent; else --software names it
    @property
    def SOFTWARE(self) -> Path | None: ...

    # whether it runs commands, for which it needs a language's tools and a task's libraries
    @property
    def HAS_TOOLS(self) -> bool: ...
