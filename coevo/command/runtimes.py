"""The verbs `coevo jdks` and `coevo pythons`: what old revisions can be run with, and bringing more."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from functools import partial

from coevo.evaluation.verbs import with_extra
from coevo.languages.runtimes import Runtime
from coevo.languages.runtimes import Runtimes
from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.options.parser import Parser


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeVerb:
    """`name` is the language's `RUNTIME` in small letters, and an s."""

    name: str
    language: str
    what: str
    example: str


_VERBS = (
    RuntimeVerb(name='jdks', language='java', what='JDKs', example='8 11 17 21 25'),
    RuntimeVerb(name='pythons', language='python', what='Python interpreters', example='3.8 3.12'),
)


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    for one in _VERBS:
        _add(verbs, one)


def _add(verbs: argparse._SubParsersAction[Parser], one: RuntimeVerb) -> None:
    verb = verbs.add_parser(
        one.name,
        help=f'list the {one.what} of this machine, or install more',
        example=f'coevo {one.name} install {one.example}',
        description=f'List the {one.what} that old revisions are built and run with.'
        f' `coevo {one.name} install {one.example}` brings those that are missing into the tool cache;'
        ' nothing of the system is changed, and no root is needed.',
    )
    verb.set_defaults(run=with_extra(partial(_list, one)))
    actions = verb.add_subparsers(dest='action', metavar='ACTION')
    install = actions.add_parser('install', help=f'bring {one.what} that are missing')
    install.add_argument(
        'releases', nargs='+', metavar='RELEASE', help=f'which, such as {one.example}'
    )
    install.set_defaults(run=with_extra(partial(_install, one)))


def _list(verb: RuntimeVerb, arguments: argparse.Namespace) -> int:
    runtimes = _runtimes(verb)
    for one in sorted(runtimes.known, key=_order):
        print(one)
    there = {one.release for one in runtimes.known}
    for release in runtimes.bringable:
        if release not in there:
            print(f'{release:<4} missing; `coevo {verb.name} install {release}` brings it')
    return 0


def _install(verb: RuntimeVerb, arguments: argparse.Namespace) -> int:
    runtimes = _runtimes(verb, lambda line: print(line, file=sys.stderr))
    refused: Transient | None = None
    for release in dict.fromkeys(arguments.releases):
        try:
            print(runtimes.bring(release))
        except Transient as error:
            refused = refused or error  # the others may be had all the same
    if refused is not None:
        raise refused
    return 0


def _runtimes(verb: RuntimeVerb, say: Say = silent) -> Runtimes:
    from coevo.languages.table import LANGUAGES

    return LANGUAGES[verb.language].runtimes(say=say)


def _order(one: Runtime) -> tuple[list[int], str, str]:
    return [int(part) for part in re.findall(r'\d+', one.release)], one.version, str(one)
