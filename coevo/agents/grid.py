"""Parse the file of a grid, a YAML file similar to AgoneTest's:

    llms:
      - model: openai/gpt-4o-mini      # or `human`, the developers' own tests
        temperature: 0                 # and max_tokens, api_base, api_key_env
    prompts:
      - name: few-shot
        value:
          - role: system
            content: Reply with code only.
          - role: user
            content: "Like {{example}}, test {{class_under_test}} with {{testing_framework}}."
    variables:                         # the user's own; see `coevo.agents.templates` for a task's
      example: {file: example.java}    # a path relative to this file; or a text

Unknown keys are errors, since a misspelt key would otherwise be ignored in an expensive run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from coevo.agents.apis import APIS
from coevo.agents.endpoint import Endpoint, make_endpoint
from coevo.agents.templates import VARIABLES, Message, PromptTemplate
from coevo.model.errors import Fatal

# Models by LiteLLM's names, such as `openai/gpt-4o-mini`: their API, address and key variable.
#
# The addresses of the makers in `coevo.agents.apis` are known. For other makers with OpenAI's API,
# the grid has to give the address.

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


_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')
_MODEL_KEYS = ('temperature', 'max_tokens', 'api_base', 'api_key_env')
_ROLES = ('system', 'user', 'assistant')
_HOTTEST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """A combination of a model and a prompt."""

    model: GridModel
    prompt: str
    template: PromptTemplate

    @property
    def name(self) -> str:
        """The name of its folder, MODEL/PROMPT."""
        return f'{_derive_folder_name(self.model.name)}/{self.prompt}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The cells of a grid; `human` says whether the developers' own tests are graded, too."""

    cells: tuple[GridCell, ...]
    human: bool


