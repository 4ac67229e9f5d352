"""What logs in to a URL: a user and password before its host, a token in its query.

None of it is printed, kept, or part of a name.
"""

from __future__ import annotations

import re

HIDDEN = '***'

# A URL in a text, without the punctuation behind it.
_URL = re.compile(r"""\b([A-Za-z][A-Za-z0-9+.-]*://)([^\s'"<>]+?)(?=[.,:;)\]}]*(?:[\s'"<>]|$))""")
# A password may hold an @, and one that nobody has quoted a slash: what stands where a port would then
# is no number.
_LOGIN = re.compile(r'\A(?:[^/?#]*@|[^/?#@:]*:(?!\d*(?:[/?#]|\Z))\S*@)')
_VALUE = re.compile(r'(^|&)([^=&]*=)?[^&]*')


def strip_credentials(url: str) -> str:
    """A URL as it may be kept: without a user, password, query or fragment."""
    head, separator, rest = url.partition('://')
    if not separator:
        return url
    return head + separator + re.split('[?#]', _LOGIN.sub('', rest, count=1), maxsplit=1)[0]


def hide_credentials(text: str) -> str:
    """A text as it may be printed: what logs in to its URLs is `***`."""
    return _URL.sub(lambda found: found[1] + _hide_in_rest(found[2]), text)


def _hide_in_rest(rest: str) -> str:
    login = _LOGIN.match(rest)
    address = f'{HIDDEN}@{rest[login.end() :]}' if login else rest
    parts = re.split('([?#])', address)
    masked_parts = [
        _VALUE.sub(_mask_value, part) if at and at % 2 == 0 else part
        for at, part in enumerate(parts)
    ]
    return ''.join(masked_parts)


def _mask_value(found: re.Match[str]) -> str:
    return f'{found[1]}{found[2] or ""}{HIDDEN}' if found[0].lstrip('&') else found[0]
