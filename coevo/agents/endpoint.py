"""The one address that an agent reaches: where it is, what it speaks, and the key to it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from coevo.agents.apis import APIS
from coevo.agents.apis.base import ModelApi
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """`key` is never shown, written, or given to a process."""

    url: str
    api: str
    key: str = field(repr=False)

    @property
    def model_api(self) -> ModelApi:
        return APIS[self.api]

    @property
    def description(self) -> str:
        """What a report says of it."""
        return f'{self.url} ({self.api})'


def make_endpoint(api: str, url: str | None = None, key_variable: str | None = None) -> Endpoint:
    """An endpoint with the key of an environment variable; Fatal if something is missing.

    What is not named is where the API's maker has it.
    """
    if api not in APIS:
        raise Fatal(f'there is no API {api!r}; choose one of {", ".join(sorted(APIS))}')
    url = url or APIS[api].ENDPOINT
    key_variable = key_variable or APIS[api].KEY_VARIABLE
    parts = urlsplit(url)
    if parts.scheme not in ('http', 'https') or not parts.hostname or parts.query or parts.username:
        # It is not repeated: who writes a key into a URL must not find it in a log.
        raise Fatal(
            'an endpoint is a URL such as https://api.example.org, without a key; '
            'name the variable that holds the key with --key-env'
        )
    key = os.environ.get(key_variable, '').strip()
    if not key:
        raise Fatal(
            f'${key_variable} is not set; put the key of {url} there, or name another variable '
            'with --key-env'
        )
    return Endpoint(url=_strip_version(url.rstrip('/')), api=api, key=key)


def _strip_version(url: str) -> str:
    """As clients are given it, a base may end with the version, which calls have in their path."""
    return url.removesuffix('/v1').removesuffix('/v1beta')
