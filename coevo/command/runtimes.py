"""The verbs `coevo jdks` and `coevo pythons`, which list and install runtimes of old revisions."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from functools import partial

from coevo.evaluation.verbs import require_extra
from coevo.languages.runtimes import Runtime, Runtimes
from coevo.model.errors import Transient
from coevo.model.listener import Say, ignore_message
from coevo.options.parser import Parser


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeVerb:
    """A verb for the runtimes of a language.

    name  the language's `RUNTIME` in lower case with a plural s
    what  the runtimes' name in help texts
    """

    name: str
    language: str
    what: str
    example: str


_VERBS = (
    RuntimeVerb(name='jdks', language='java', what='JDKs', example='8 11 17 21 25'),
    RuntimeVerb(name='pythons', language='python', what='Python interpreters', example='3.8 3.12'),
)


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add both verbs to the command's parser."""
    for verb in _VERBS:
        _add_runtime_verb(verbs, verb)


def _add_runtime_verb(verbs: argparse._SubParsersAction[Parser], one: RuntimeVerb) -> None:
    verb = verbs.add_parser(
        one.name,
        help=f'list the {one.what} of this machine, or install more',
        example=f'coevo {one.name} install {one.example}',
        description=f'List the {one.what} that old revisions are built and run with.'
        f' `coevo {one.name} install {one.example}` brings those that are missing into the tool cache;'
        ' nothing of the system is changed, and no root is needed.',
    )
    verb.set_defaults(run=require_extra(partial(_list_runtimes, one)))
    actions = verb.add_subparsers(dest='action', metavar='ACTION')
    install = actions.add_parser('install', help=f'bring {one.what} that are missing')
    install.add_argument(
        'releases', nargs='+', metavar='RELEASE', help=f'which, such as {one.example}'
    )
    install.set_defaults(run=require_extra(partial(_install_runtimes, one)))


def _list_runtimes(verb: RuntimeVerb, arguments: argparse.Namespace) -> int:
    runtimes = _get_runtimes(verb)
    for runtime in sorted(runtimes.known, key=_make_sort_key):
        print(runtime)
    there = {runtime.release for runtime in runtimes.known}
    for release in runtimes.installable:
        if release not in there:
            print(f'{release:<4} missing; `coevo {verb.name} install {release}` brings it')
    return 0


def _install_runtimes(verb: RuntimeVerb, arguments: argparse.Namespace) -> int:
    runtimes = _get_runtimes(verb, lambda line: print(line, file=sys.stderr))
    refused: Transient | None = None
    for release in dict.fromkeys(arguments.releases):
        try:
            print(runtimes.install(release))
        except Transient as error:
            refused = refused or error  # other releases may still be installable
    if refused is not None:
        raise refused
    return 0


def _get_runtimes(verb: RuntimeVerb, say: Say = ignore_message) -> Runtimes:
    from coevo.languages.table import LANGUAGES

    return LANGUAGES[verb.language].make_runtimes(say=say)


def _make_sort_key(one: Runtime) -> tuple[list[int], str, str]:
    return [int(part) for part in re.findall(r'\d+', one.release)], one.version, str(one)
