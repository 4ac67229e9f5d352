"""The parser that all verbs use, and the options that several of them share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coevo.model.errors import Fatal

if TYPE_CHECKING:
    from coevo.snapshots.cutoffs import Cutoff
import os
from collections.abc import Sequence

from coevo.sandboxes.names import BUBBLEWRAP, NAMES

# The wheel does not contain these verbs, but its help lists them.
PIPELINE_VERBS = {
    'crawl': 'look for candidates on GitHub',
    'mine': 'mine one repository into the store',
    'validate': 'prove that a repository can be mined',
    'reverify': 'run a sample of labels again',
    'release': 'write a snapshot of all that the store holds',
    'publish': 'put a snapshot in another place, whole or not at all',
    'site': 'write a static site over snapshots',
    'withdraw': 'leave a repository, pair or task out of releases to come',
    'status': 'say what the store holds, how far it is, and what is next',
    'forecast': 'say what a month and the backfill would cost',
}

Verb = Callable[[argparse.Namespace], int]


def suggest_extra(extra: str) -> str:
    """Return how to install an extra of the wheel, which no package index has."""
    wheel = f'coevo-{version("coevo")}-py3-none-any.whl[{extra}]'
    return (
        f"install the wheel with its extra: pip install '{wheel}' (`uv build --wheel` in a clone of "
        'coevo writes it into dist)'
    )


# The groups of verbs in `coevo --help`, by purpose.
GROUPS = {
    'read a snapshot': (
        'query',
        'show',
        'statistics',
        'identification',
        'verify',
        'hydrate',
        'snapshots',
    ),
    'score test patches': (
        'prompt',
        'checkout',
        'evaluate',
        'attempt',
        'compare',
        'merge',
        'regrade',
        'contamination',
        'submit',
    ),
    'make a snapshot': (
        'crawl',
        'validate',
        'mine',
        'status',
        'forecast',
        'reverify',
        'withdraw',
        'release',
        'publish',
        'site',
    ),
    'look after this machine': ('doctor', 'jdks', 'pythons'),
}


class _HelpFormatter(argparse.HelpFormatter):
    """Appends the default to the help of an option, unless the text already states it."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = action.help or ''
        takes_a_value = bool(action.option_strings) and action.nargs != 0
        given = action.default is not None and action.default != []
        if takes_a_value and given and 'default: ' not in text:
            return f'{text} (default: %(default)s)'
        return text


class Parser(argparse.ArgumentParser):
    """A parser that reports invalid arguments as Fatal, in one sentence.

    example  a working command line, shown at the end of the help
    """

    # An optional argument that may also come after the options, where argparse does not accept it.
    late: str | None = None

    def __init__(self, *, example: str = '', **options: Any) -> None:
        super().__init__(**{'formatter_class': _HelpFormatter, **options})
        self.example = example

    def format_help(self) -> str:
        """Return the help, with the example at its end."""
        end = f'\nexample:\n  {self.example}\n' if self.example else ''
        return super().format_help() + end

    def error(self, message: str) -> NoReturn:
        """Raise Fatal with argparse's message."""
        raise Fatal(f'{message}; see `{self.prog} --help`')

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as argparse does, and accept the argument `late` after the options."""
        parsed, rest = super().parse_known_args(args, namespace)
        if (
            self.late
            and len(rest) == 1
            and getattr(parsed, self.late) is None
            and rest[0][:1] != '-'
        ):
            setattr(parsed, self.late, to_unicode(rest.pop()))
        return parsed, rest


class TopParser(Parser):
    """The parser of `coevo` itself, whose help lists the verbs in groups."""

    def __init__(self, **options: Any) -> None:
        super().__init__(usage='coevo [-h] [--version] VERB ...', **options)
        self.verbs: argparse._SubParsersAction[Parser] = self.add_subparsers(
            dest='verb',
            metavar='VERB',
            required=True,
            prog='coevo',
            help=argparse.SUPPRESS,
            parser_class=Parser,
        )

    def format_help(self) -> str:
        """Return the help, with the verbs in groups."""
        texts = {action.dest: action.help or '' for action in self.verbs._get_subactions()}
        placed = {verb for verbs in GROUPS.values() for verb in verbs}
        groups = {**GROUPS, 'others': [verb for verb in texts if verb not in placed]}
        lines = []
        for title, verbs in groups.items():
            known = [verb for verb in verbs if verb in texts]
            lines += ['', f'{title}:'] if known else []
            lines += [f'  {verb:<15} {texts[verb]}' for verb in known]
        overview = '\n'.join(lines)
        return f'{super().format_help().rstrip()}\n{overview}\n\n`coevo VERB --help` says more, with an example.\n'


def add_snapshot(verb: Parser) -> None:
    """Add the positional argument `snapshot`."""
    verb.add_argument('snapshot', help='a folder, a .zip, or a URL of https:// or s3://')


def add_cutoff(verb: Parser) -> None:
    """Add the options that limit rows to what became public after or before a date."""
    which = verb.add_mutually_exclusive_group()
    which.add_argument('--after', metavar='DATE', help='only what was public later than DATE')
    which.add_argument('--model', metavar='NAME', help="only what is later than a model's cutoff")
    verb.add_argument(
        '--before', metavar='DATE', help='only what was public before DATE, a day or month, began'
    )
    verb.add_argument('--models', type=Path, metavar='FILE', help='more cutoffs of models (TOML)')
    verb.add_argument(
        '--margin', type=int, default=0, metavar='DAYS', help='so many days later still'
    )


def parse_cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Return the cutoff that the options ask for; None if there is no limit.

    Raises: Fatal for a margin or a file of models without a cutoff, which would have no effect.
    """
    from coevo.snapshots.models import choose_cutoff

    return choose_cutoff(
        after=arguments.after,
        before=arguments.before,
        model=arguments.model,
        margin=arguments.margin,
        models=arguments.models,
    )


def add_jobs(verb: argparse.ArgumentParser) -> None:
    """Add the option --jobs."""
    verb.add_argument(
        '--jobs',
        type=parse_positive,
        default=os.cpu_count() or 1,
        metavar='N',
        help='how many at once (default: one for each processor)',
    )


def add_sandbox(verb: argparse.ArgumentParser, names: Sequence[str] = NAMES) -> None:
    """Add the option --sandbox with these choices."""
    verb.add_argument(
        '--sandbox', choices=names, default=BUBBLEWRAP, help='what confines the code that is run'
    )


def to_unicode(word: str) -> str:
    """Return an argument decoded as UTF-8, whatever the locale is.

    Raises: Fatal if it is not UTF-8.
    """
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        raise Fatal(f'{word!r} is not UTF-8; write it so') from None


def parse_positive(text: str) -> int:
    """Return a positive number, as a type for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 1 on')
    return int(text)
