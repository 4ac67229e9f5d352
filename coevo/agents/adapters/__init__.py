"""Agents that `coevo run --agent NAME` knows, one module each, and how to install them."""

from __future__ import annotations

from coevo.agents.adapters import (
    claude_code,
    gemini_cli,
    mini_swe_agent,
    one_shot,
    pynguin,
    randoop,
    swe_agent,
)
from coevo.agents.adapters.base import Adapter

ADAPTERS: dict[str, Adapter] = {
    'claude-code': claude_code,
    'gemini-cli': gemini_cli,
    'mini-swe-agent': mini_swe_agent,
    'one-shot': one_shot,
    'pynguin': pynguin,
    'randoop': randoop,
    'swe-agent': swe_agent,
}
