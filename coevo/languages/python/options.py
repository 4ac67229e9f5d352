"""How pytest is started: with the project's own settings, less what would run other tests or report."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence

from coevo.languages.python.requirements.ini_files import parse_sections

# Without plugins that reorder, repeat or spread tests, and without what is kept between runs. pytest 3
# overlooks what is written as one word (`-pno:xdist`).
BLOCKED = tuple(
    word
    for name in ('cacheprovider', 'randomly', 'xdist', 'rerunfailures', 'flaky')
    for word in ('-p', f'no:{name}')
)
# Plugins that a project requires by name may be among those that are left out.
_SETTINGS = ('-o', 'addopts=', '-o', 'required_plugins=')
_OURS = ('-q', '--continue-on-collection-errors', *_SETTINGS, *BLOCKED)

# Of a project's own options those that tests may need; all others are left out.
_KEPT = ('--import-mode', '--strict', '-W', '--pythonwarnings', '--asyncio-mode', '--pyargs')
# Refuses settings of plugins that are not here.
_OF_ALL_PLUGINS = '--strict-config'

# Where pytest looks for its settings, in its order, and the section there.
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
    """read  the content of a file of the module's folder, None where there is none"""
    return (*_OURS, *_filter_options(_load_added_options(read)))


def _load_added_options(read: Read) -> Sequence[str]:
    """What the first file with settings of pytest's adds to each command."""
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
