"""The modules that pages for contributors name are those of the checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.manual.pages import ROOT

PAGES = (
    ROOT / 'ARCHITECTURE.md',
    ROOT / 'CONTRIBUTING.md',
    *sorted((ROOT / 'docs/internals').rglob('*.md')),
)
# Names of files in mined projects, and a placeholder.
ELSEWHERE = {'setup.py', 'conftest.py', 'coevo/languages/WING/fixes.py'}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    listed = subprocess.run(
        ['git', 'ls-files', '*.py'], cwd=ROOT, check=True, capture_output=True, text=True
    )
    known = ['/' + path for path in listed.stdout.splitlines()]
    named = set(re.findall(r'`([\w/.-]+\.py)`', page.read_text())) - ELSEWHERE
    missing = [name for name in named if not any(path.endswith('/' + name) for path in known)]
    assert missing == []
