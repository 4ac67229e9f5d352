"""Verbs and options of older versions, each with its replacement."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from coevo.model.errors import Fatal

_STEPS = ('crawl', 'validate', 'status', 'forecast', 'reverify', 'withdraw', 'publish', 'site')
_KINDS = ('regrade', 'merge', 'compare', 'contamination', 'statistics', 'identification')

_VERBS = {
    **{name: f'pipeline {name}' for name in _STEPS},
    **{name: f'report {name}' for name in _KINDS},
    'hydrate': 'get',
    'snapshots': 'query --list',
    'attempt': 'run',
    'jdks': 'doctor --install',
    'pythons': 'doctor --install',
}

_SETTINGS = {
    '--models': 'models',
    '--margin': 'margin_days',
    '--interleaved': 'interleaved',
    '--leaking': 'leaking',
    '--pit': 'pit',
    '--no-adequacy': 'adequacy = false',
    '--test-seconds': 'test_seconds',
    '--no-kit': 'kit = false',
    '--memory': 'memory_gib',
    '--max-seconds': 'max_seconds',
    '--harness': 'harness',
    '--measure': 'measure_runs',
    '--cells': 'all_cells = true',
    '--runtimes': 'bring_runtimes',
    '--jdks': 'bring_runtimes',
    '--retry-bugs': 'retry_bugs',
    '--split': 'split',
    '--seed': 'seed',
    '--without-size': 'match_size = false',
    '--cache': 'cache',
    '--local': 'local',
    '--grid': 'grid',
}
_OPTIONS = {
    '--after': '--only-after',
    '--before': '--only-before',
    '--track': '--only-track',
    '--family': '--only-family',
    '--tasks': '--only-tasks',
    '--walk': '--only-walk',
    '--repository': '--only-repository',
    '--model': '--only-unseen-by',
    '--agent-model': '--model',
    '--attempts': '--only-attempts',
}


# Options of `coevo attempt` for something that `coevo run` does without an option.
_GONE = {
    '--evaluate': '`coevo run` grades its answers into OUT/results without it',
}


def refuse_old_verb(words: Sequence[str]) -> None:
    """Raise Fatal, with the new words, if the first word is a verb of an older version."""
    if words and words[0] in _VERBS:
        raise Fatal(
            f'`coevo {words[0]}` is now `coevo {_VERBS[words[0]]}`; `coevo '
            f'{_VERBS[words[0]].partition(" --")[0]} --help` says more'
        )


def refuse_old_options(
    prog: str, words: Sequence[str], options: Collection[str], settings: Collection[str]
) -> None:
    """Raise Fatal, with the new option or setting, for an option of an older version.

    options, settings  those that the verb `prog` has, which keep their meaning
    """
    for word in words:
        name = word.partition('=')[0]
        if word == '--':
            return
        if name in options:
            continue
        if name in _SETTINGS and _SETTINGS[name].partition(' =')[0] in settings:
            raise Fatal(
                f'{name} is now the setting `{_SETTINGS[name]}` of --settings FILE; `{prog} '
                '--print-settings` writes such a file'
            )
        if name in _GONE and '--any-date' in options:
            raise Fatal(f'{name} no longer exists: {_GONE[name]}; see `{prog} --help`')
        if _OPTIONS.get(name) in options:
            raise Fatal(f'{name} is now {_OPTIONS[name]}; see `{prog} --help`')
