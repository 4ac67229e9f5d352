"""Addresses that a release is told of, for repositories that were mined from a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from coevo.display.credentials import hide_credentials, strip_credentials
from coevo.git.clones import PROTOCOLS
from coevo.model.errors import Fatal

_URL = re.compile(rf'(?:{"|".join(PROTOCOLS)})://[^\s/]+/\S+')
_NAMED = re.compile(r'([^=:]+)=(.*)')

# The repository of an address that names none: the only one that a store holds.
ONLY = ''


def parse_urls(words: Sequence[str]) -> Mapping[str, str]:
    """Addresses by repository, from `REPO=URL` or `URL`; Fatal for what is neither."""
    urls: dict[str, str] = {}
    for word in words:
        named = _NAMED.fullmatch(word)
        repo, url = named.groups() if named else (ONLY, word)
        if not _URL.fullmatch(url):
            raise Fatal(
                f'--url takes an address such as https://example.org/owner/name, not {hide_credentials(url)!r}'
            )
        if strip_credentials(url) != url:
            raise Fatal(
                '--url holds a user, password or query, and a snapshot is public: leave it out'
            )
        if repo in urls:
            raise Fatal(f'--url names {repo or "the repository"} twice; leave one')
        urls[repo] = url
    return urls


def assign_urls(urls: Mapping[str, str], repos: Sequence[str]) -> Mapping[str, str]:
    """The same for the repositories of a store; Fatal for one that it does not hold."""
    if ONLY in urls and len(repos) != 1:
        raise Fatal(
            f'the store holds {len(repos)} repositories: write --url REPO=URL, with one of '
            f'{", ".join(repos)}'
        )
    known = {repo or repos[0]: url for repo, url in urls.items()}
    for repo in sorted(known.keys() - set(repos)):
        raise Fatal(f'the store has no {repo!r} to give a URL; it holds {", ".join(repos)}')
    return known
