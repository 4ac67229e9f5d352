"""Every command that a page shows is one: the parser takes it, and what is no coevo says why it is there.

Those of the tutorial are run as they stand, on a repository of toys in place of the demo's.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.command.main import build_parser
from flows import command_page
from packagers import dictionary
from tests.languages import toys
from tests.manual.pages import PAGES, ROOT, blocks, commands
from tests.projects import write

# What else pages tell people to type, and what stands for its being right.
OTHERS = {
    'make': 'its targets are asked of the Makefile below; make demo is tests/flows/test_demo.py',
    'git': 'Git itself, which the tutorial runs',
    'cd': 'the shell',
    'export': 'the shell',
    'mkdir': 'the shell',
    'sed': 'the edit of a person, of a file that the demo has',
    'pip': 'tests/test_project.py installs the wheel',
    'uv': 'tests/test_project.py installs the wheel',
    '.venv/bin/uv': 'tests/manual/test_recipes.py runs every cell of the notebook that it opens',
    'python3': 'a static server of the standard library',
}


def split(line: str) -> list[str]:
    """The words of the first command of a line, without variables of the environment before it."""
    words = shlex.split(line, comments=True)
    ends = [at for at, word in enumerate(words) if word in ('&&', '|', '>')]
    words = words[: ends[0]] if ends else words
    while words and re.match(r'\w+=', words[0]):
        words.pop(0)
    return words


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_shown_command_is_accepted_by_the_parser(page: Path) -> None:
    for line in commands(page):
        asked = re.search(r'\$\((coevo .*)\)$', line)
        words = split(asked[1] if asked else line)
        if words and words[0] == 'coevo':
            build_parser(words[1:]).parse_args(words[1:])
        else:
            assert not words or words[0] in OTHERS, line


def test_every_shown_make_target_exists() -> None:
    known = set(re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE))
    for page in PAGES:
        for line in commands(page):
            words = split(line)
            assert words[:1] != ['make'] or set(words[1:]) <= known, line


def test_the_generated_pages_are_current() -> None:
    """If it is not: make docs."""
    assert (ROOT / command_page.FILE).read_text() == command_page.render_page()
    assert (ROOT / dictionary.FILE).read_text() == dictionary.render_page()


OLD = {
    **toys.BUILD,
    **toys.source('Tariff', 'fee: 2'),
    **toys.tests('Tariff', 'charges: is Tariff.fee 2'),
}
NEW = {**toys.source('Tariff', 'fee: 3'), **toys.tests('Tariff', 'charges: is Tariff.fee 3')}


@pytest.mark.slow
def test_the_tutorial_commands_run_as_shown(tmp_path: Path) -> None:
    write(tmp_path / 'demo/java/repository', [OLD, NEW])
    shown = [
        block.text
        for heading in ('Mine', 'Release', 'Choose a task', 'Answer it', 'Grade it')
        for block in blocks(ROOT / 'docs/start.md', 'sh', under=heading)
    ]
    (edit,) = [text for text in shown if text.startswith('sed ')]
    instead = "sed -i 's/Tariff.fee 2/Tariff.fee 3/' work/test_tariff.toy\n"
    script = ''.join(instead if text is edit else text for text in shown)
    (tmp_path / 'bin').mkdir()
    command = tmp_path / 'bin/coevo'
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.languages.coevo_with_toy "$@"\n'
    )
    command.chmod(0o755)
    done = subprocess.run(
        ['bash', '-e', '-o', 'pipefail'],
        input=script,
        check=False,
        cwd=tmp_path,
        env={**os.environ, 'PATH': f'{command.parent}:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'snapshot: good' in done.stdout
    assert re.search(r'^success +100\.0%$', done.stdout, re.MULTILINE)
    assert '-charges: is Tariff.fee 2' in done.stdout
