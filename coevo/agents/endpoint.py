"""The endpoint that an agent can reach: its address, its API and the key."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from coevo.agents.apis import APIS
from coevo.agents.apis.base import ModelApi
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint with its key, which is never shown, written to disk or given to a process."""

    url: str
    api: str
    key: str = field(repr=False)

    @property
    def model_api(self) -> ModelApi:
        """The API that the endpoint has."""
        return APIS[self.api]

    @property
    def description(self) -> str:
        """The endpoint's description in reports."""
        return f'{self.url} ({self.api})'


def make_endpoint(api: str, url: str | None = None, key_variable: str | None = None) -> Endpoint:
    """Return an endpoint with the key of an environment variable.

    The defaults for URL and variable are those of the API's maker.

    Raises: Fatal if the API is unknown, the URL invalid or the variable not set.
    """
    if api not in APIS:
        raise Fatal(f'there is no API {api!r}; choose one of {", ".join(sorted(APIS))}')
    url = url or APIS[api].ENDPOINT
    key_variable = key_variable or APIS[api].KEY_VARIABLE
    parts = urlsplit(url)
    if parts.scheme not in ('http', 'https') or not parts.hostname or parts.query or parts.username:
        # The message does not repeat the URL, since a key in it would then appear in a log.
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
    """Return a base URL without the version, which the path of each call contains."""
    return url.removesuffix('/v1').removesuffix('/v1beta')
