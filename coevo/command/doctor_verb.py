"""The verb `coevo doctor`: what this machine has, and runtimes of old revisions that it lacks."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from coevo.evaluation.verbs import require_extra
from coevo.languages.runtimes import Runtime, Runtimes
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message
from coevo.options.parser import Parser

LANGUAGES_BY_WORD = {'jdk': 'java', 'python': 'python'}
"""The languages with runtimes to install, by the word before the release."""


def add_doctor_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `doctor` to the command's parser."""
    doctor = verbs.add_parser(
        'doctor',
        help='check this machine and say how to fix what is missing',
        description='Checks whether this machine has what coevo needs, and says how to install what is '
        'missing. Exit status 1 if something required is missing. Old revisions need their '
        'own JDKs and Python interpreters: --install lists them, or installs the named ones '
        'into the tool cache. It changes nothing else and does not need root.',
        example='coevo doctor --install jdk-21 python-3.12',
    )
    doctor.add_argument(
        '--install',
        nargs='*',
        metavar='RUNTIME',
        help='install these runtimes, such as jdk-21 or python-3.12; without a name, list all',
    )
    doctor.set_defaults(run=_run_doctor)


def _run_doctor(arguments: argparse.Namespace) -> int:
    if arguments.install is None:
        return _print_findings()
    return require_extra(
        _print_known_and_missing_runtimes if not arguments.install else _install_runtimes
    )(arguments)


def _print_findings() -> int:
    from coevo.command.doctor import examine_machine

    findings = examine_machine()
    for finding in findings:
        print(finding)
    return 1 if any(check.needed and not check.good for check in findings) else 0


def _print_known_and_missing_runtimes(arguments: argparse.Namespace) -> int:
    for word, language in LANGUAGES_BY_WORD.items():
        runtimes = _make_runtimes(language)
        for runtime in sorted(runtimes.known, key=_make_sort_key):
            print(f'{word:<7}{runtime}')
        there = {runtime.release for runtime in runtimes.known}
        for release in runtimes.installable:
            if release not in there:
                brings = f'`coevo doctor --install {word}-{release}` installs it'
                print(f'{word:<7}{release:<4} missing; {brings}')
    return 0


def _install_runtimes(arguments: argparse.Namespace) -> int:
    """Install all named runtimes, even if one of them fails, and print where they are.

    Raises: Transient, at the end, if one of them failed.
    """
    wanted = _parse_runtime_names(arguments.install)
    runtimes = {
        word: _make_runtimes(LANGUAGES_BY_WORD[word], lambda line: print(line, file=sys.stderr))
        for word in dict.fromkeys(word for word, _ in wanted)
    }
    refused: Transient | None = None
    for word, release in wanted:
        try:
            print(runtimes[word].install(release))
        except Transient as error:
            refused = refused or error  # other releases may still be installable
    if refused is not None:
        raise refused
    return 0


def _parse_runtime_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return (`jdk`, `21`) for `jdk-21`, and the like for each name, each once.

    Raises: Fatal for a name of another form or language.
    """
    parts = dict.fromkeys(name.partition('-')[::2] for name in names)
    for (word, release), name in zip(parts, dict.fromkeys(names), strict=True):
        if word not in LANGUAGES_BY_WORD or not release:
            raise Fatal(
                f'--install takes names such as jdk-21 and python-3.12, not {name!r}; without '
                'a name it lists all'
            )
    return list(parts)


def _make_runtimes(language: str, say: Say = ignore_message) -> Runtimes:
    from coevo.languages.table import LANGUAGES

    return LANGUAGES[language].make_runtimes(say=say)


def _make_sort_key(runtime: Runtime) -> tuple[list[int], str, str]:
    numbers = [int(part) for part in re.findall(r'\d+', runtime.release)]
    return numbers, runtime.version, str(runtime)
