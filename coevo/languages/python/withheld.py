"""What a failure shows of the machine it happened on, not of the code: one table with its evidence.

A sandbox has no network and no display, and its clock is today's. Evidence is an exception's class, a base
of it or a cause; where a class has other uses too, its message must hold the words given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NO_HOST = (
    r'Name or service not known|Temporary failure in name resolution|nodename nor servname'
    r'|Network is unreachable|getaddrinfo failed|No address associated'
)

# What is withheld, the classes that show it (the end of their names), and words of the message.
_SIGNATURES = (
    ('network', ('gaierror', 'herror', 'NameResolutionError'), ''),
    ('network', ('OSError', 'ConnectionError', 'URLError', 'ConnectError'), _NO_HOST),
    ('clock', ('SSLError', 'SSLCertVerificationError'), 'expired|not yet valid'),
    ('display', ('TclError', 'DisplayNameError'), 'display'),
)


def find_withheld_resource(types: Sequence[str], message: str) -> str | None:
    """What the machine withheld, for an exception's classes and those of its causes."""
    last = {name.rpartition('.')[2] for name in types}
    for what, classes, words in _SIGNATURES:
        if last.intersection(classes) and re.search(words, message):
            return what
    return None
