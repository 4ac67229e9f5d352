"""axe-core, which finds what keeps people from using a page: contrast, names, roles, landmarks.

npm brings it on first use, with the checksum of the lock beside this file; only tests of the page in a
browser ask for it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.browser import Browser

_HERE = Path(__file__).parent
_SCRIPT = _HERE / 'node_modules' / 'axe-core' / 'axe.min.js'
_CERTIFICATES = Path('/etc/ssl/certs/ca-certificates.crt')
# What WCAG 2.2 asks for at the levels A and AA, https://www.w3.org/TR/WCAG22/, and good practice.
_TAGS = ('wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice')


def violations(page: Browser) -> list[str]:
    """What is wrong on the page as it is shown: the rule, and the first element that breaks it."""
    # The browser calls what it is given a function's body: the script leaves `axe` on the window.
    page.script(_source())
    found: dict[str, Any] = page.script(
        'return window.axe.run(document, {runOnly: arguments[0], resultTypes: ["violations"]})',
        list(_TAGS),
    )
    return [f'{one["id"]}: {one["nodes"][0]["html"][:200]}' for one in found['violations']]


def _source() -> str:
    if not _SCRIPT.is_file():
        environment = {**os.environ}
        if _CERTIFICATES.is_file():
            environment.setdefault('NODE_EXTRA_CA_CERTS', str(_CERTIFICATES))
        command = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
        subprocess.run(command, check=True, cwd=_HERE, env=environment)
    return _SCRIPT.read_text(encoding='utf-8')
