"""What continuous integration installs before it runs the tests: `pip install` in its files.

Some projects say nowhere else that tests need an extra (`pip install .[arrays,test]`), or a package at all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from coevo.languages.python.requirements.stated import FILES, StatedRequirements

_FILE = re.compile(r'\.github/workflows/[^/]+\.ya?ml|\.travis\.ya?ml')
_RUNS_TESTS = re.compile(r'pytest|py\.test|unittest')
_FILLED_IN = re.compile(r'\$\{\{.*?\}\}')
_INSTALL = re.compile(r'\bpip3?(?:\.exe)?[ ]+install[ ]+([^\n&|;#]+)')

# Options with a word of their own that says nothing of what is installed.
_WITH_A_WORD = frozenset(
    {'-c', '--constraint', '-f', '--find-links', '-i', '--index-url', '--extra-index-url', '-t'}
)
_INSTALLERS = frozenset({'pip', 'setuptools', 'wheel'})
_LISTS = ('-r', '--requirement')


def is_workflow(path: str) -> bool:
    """By a path below the root of the repository."""
    return _FILE.fullmatch(path) is not None


def parse_workflow(source: bytes) -> StatedRequirements:
    """For tests, what a file installs that runs any; what it fills in from elsewhere is left out."""
    text = _FILLED_IN.sub('$', source.decode(errors='replace').replace('\\\n', ' '))
    if not _RUNS_TESTS.search(text):
        return StatedRequirements()
    lines = tuple(
        line for arguments in _INSTALL.findall(text) for line in _list_installed(arguments)
    )
    return StatedRequirements(groups={'tests': tuple(dict.fromkeys(lines))})


def _list_installed(text: str) -> Iterator[str]:
    words = iter(_split_words(text))
    for word in words:
        if '$' in word or '{' in word:
            continue
        if word in _WITH_A_WORD:
            next(words, None)
        elif word in _LISTS:
            yield FILES + next(words, '')
        elif word.startswith('-r'):
            yield FILES + word.removeprefix('-r')
        elif not word.startswith('-') and word not in _INSTALLERS:
            yield word


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote of the file around the command
        return text.replace('"', ' ').replace("'", ' ').split()
