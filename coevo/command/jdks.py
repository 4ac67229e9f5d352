"""The verb `coevo jdks`: which JDKs are there, and bringing those that are not."""

from __future__ import annotations

import argparse
import sys

from coevo.evaluation.verbs import with_extra
from coevo.languages.runtimes import Runtimes
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser(
        'jdks',
        help='list the JDKs of this machine, or install more',
        description='List the JDKs that old revisions are built and run with. `coevo jdks install 8 11`'
        " brings Debian's packages of those that are missing into the tool cache; nothing of the"
        ' system is changed, and no root is needed.',
    )
    verb.set_defaults(run=with_extra(_list))
    actions = verb.add_subparsers(dest='action', metavar='ACTION')
    install = actions.add_parser('install', help='bring JDKs that are missing')
    install.add_argument('features', nargs='+', type=int, metavar='FEATURE', help='8 11 17 21 25')
    install.set_defaults(run=with_extra(_install))


def _list(arguments: argparse.Namespace) -> int:
    runtimes = _runtimes()
    for jdk in sorted(runtimes.known, key=lambda one: (int(one.release), one.version, str(one))):
        print(jdk)
    there = {jdk.release for jdk in runtimes.known}
    for release in runtimes.bringable:
        if release not in there:
            print(f'{release:<4}missing; `coevo jdks install {release}` brings it')
    return 0


def _install(arguments: argparse.Namespace) -> int:
    runtimes = _runtimes(lambda line: print(line, file=sys.stderr))
    for feature in dict.fromkeys(arguments.features):
        print(runtimes.bring(str(feature)))
    return 0


def _runtimes(say: Say = silent) -> Runtimes:
    from coevo.languages.table import LANGUAGES

    return LANGUAGES['java'].runtimes(say=say)
