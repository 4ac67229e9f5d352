"""The recipes of CONTRIBUTING.md, each done in a copy of the checkout as the page says.

A block whose first line names a file is that file, a diff is applied, a line of shell is run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.folders import open_folder
from tests.manual.pages import ROOT, Block, all_blocks

PAGE = ROOT / 'CONTRIBUTING.md'
WRITTEN = ['coevo/model/filter_reasons.toml', 'docs/schema.md']
"""What `make docs` writes of a filter."""

RECIPES = [
    pytest.param('Run one test', [], id='test'),
    pytest.param(
        'Add a filter',
        [
            'CHANGELOG.md',
            'filters/__init__.py',
            'filters/example.py',
            'tests/filters/test_example.py',
            *WRITTEN,
        ],
        id='filter',
        marks=pytest.mark.slow,
    ),
    pytest.param(
        'Add a column',
        [
            'CHANGELOG.md',
            'coevo/model/method_rows.py',
            'coevo/model/schema.py',
            'coevo/snapshots/rules.py',
            'docs/schema.md',
            'flows/rows.py',
            'tests/golden/methods.schema',
        ],
        id='column',
        marks=pytest.mark.slow,
    ),
    pytest.param(
        'Add a workaround for builds',
        [
            'CHANGELOG.md',
            'coevo/languages/java/maven/attempts.py',
            'tests/coevo/languages/java/maven/test_needless_plugins.py',
        ],
        id='workaround',
        marks=[pytest.mark.slow, pytest.mark.jvm],
    ),
    pytest.param(
        'Add a language',
        ['coevo/languages/pebble/', 'coevo/languages/table.py', 'tests/languages/specimens.py'],
        id='language',
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(('title', 'changed'), RECIPES)
def test_each_recipe_works_as_it_stands(title: str, changed: list[str]) -> None:
    with open_folder() as folder:
        checkout = _copy_checkout(folder / 'checkout')
        for block in all_blocks(_find_section(title)):
            _follow(checkout, block)
        status = _run(checkout, 'git status --porcelain').splitlines()
        assert sorted(line[3:] for line in status) == sorted(changed)


def test_every_recipe_of_the_page_is_tested() -> None:
    text = PAGE.read_text()
    recipes = text.partition('\n## Recipes\n')[2].partition('\n## ')[0]
    titles = re.findall(r'^### (.*)$', recipes, re.MULTILINE)
    first = re.findall(r'^## (.*)$', text, re.MULTILINE)[0]
    assert [first, *titles] == [str(recipe.values[0]) for recipe in RECIPES]


def test_every_function_and_file_that_the_page_names_exists() -> None:
    text = re.sub(r'^ *```.*?^ *```$', '', PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    spans = set(re.findall(r'`([^`\n]+)`', text))
    code = '\n'.join(
        path.read_text()
        for folder in ('coevo', 'filters', 'flows', 'miners', 'packagers', 'tests')
        for path in (ROOT / folder).rglob('*.py')
    )
    defined = set(re.findall(r'\bdef (\w+)|^(?:    )?(\w+) = ', code, re.MULTILINE))
    functions = {span[:-2] for span in spans if re.fullmatch(r'\w+\(\)', span)}
    assert functions - {name for pair in defined for name in pair} == set()
    files = {span for span in spans if re.fullmatch(r'[\w/]+/\w+\.(py|toml|md)', span)}
    assert {file for file in files if not _is_here(file)} == set()


def _is_here(file: str) -> bool:
    """Return whether a file is in the checkout, or in a folder of languages that the page is about."""
    return any(
        (ROOT / folder / file).is_file()
        for folder in ('', 'coevo/languages', 'coevo/languages/java')
    )


def _find_section(title: str) -> str:
    """Return the text of a recipe; the first one has a heading of its own, the others are below Recipes."""
    following = re.split(rf'^###? {title}\n', PAGE.read_text(), flags=re.MULTILINE)[1]
    return re.split(r'^###? ', following, flags=re.MULTILINE)[0]


def _copy_checkout(folder: Path) -> Path:
    """Copy what Git has of the checkout, as it is now; what is installed stays where it is."""
    listed = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split('\0')):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for name in ('.venv', '.tools'):
        (folder / name).symlink_to(ROOT / name)
    author = '-c user.name=tests -c user.email=tests@example.org'
    _run(folder, f'git init -q && git add -A && git {author} commit -qm all')
    return folder


def _follow(checkout: Path, block: Block) -> None:
    named = re.match(r'# (\S+/\S+)\n', block.text)
    if named:
        path = checkout / named[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text.removeprefix(named[0]))
    elif block.language == 'diff':
        # Counted anew, a diff would take the head of the next file for lines that go.
        for file in re.findall(r'^--- a/.*?(?=^--- a/|\Z)', block.text, re.MULTILINE | re.DOTALL):
            _run(checkout, 'git apply --recount --unidiff-zero -', file)
    else:
        assert block.language == 'sh', block.text
        # The installation is that of the checkout that is copied.
        _run(checkout, f'make() {{ command make --assume-old=setup "$@"; }}\n{block.text}')


def _run(folder: Path, script: str, given: str = '') -> str:
    words = {key: value for key, value in os.environ.items() if not key.startswith('PYTEST_')}
    done = subprocess.run(
        ['bash', '-e', '-o', 'pipefail', '-c', script],
        cwd=folder,
        input=given,
        env=words,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f'{script}\n{done.stdout}\n{done.stderr}'
    return done.stdout
