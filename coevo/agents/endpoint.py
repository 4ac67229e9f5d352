"""The endpoint that an agent can reach: its address, its API and the key."""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from coevo.agents.apis import APIS
from coevo.agents.apis.base import ModelApi
from coevo.model.errors import Fatal
from coevo.storage.bounded_http import find_environment_proxy

_CONNECT_SECONDS = 20.0


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
    def auth_headers(self) -> Mapping[str, str]:
        """The headers that carry the key; none without a key."""
        return self.model_api.build_auth_headers(self.key) if self.key else {}

    @property
    def description(self) -> str:
        """The endpoint's description in reports."""
        return f'{self.url} ({self.api})'

    def hide_key(self, content: bytes) -> bytes:
        """Return content with asterisks for the key, also where JSON escapes it."""
        return _compile_key_pattern(self.key).sub(b'***', content) if self.key else content


@functools.cache
def _compile_key_pattern(key: str) -> re.Pattern[bytes]:
    """Return a pattern of a key, each character as it is or as JSON may escape it."""
    return re.compile(b''.join(map(_build_character_pattern, key)))


def _build_character_pattern(character: str) -> bytes:
    plain = re.escape(character.encode())
    escaped = rf'\\u(?i:{ord(character):04x})'.encode()
    return rb'(?:\\?' + plain + b'|' + escaped + b')'


def make_endpoint(api: str, url: str | None = None, key_variable: str | None = None) -> Endpoint:
    """Return an endpoint with the key in an environment variable.

    The defaults for URL and variable are those of the API's maker. An endpoint on this machine
    needs no key, unless a variable is named.
    Raises: Fatal if the API is unknown, the URL invalid or the variable not set.
    """
    if api not in APIS:
        raise Fatal(f'unknown API {api!r}; choose one of {", ".join(sorted(APIS))}')
    url = url or APIS[api].ENDPOINT
    parts = _split_plain_url(url)
    if parts is None:
        # The message does not repeat the URL, since a key in it would then appear in a log.
        raise Fatal(
            '--endpoint must be a URL such as https://api.example.org, without a key; name '
            'the variable that holds the key with --key-env'
        )
    needs_key = key_variable is not None or not is_loopback(parts.hostname or '')
    key_variable = key_variable or APIS[api].KEY_VARIABLE
    key = os.environ.get(key_variable, '').strip()
    if not key and needs_key:
        raise Fatal(
            f'${key_variable} is not set; put the key of {url} there, or name another variable '
            'with --key-env'
        )
    return Endpoint(url=_strip_call_path(url.rstrip('/')), api=api, key=key)


def _split_plain_url(url: str) -> SplitResult | None:
    """Return the parts of a URL with a scheme, a host, a port that is a number, and nothing secret.

    None for any other text.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is no number
    except ValueError:
        return None
    plain = '@' not in parts.netloc and not parts.query and not parts.fragment
    is_address = parts.scheme in ('http', 'https') and bool(parts.hostname)
    return parts if is_address and plain else None


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is this machine's own."""
    if host == 'localhost' or host.endswith('.localhost'):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_reachable(endpoint: Endpoint) -> None:
    """Check that a connection to an endpoint can be opened; it is closed at once.

    An endpoint that is reached by a proxy is not checked.
    Raises: Fatal if nothing listens there.
    """
    parts = urlsplit(endpoint.url)
    port = parts.port or (443 if parts.scheme == 'https' else 80)
    if find_environment_proxy(endpoint.url) is not None:
        return
    try:
        socket.create_connection((parts.hostname, port), timeout=_CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:  # a name may be no name of a host
        raise Fatal(
            f'nothing answers at {endpoint.url} ({error}); start the model there, or correct '
            '--endpoint'
        ) from None


_CALL_PATH = re.compile(
    r'(?:/v1(?:beta)?'
    r'(?:/(?:chat/completions|completions|responses|messages|models(?:/[^/:]+:[^/:]+)?))?'
    r'|/chat/completions)$'
)


def _strip_call_path(url: str) -> str:
    """Return a base URL without the path of a call, such as `/v1/chat/completions`, at its end.

    The path of a call has the version, too, so that `/v1` alone and `/v1beta` are removed as well.
    Other paths, such as `/models/llama`, lead to the API.
    """
    return _CALL_PATH.sub('', url)
