"""How Git fetches: what it may use to reach a server, and how long that may say nothing."""

from __future__ import annotations

import os

from coevo.git.process import ENVIRONMENT

# A fetch that brings what its refspecs name and touches nothing else.
FETCH = ('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance')

PROTOCOLS = ('https', 'http', 'ssh', 'git')

SILENCE_SECONDS = 60


def make_fetch_environment(
    *, local: bool = False, silence_seconds: int = SILENCE_SECONDS
) -> dict[str, str]:
    """The environment of a Git that talks to a server, or to a repository on this machine alone.

    silence_seconds  without a word of the server (less than 1,000 bytes each)
    """
    return {
        **ENVIRONMENT,
        **({'GIT_ALLOW_PROTOCOL': 'file'} if local else _make_network_environment()),
        'GIT_HTTP_LOW_SPEED_LIMIT': '1000',
        'GIT_HTTP_LOW_SPEED_TIME': str(silence_seconds),
    }


def _make_network_environment() -> dict[str, str]:
    """What Git needs of the user's environment to reach a server, and nothing else."""
    proxies = ('https_proxy', 'http_proxy', 'no_proxy', 'all_proxy', 'ssh_auth_sock')
    files = ('GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR')
    given = {n: v for n, v in os.environ.items() if n.lower() in proxies or n in files}
    return {
        **given,
        'GIT_ALLOW_PROTOCOL': ':'.join(PROTOCOLS),
        'GIT_SSH_COMMAND': 'ssh -oBatchMode=yes -oConnectTimeout=60 -oServerAliveInterval=20',
    }
