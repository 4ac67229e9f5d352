"""Models by the names that LiteLLM has for them, `openai/gpt-4o-mini`: what an endpoint speaks, and whose key it takes.

Of makers whose API is OpenAI's the endpoint has to be named: only those of `coevo.agents.apis` are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.agents.apis import APIS
from coevo.agents.endpoint import Endpoint, make_endpoint
from coevo.model.errors import Fatal

# The developers' own tests, which are judged beside those of models.
HUMAN = 'human'

_APIS: Mapping[str, str] = {
    **{name: name for name in APIS},
    **dict.fromkeys(
        (
            *('deepseek', 'fireworks_ai', 'groq', 'hosted_vllm', 'mistral', 'ollama'),
            *('openrouter', 'perplexity', 'together_ai', 'xai'),
        ),
        'openai',
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GridModel:
    """A model of a grid.

    name         as LiteLLM has it
    url, key     where it is and the variable with its key, None for those of the maker
    temperature, max_tokens  None: what the endpoint does by itself
    """

    name: str
    url: str | None = None
    key: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def api(self) -> str:
        return _APIS[self.name.partition('/')[0]]

    @property
    def name_at_endpoint(self) -> str:
        """Its name at the endpoint."""
        return self.name.partition('/')[2]

    @property
    def key_variable(self) -> str:
        return self.key or f'{self.name.partition("/")[0].upper()}_API_KEY'

    def resolve_endpoint(self) -> Endpoint:
        """Fatal where a key is missing."""
        return make_endpoint(self.api, self.url, self.key_variable)


def check_model(model: GridModel) -> GridModel:
    """Fatal for a name that nobody knows, or one whose endpoint is not known."""
    maker, _, called = model.name.partition('/')
    if maker not in _APIS or not called:
        raise Fatal(
            f'{model.name!r} is no model that is known; a name begins as LiteLLM has it, with one of '
            f'{", ".join(sorted(_APIS))} and a slash'
        )
    if maker not in APIS and model.url is None:
        raise Fatal(f'{model.name} needs its endpoint, api_base')
    return model
