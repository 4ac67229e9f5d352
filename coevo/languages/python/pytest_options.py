"""Choose pytest's options: the project's own, without those that select tests or report."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.git.objects import LINK
from coevo.git.repository import TreeEntry
from coevo.languages.python import layout
from coevo.languages.python.collection import (
    SETTINGS,
    find_pytest_settings,
    is_below,
    list_folders_upwards,
    parse_settings,
)

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

# Options of a run as the developers start it: nothing is written, and results come over the
# channel alone.
_BESIDE_OWN = ('-p', 'no:cacheprovider', '--continue-on-collection-errors', *_SETTINGS)
_DROPPED_WITH_VALUE = frozenset(
    {
        '-n',
        '--numprocesses',
        '--dist',
        '--maxfail',
        '--cov-report',
        '--cov-config',
        '--cov-fail-under',
    }
    | {'--reruns', '--reruns-delay', '--html', '--junitxml', '--junit-xml'}
)
_DROPPED = (
    *('-n', '--numprocesses', '--dist', '--maxfail', '--cov', '--no-cov', '-x', '--exitfirst'),
    *('--reruns', '--html', '--junitxml', '--junit-xml', '--random', '--randomly', '--flake8'),
    *('--mypy', '--black', '--isort', '--pylint', '--ruff', '--codspeed', '--lf', '--ff', '--sw'),
    *('--last-failed', '--failed-first', '--stepwise', '--strict-config'),
)

# The project's own options that tests may need; all others are left out. Besides pytest's own they
# are those of pytest-asyncio, pytest-django, pytest-mpl, pytest-socket and pytest-recording that
# say what tests run with, and without which they fail, or compare nothing.
_KEPT = (
    *('--import-mode', '--strict', '-W', '--pythonwarnings', '--asyncio-mode', '--pyargs'),
    *('--ds=', '--dc=', '--nomigrations', '--no-migrations', '--mpl', '--block-network'),
    *('--disable-socket', '--allow-unix-socket', '--allow-hosts=', '--record-mode='),
)
_KEPT_WITH_VALUE = (
    *('-W', '--pythonwarnings', '--import-mode', '--asyncio-mode'),
    *('--ds', '--dc', '--allow-hosts', '--record-mode'),
)
# Reject settings of plugins that are not installed; write images in place of comparing them.
_NOT_KEPT = ('--strict-config', '--mpl-generate')


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestSettings:
    """The settings of pytest that apply to a module.

    folder   the folder of the settings file; the module's own if there is no file
    options  the words of `addopts`
    """

    folder: str
    options: tuple[str, ...] = ()


def find_module_settings(
    entries: Mapping[str, TreeEntry], read: Callable[[str], bytes], module: str
) -> PytestSettings:
    """Return the settings that pytest reads if it gets all test files of a module.

    It begins with the nearest folder around all of them, such as `tests`, and goes upwards. Plugins
    that settings above the module load by `-p` are left out: they need not be on its path.
    Symbolic links are skipped.

    entries  of the whole tree, by path
    read     returns the content of a file by its path
    module   its folder
    """
    paths = {path for path, entry in entries.items() if entry.mode != LINK}
    path = find_pytest_settings(
        list_folders_upwards(_find_folder_of_tests(paths, read, module)), paths, read
    )
    if path is None:
        return PytestSettings(folder=module)
    folder, name = posixpath.dirname(path) or '.', posixpath.basename(path)
    options = (parse_settings(name, read(path)) or {}).get('addopts', ())
    is_above = folder != module and not is_below(folder, module)
    kept = _drop_plugins(options) if is_above else tuple(options)
    return PytestSettings(folder=folder, options=kept)


def _find_folder_of_tests(paths: Collection[str], read: Callable[[str], bytes], module: str) -> str:
    """Return the nearest folder around all test files of a module, its own if it has none."""
    within = [path for path in paths if is_below(path, module)]
    if not any(
        posixpath.basename(path) in SETTINGS and (posixpath.dirname(path) or '.') != module
        for path in within
    ):
        return module  # no settings below it
    names = layout.find_test_file_names(paths, read)
    folders = {
        posixpath.dirname(path)
        for path in within
        if path.endswith('.py') and names.is_test_file(path)
    }
    return (posixpath.commonpath(folders) or '.') if folders else module


def _drop_plugins(options: Sequence[str]) -> tuple[str, ...]:
    words, kept = iter(options), list[str]()
    for word in words:
        if word == '-p':
            next(words, None)
        elif not word.startswith('-p'):
            kept.append(word)
    return tuple(kept)


def make_pytest_options(added: Sequence[str]) -> tuple[str, ...]:
    """Return the options of pytest for coevo's own runs.

    coevo's options come first. From the project's `addopts` only those follow that tests may need,
    such as `--import-mode` and `-W`.

    added  the words of `addopts`
    """
    return (*_OURS, *list_needed_options(added))


def list_needed_options(added: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the project's `addopts` that its tests may need."""
    return tuple(_keep_needed_options(added))


def make_developer_options(added: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the options for a run as the project's developers start it.

    All words of their `addopts` are kept, but those of plugins that are left out and those that
    stop the run early.
    """
    return (*_BESIDE_OWN, *_drop_unusable_options(added))


def _drop_unusable_options(options: Sequence[str]) -> Iterator[str]:
    words = iter(options)
    for word in words:
        if word in _DROPPED_WITH_VALUE:
            next(words, None)
        elif not word.startswith(_DROPPED):
            yield word


def _keep_needed_options(options: Sequence[str]) -> Iterator[str]:
    words = iter([str(option) for option in options])
    for word in words:
        if word == '-p':
            plugin = next(words, '')
            if not plugin.startswith('no:'):
                yield from ('-p', plugin)
        elif word.startswith('-p') and not word.startswith('-pno:') and len(word) > 2:
            yield word
        elif word in _KEPT_WITH_VALUE:
            yield from (word, next(words, ''))
        elif word.startswith(_KEPT) and not word.startswith(_NOT_KEPT):
            yield word
