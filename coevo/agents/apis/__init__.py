"""The model APIs that the relay supports, one module each."""

from __future__ import annotations

from coevo.agents.apis import anthropic, gemini, openai
from coevo.agents.apis.base import ModelApi

APIS: dict[str, ModelApi] = {
    'anthropic': anthropic,
    'gemini': gemini,
    'openai': openai,
}
