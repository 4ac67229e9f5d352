"""Models by LiteLLM's names, such as `openai/gpt-4o-mini`: their API, address and key variable.

The addresses of the makers in `coevo.agents.apis` are known. For other makers with OpenAI's API,
the grid has to give the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.agents.apis import APIS
from coevo.agents.endpoint import Endpoint, make_endpoint
from coevo.model.errors import Fatal

# The name of the developers' own tests, which are graded beside those of models.
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

    name         LiteLLM's name, MAKER/MODEL
    url          address of the endpoint; None is the maker's
    key          environment variable with the key; None is the maker's
    temperature  None is the endpoint's default
    max_tokens   None is the endpoint's default
    """

    name: str
    url: str | None = None
    key: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def api(self) -> str:
        """The name in `coevo.agents.apis` of its API."""
        return _APIS[self.name.partition('/')[0]]

    @property
    def name_at_endpoint(self) -> str:
        """The model's name at the endpoint."""
        return self.name.partition('/')[2]

    @property
    def key_variable(self) -> str:
        """The environment variable with the key."""
        return self.key or f'{self.name.partition("/")[0].upper()}_API_KEY'

    def resolve_endpoint(self) -> Endpoint:
        """Return the endpoint with its key. Raises: Fatal if the key is missing."""
        return make_endpoint(self.api, self.url, self.key_variable)


def check_model(model: GridModel) -> GridModel:
    """Return the model unchanged.

    Raises: Fatal if its maker is unknown, or if the maker's address is unknown and `url` is not
    set.
    """
    maker, _, called = model.name.partition('/')
    if maker not in _APIS or not called:
        raise Fatal(
            f'{model.name!r} is not a known model; a name must begin with a provider of '
            f'LiteLLM: one of {", ".join(sorted(_APIS))} and a slash'
        )
    if maker not in APIS and model.url is None:
        raise Fatal(f'{model.name} needs an endpoint; set api_base')
    return model
