"""Choose pytest's options: the project's own, without those that select tests or report."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence

from coevo.languages.python.requirements.ini_files import parse_sections

# Block plugins that reorder, repeat or distribute tests, and the cache between runs. Two words
# each: pytest 3 overlooks the form `-pno:xdist`.
BLOCKED = tuple(
    word
    for name in ('cacheprovider', 'randomly', 'xdist', 'rerunfailures', 'flaky')
    for word in ('-p', f'no:{name}')
)
# A project may require plugins by name that are left out.
_SETTINGS = ('-o', 'addopts=', '-o', 'required_plugins=')
_OURS = ('-q', '--continue-on-collection-errors', *_SETTINGS, *BLOCKED)

# The project's own options that tests may need; all others are left out.
_KEPT = ('--import-mode', '--strict', '-W', '--pythonwarnings', '--asyncio-mode', '--pyargs')
# Rejects settings of plugins that are not installed.
_OF_ALL_PLUGINS = '--strict-config'

# The settings files in the order in which pytest looks for them, with the section.
_PLACES = (
    ('pytest.ini', 'pytest'),
    ('.pytest.ini', 'pytest'),
    ('pyproject.toml', ''),
    ('tox.ini', 'pytest'),
    ('setup.cfg', 'tool:pytest'),
)

SETTINGS = tuple(name for name, _ in _PLACES)

Read = Callable[[str], bytes | None]


def make_pytest_options(read: Read) -> tuple[str, ...]:
    """Return the options for pytest.

    read  returns the content of a file in the module's folder, None if there is none
    """
    return (*_OURS, *_filter_options(_load_added_options(read)))


def _load_added_options(read: Read) -> Sequence[str]:
    """Return the `addopts` of the first file with settings for pytest."""
    for name, section in _PLACES:
        source = read(name)
        if source is None:
            continue
        settings = (
            _parse_toml_settings(source) if not section else parse_sections(source).get(section)
        )
        if settings is None:
            continue
        added = settings.get('addopts', '')
        try:
            return added if isinstance(added, list) else shlex.split(str(added), comments=True)
        except ValueError:
            return ()
    return ()


def _parse_toml_settings(source: bytes) -> dict[str, object] | None:
    try:
        tool = tomllib.loads(source.decode(errors='replace')).get('tool', {})
        table = tool['pytest']
        return dict(table.get('ini_options', table))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError):
        return None


def _filter_options(options: Sequence[str]) -> Iterator[str]:
    words = iter([str(option) for option in options])
    for word in words:
        if word == '-p':
            plugin = next(words, '')
            if not plugin.startswith('no:'):
                yield from ('-p', plugin)
        elif word.startswith('-p') and not word.startswith('-pno:') and len(word) > 2:
            yield word
        elif word in ('-W', '--pythonwarnings', '--import-mode', '--asyncio-mode'):
            yield from (word, next(words, ''))
        elif word.startswith(_KEPT) and word != _OF_ALL_PLUGINS:
            yield word
