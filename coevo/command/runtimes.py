"""The verb `coevo runtimes`: which JDKs and interpreters are there, and bringing those that are not."""

from __future__ import annotations

import argparse
import re
import sys

from coevo.evaluation.verbs import with_extra
from coevo.languages.runtimes import Runtime
from coevo.languages.runtimes import Runtimes
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser(
        'runtimes',
        help='list what old revisions can be run with here, or install more',
        description='List the JDKs and interpreters that old revisions are built and run with.'
        ' `coevo runtimes install java 8 11` brings those that are missing into the tool cache; nothing'
        ' of the system is changed, and no root is needed.',
    )
    verb.set_defaults(run=with_extra(_list))
    actions = verb.add_subparsers(dest='action', metavar='ACTION')
    install = actions.add_parser('install', help='bring runtimes that are missing')
    install.add_argument('language', metavar='LANGUAGE', help='java')
    install.add_argument('releases', nargs='+', metavar='RELEASE', help='8 11 17 21 25')
    install.set_defaults(run=with_extra(_install))


def _list(arguments: argparse.Namespace) -> int:
    from coevo.languages.table import LANGUAGES

    for language in LANGUAGES:
        runtimes = _runtimes(language)
        for one in sorted(runtimes.known, key=_order):
            print(f'{language:<8}{one}')
        there = {one.release for one in runtimes.known}
        for release in runtimes.bringable:
            if release not in there:
                print(
                    f'{language:<8}{release:<4}missing; `coevo runtimes install {language} {release}` '
                    'brings it'
                )
    return 0


def _install(arguments: argparse.Namespace) -> int:
    runtimes = _runtimes(arguments.language, lambda line: print(line, file=sys.stderr))
    for release in dict.fromkeys(arguments.releases):
        print(f'{arguments.language:<8}{runtimes.bring(release)}')
    return 0


def _runtimes(language: str, say: Say = silent) -> Runtimes:
    from coevo.languages.table import LANGUAGES

    if language not in LANGUAGES:
        raise Fatal(f'{language} is none of the languages that are mined: {", ".join(LANGUAGES)}')
    return LANGUAGES[language].runtimes(say=say)


def _order(one: Runtime) -> tuple[list[int], str, str]:
    return [int(part) for part in re.findall(r'\d+', one.release)], one.version, str(one)
