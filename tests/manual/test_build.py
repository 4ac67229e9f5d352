"""The pages build without a warning: no link is broken, and only design notes are outside the contents."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.manual.pages import ROOT


def test_the_manual_builds_without_warnings(tmp_path: Path) -> None:
    """As `make docs` does, with all warnings at once."""
    words = ('-q', '-W', '--keep-going', '-b', 'html', '-d', str(tmp_path / 'read'))
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', *words, 'docs', str(tmp_path / 'manual')],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, '')
    index = (tmp_path / 'manual/index.html').read_text()
    assert 'Get started' in index
    assert 'internals/' not in index
    for note in (ROOT / 'docs/internals').rglob('*.md'):
        built = tmp_path / 'manual' / note.relative_to(ROOT / 'docs').with_suffix('.html')
        assert built.is_file()


def test_the_contents_list_fourteen_pages() -> None:
    index = (ROOT / 'docs/index.md').read_text()
    (contents,) = re.findall(r'^```\{toctree\}\n(.*?)^```$', index, re.MULTILINE | re.DOTALL)
    pages = [line for line in contents.splitlines() if re.fullmatch('[a-z]+', line)]
    assert len(pages) == 14
    assert all((ROOT / f'docs/{page}.md').is_file() for page in pages)
