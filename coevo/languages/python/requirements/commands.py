"""Read the packages that commands install, in CI files and Makefiles: by pip, uv, or nox."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from coevo.languages.python.requirements.stated import FILES

_FILLED_IN = re.compile(r'\$\{\{.*?\}\}')
_INSTALL = re.compile(r'\bpip3?(?:\.exe)?[ ]+install[ ]+([^\n&|;#]+)')
_UV_RUN = re.compile(r'\b(?:uvx|uv[ ]+run|uv[ ]+tool[ ]+run)[ ]+([^\n&|;#]+)')

# Options followed by a value that is not an installed package.
_WITH_A_WORD = frozenset(
    {'-c', '--constraint', '-f', '--find-links', '-i', '--index-url', '--extra-index-url', '-t'}
)
_INSTALLERS = frozenset({'pip', 'setuptools', 'wheel'})
_LISTS = ('-r', '--requirement')
_WITH = ('--with', '--with-requirements')


def list_command_packages(source: bytes) -> Iterator[str]:
    """Yield the requirements that `pip install` and `uv run --with` in a text name.

    Those with variables are left out. A list is yielded as the mark `FILES` and its path.
    """
    text = _FILLED_IN.sub('$', source.decode(errors='replace').replace('\\\n', ' '))
    for arguments in _INSTALL.findall(text):
        yield from list_installed_packages(_split_words(arguments))
    for arguments in _UV_RUN.findall(text):
        yield from _list_packages_beside(_split_words(arguments))


def list_installed_packages(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the requirements among the words that follow `pip install`.

    A list (`-r PATH`) is yielded as the mark `FILES` and its path. Options, words with variables,
    and pip itself are left out.
    """
    words = iter(arguments)
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


def _list_packages_beside(arguments: Iterable[str]) -> Iterator[str]:
    """Yield what `--with` and `--with-requirements` of `uv run` add to the environment."""
    words = iter(arguments)
    for word in words:
        option, _, value = word.partition('=')
        if option in _WITH:
            named = value or next(words, '')
            if '$' not in named:
                names = named.split(',') if option == '--with' else [FILES + named]
                yield from names


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # the command has an unbalanced quote that belongs to the YAML file
        return text.replace('"', ' ').replace("'", ' ').split()
