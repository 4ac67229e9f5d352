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
        """The names in `coevo.agents.apis` of the APIs that it can use, the default first.

        () for a program that asks no model.
        """

    @property
    def ENVIRONMENT(self) -> Mapping[str, str]:
        """Environment variables in the sandbox, such as a dummy key if the agent requires one."""

    @property
    def INSTALL_INSTRUCTIONS(self) -> str:
        """Instructions to install its software into the folder DIR, which --software names."""

    @property
    def BUNDLED_FILE(self) -> Path | None:
        """A file of coevo that is mounted, in /agent or, beside other software, in /driver."""

    @property
    def RUNS_COMMANDS(self) -> bool:
        """True if the agent runs commands.

        Such an agent needs software, a language's tools and a task's libraries.
        """

    @property
    def GENERATES_IN(self) -> tuple[str, ...]:
        """The languages in which a generator writes new tests; () for an agent for all tasks."""


# Parts shared by agents that reach their model through LiteLLM.
#
# $COEVO_MODEL begins with LiteLLM's name of the API: anthropic/…, gemini/… or openai/….

# LiteLLM expects the API's version in the base address, except for Anthropic.
BASE = """\
case "$COEVO_MODEL" in
    gemini/*) base="$COEVO_ENDPOINT/v1beta" ;;
    openai/*) base="$COEVO_ENDPOINT/v1" ;;
    *) base="$COEVO_ENDPOINT" ;;
esac
"""
APIS = ('anthropic', 'gemini', 'openai')
ENVIRONMENT = {
    'ANTHROPIC_API_KEY': 'none',
    'GEMINI_API_KEY': 'none',
    'OPENAI_API_KEY': 'none',
    'LITELLM_LOCAL_MODEL_COST_MAP': 'True',  # otherwise LiteLLM would try to download it
    'PYTHONDONTWRITEBYTECODE': '1',
}
