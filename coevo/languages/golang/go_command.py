"""The go command outside of sandboxes: it downloads modules and lists packages, and runs nothing of them.

It asks the proxy and the checksum database that this machine is set up for. It starts no version control
(`GOVCS`), no compiler of C, and no other toolchain than the one that is named.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.golang.toolchains import GoToolchain
from coevo.languages.golang.toolchains import module_cache
from coevo.model.errors import Transient
from coevo.storage.folders import cache_folder

_SECONDS = 1800
_TRIES, _PAUSE = 4, 2.0

# What says that a network, not a project, is at fault.
_TROUBLE = re.compile(
    r'dial tcp|i/o timeout|connection (reset|refused)|TLS handshake|no such host|unexpected EOF'
    r'|50[0234] |429 |network is unreachable|context deadline exceeded|INTERNAL_ERROR'
)
# What of a person's settings would change what is asked for.
_OURS = ('GOFLAGS', 'GOWORK', 'GOROOT', 'GOBIN', 'GO111MODULE', 'GOOS', 'GOARCH', 'GOEXPERIMENT')


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the command wrote, and whether it was content."""

    good: bool
    output: str
    complaint: str


def ask(
    toolchain: GoToolchain,
    words: Sequence[str],
    folder: Path,
    more: Mapping[str, str] | None = None,
) -> Said:
    """The command in a folder; trouble of the network is tried again, then Transient."""
    for number in range(_TRIES):
        done = subprocess.run(
            [toolchain.program, *words],
            cwd=folder,
            env=_environment(toolchain, folder, more or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding='utf-8',
            errors='replace',
            timeout=_SECONDS,
            check=False,
        )
        if not _TROUBLE.search(done.stderr if done.returncode else done.stderr + done.stdout):
            return Said(good=not done.returncode, output=done.stdout, complaint=done.stderr.strip())
        time.sleep(_PAUSE * 2**number)
    raise Transient(f'go cannot reach the module proxy: {done.stderr.strip()[-1000:]}')


def _environment(toolchain: GoToolchain, folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    module_cache().mkdir(mode=0o755, parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {
        **kept,
        'PWD': str(folder),
        'GOROOT': str(toolchain.home),
        'GOMODCACHE': str(module_cache()),
        'GOCACHE': str(cache_folder() / 'go' / 'listing'),
        'GOFLAGS': '-mod=mod',
        'GOWORK': 'off',
        'GOTOOLCHAIN': 'local',
        'GOVCS': '*:off',
        'CGO_ENABLED': '0',
        **more,
    }
