"""The verb `coevo jdks`: which JDKs are there, and bringing those that are not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from collections.abc import Sequence

from coevo.languages.java.tools.jdks import Jdk
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser(
        'jdks',
        help='list the JDKs of this machine, or install more',
        description='List the JDKs that old revisions are built and run with. `coevo jdks install 8 11`'
        " brings Debian's packages of those that are missing into the tool cache; nothing of the"
        ' system is changed, and no root is needed.',
    )
    verb.set_defaults(run=_list)
    actions = verb.add_subparsers(dest='action', metavar='ACTION')
    install = actions.add_parser('install', help='bring JDKs that are missing')
    install.add_argument('features', nargs='+', type=int, metavar='FEATURE', help='8 11 17 21 25')
    install.set_defaults(run=_install)


def _list(arguments: argparse.Namespace) -> int:
    from coevo.languages.java.tools.jdks import find_jdks

    jdks = find_jdks()
    for jdk in sorted(jdks, key=lambda one: (one.feature, one.version, str(one.home))):
        print(jdk)
    for feature in _missing(jdks):
        print(f'{feature:<4}missing; `coevo jdks install {feature}` brings it')
    return 0


def _install(arguments: argparse.Namespace) -> int:
    from coevo.languages.java.tools.jdk_bundles import install_jdk
    from coevo.languages.java.tools.jdks import find_jdks

    for feature in dict.fromkeys(arguments.features):
        known = find_jdks()
        found = next((jdk for jdk in known if jdk.feature == feature), None)
        jdk = found or install_jdk(feature, lambda line: print(line, file=sys.stderr), known)
        print(jdk)
    return 0


def _missing(jdks: Sequence[Jdk]) -> Iterator[int]:
    from coevo.languages.java.tools.jdk_bundles import OFFERED

    there = {jdk.feature for jdk in jdks}
    return (feature for feature in OFFERED if feature not in there)
