"""Adapter for the baseline without tools: a prompt with its files in, a test file out."""

from __future__ import annotations

from pathlib import Path

from coevo.agents import one_shot

SOFTWARE = Path(one_shot.__file__)
COMMAND = f'/usr/bin/python3 -I -B /agent/{SOFTWARE.name}'
APIS = ('openai', 'anthropic', 'gemini')
ENVIRONMENT: dict[str, str] = {}
INSTALL = 'nothing needs to be installed'
HAS_TOOLS = False
