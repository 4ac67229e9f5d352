"""What a failure shows of the machine it happened on, not of the code: one table with its evidence.

A sandbox has no network, and its clock is today's. Tests of Go say what went wrong in their own words, in
which those of the standard library are.
"""

from __future__ import annotations

import re

_NO_NETWORK = (
    r'dial (tcp|udp)4?6? (?!127\.|\[::1\]|localhost)\S+.*(network is unreachable|i/o timeout)'
    r'|lookup (?!localhost)\S+.*(no such host|server misbehaving|connection refused)'
    r'|connect: network is unreachable|Temporary failure in name resolution'
)
_WORDS = (
    ('network', _NO_NETWORK),
    ('clock', r'x509: certificate has expired or is not yet valid'),
)


def find_withheld_resource(message: str) -> str | None:
    """What the machine withheld, by the output of a test that failed, or what a panic said."""
    for what, words in _WORDS:
        if re.search(words, message):
            return what
    return None
