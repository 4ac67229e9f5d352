"""Adapter for the baseline without tools: a prompt with its files in, a test file out."""

from __future__ import annotations

from pathlib import Path

from coevo.agents import one_shot

BUNDLED_FILE = Path(one_shot.__file__)
COMMAND = f'/usr/bin/python3 -I -B /agent/{BUNDLED_FILE.name}'
APIS = ('openai', 'anthropic', 'gemini')
ENVIRONMENT: dict[str, str] = {}
INSTALL_INSTRUCTIONS = 'nothing needs to be installed'
RUNS_COMMANDS = False
GENERATES_IN: tuple[str, ...] = ()
