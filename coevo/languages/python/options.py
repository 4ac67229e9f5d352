"""Choose pytest's options: the project's own, without those that select tests or report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from coevo.languages.python.reading.collection import SETTINGS, parse_settings

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

# The project's own options that tests may need; all others are left out.
_KEPT = ('--import-mode', '--strict', '-W', '--pythonwarnings', '--asyncio-mode', '--pyargs')
# Rejects settings of plugins that are not installed.
_OF_ALL_PLUGINS = '--strict-config'

Read = Callable[[str], bytes | None]


def make_pytest_options(read: Read) -> tuple[str, ...]:
    """Return the options of pytest for coevo's own runs.

    coevo's options come first. From the project's `addopts` only those follow that tests may need,
    such as `--import-mode` and `-W`.

    read  returns the content of a file in the module's folder, None if there is none
    """
    return (*_OURS, *_keep_needed_options(_load_added_options(read)))


def make_developer_options(read: Read | None = None) -> tuple[str, ...]:
    """Return the options for a run as the project's developers start it.

    All options in their `addopts` are kept, but those of plugins that are left out and those that
    stop the run early.

    read  as in `make_pytest_options`; without it the developers have none
    """
    return (*_BESIDE_OWN, *(_drop_unusable_options(_load_added_options(read)) if read else ()))


def _drop_unusable_options(options: Sequence[str]) -> Iterator[str]:
    words = iter(options)
    for word in words:
        if word in _DROPPED_WITH_VALUE:
            next(words, None)
        elif not word.startswith(_DROPPED):
            yield word


def _load_added_options(read: Read) -> Sequence[str]:
    """Return the words of `addopts` in the first file that applies to pytest; () if it has none."""
    for name in SETTINGS:
        source = read(name)
        settings = parse_settings(name, source) if source is not None else None
        if settings is not None:
            return settings.get('addopts', ())
    return ()


def _keep_needed_options(options: Sequence[str]) -> Iterator[str]:
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
