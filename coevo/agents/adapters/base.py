"""What a run has to know of an agent."""

from __future__ import annotations

from collections.abc import Mapping
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