def load_grid(file: Path) -> Grid:
    """Return the grid of a file. Raises: Fatal, with one sentence, if the file is not valid."""
    try:
        document = yaml.safe_load(file.read_text('utf-8'))
    except OSError as error:
        raise Fatal(
            f'{file} cannot be read ({error.strerror}); set `grid` to the path of a YAML file'
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = ' '.join(str(error).split())
        raise Fatal(f'{file} is not valid YAML: {reason}') from None
    try:
        return _parse_grid(document, file.parent)
    except Fatal as error:
        raise Fatal(f'{file}: {error}') from None


def _parse_grid(found: object, folder: Path) -> Grid:
    top = _check_mapping(found, 'the file', ('llms', 'prompts'), ('variables',))
    texts = dict(_load_variables(top.get('variables') or {}, folder))
    named = [
        _parse_model(entry, f'llms[{number}]')
        for number, entry in _number_items(top['llms'], 'llms')
    ]
    prompts = dict(
        _parse_prompt(entry, f'prompts[{number}]', texts)
        for number, entry in _number_items(top['prompts'], 'prompts')
    )
    models = [entry for entry in named if entry.name != HUMAN]
    _check_unique((_derive_folder_name(entry.name) for entry in named), 'llms')
    _check_unique((entry['name'] for entry in top['prompts']), 'prompts')
    if not models:
        raise Fatal(
            f'llms lists no model besides {HUMAN}; add a model, or use `coevo evaluate … gold`'
        )
    return Grid(
        cells=tuple(
            GridCell(model=model, prompt=name, template=template)
            for model in models
            for name, template in prompts.items()
        ),
        human=len(models) < len(named),
    )


def _load_variables(found: object, folder: Path) -> Iterator[tuple[str, str]]:
    for name, value in _check_mapping(found, 'variables', (), None).items():
        if name in VARIABLES:
            raise Fatal(f'variables: every task already has a variable {name}; choose another name')
        if isinstance(value, dict):
            path = folder / str(_check_mapping(value, f'variables.{name}', ('file',), ())['file'])
            try:
                yield name, path.read_text('utf-8')
            except (OSError, ValueError) as error:
                raise Fatal(f'variables.{name}: {path} cannot be read ({error})') from None
        else:
            yield name, _check_text(value, f'variables.{name}')


def _parse_model(found: object, place: str) -> GridModel:
    raw = _check_mapping(found, place, ('model',), _MODEL_KEYS)
    name = _check_text(raw['model'], f'{place}.model')
    if name == HUMAN:
        return GridModel(name=name)
    heat, most = raw.get('temperature'), raw.get('max_tokens')
    if heat is not None and not (_is_number(heat) and 0 <= heat <= _HOTTEST):
        raise Fatal(f'{place}.temperature must be a number from 0 to 2, not {heat!r}')
    if most is not None and not (isinstance(most, int) and _is_number(most) and most > 0):
        raise Fatal(f'{place}.max_tokens must be 1 or more, not {most!r}')
    url, key = (
        None if raw.get(word) is None else _check_text(raw[word], f'{place}.{word}')
        for word in ('api_base', 'api_key_env')
    )
    return check_model(GridModel(name=name, url=url, key=key, temperature=heat, max_tokens=most))


def _parse_prompt(
    found: object, place: str, texts: Mapping[str, str]
) -> tuple[str, PromptTemplate]:
    raw = _check_mapping(found, place, ('name', 'value'), ())
    name = _check_text(raw['name'], f'{place}.name')
    if not _NAME.fullmatch(name):
        raise Fatal(
            f'{place}.name may have only letters, digits, dots, hyphens and underscores, not '
            f'{name!r}'
        )
    messages = tuple(
        _parse_message(entry, f'{place}.value[{number}]')
        for number, entry in _number_items(raw['value'], f'{place}.value')
    )
    if messages[-1].role != 'user':
        raise Fatal(
            f'{place}.value must end with a message of the role `user`, which the model answers'
        )
    template = PromptTemplate(messages=messages, texts=texts)
    unknown = sorted(template.variables - texts.keys() - VARIABLES.keys())
    if unknown:
        known = ', '.join(sorted({*texts, *VARIABLES}))
        raise Fatal(f'prompt {name} names {unknown[0]!r}, which is unknown; use one of {known}')
    return name, template


def _parse_message(found: object, place: str) -> Message:
    raw = _check_mapping(found, place, ('role', 'content'), ())
    role = _check_text(raw['role'], f'{place}.role')
    if role not in _ROLES:
        raise Fatal(f'{place}.role must be one of {", ".join(_ROLES)}, not {role!r}')
    return Message(role=role, content=_check_text(raw['content'], f'{place}.content'))


# -- checks of YAML values -------------------------------------------------------------------------


def _check_mapping(
    found: object, place: str, needed_keys: Collection[str], optional_keys: Collection[str] | None
) -> Mapping[str, Any]:
    """Return a value unchanged if it is a mapping with text keys and the right ones.

    needed  keys that must be there
    more    other keys that may be there; None allows any
    Raises: Fatal if it is no such mapping, lacks a key or has an unknown one.
    """
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise Fatal(f'{place} must be a mapping')
    for key in needed_keys:
        if key not in found:
            raise Fatal(f'{place} has no {key}')
    if optional_keys is not None:
        for key in sorted(found.keys() - {*needed_keys, *optional_keys}):
            known = ', '.join((*needed_keys, *optional_keys))
            raise Fatal(f'{place} has {key!r}, which is unknown; use one of {known}')
    return found


def _number_items(found: object, place: str) -> Sequence[tuple[int, object]]:
    """Return the items of a list, numbered from 1. Raises: Fatal if it is no list, or empty."""
    if not isinstance(found, list) or not found:
        raise Fatal(f'{place} must be a list with at least one entry')
    return list(enumerate(found, 1))


def _check_text(found: object, place: str) -> str:
    if not isinstance(found, str) or not found.strip():
        raise Fatal(f'{place} must be a text')
    return found


def _is_number(found: object) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool)


def _check_unique(names: Iterator[str], place: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Fatal(
                f'{place} has {name} twice; give each a different name, since each has its own '
                'folder'
            )
        seen.add(name)


def _derive_folder_name(model: str) -> str:
    return re.sub(r'[^A-Za-z0-9._-]', '-', model)
