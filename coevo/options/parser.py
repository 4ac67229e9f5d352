"""The parser that all verbs use, and the options that several of them share."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coevo.model.errors import Fatal
from coevo.options.renamed import refuse_old_options, refuse_old_verb
from coevo.options.settings import PrintSettings, Setting, load_settings, render_default_settings
from coevo.sandboxes.names import BUBBLEWRAP, NAMES

if TYPE_CHECKING:
    from coevo.snapshots.cutoffs import Cutoff

# The wheel does not contain these verbs, but its help lists them.
PIPELINE_VERBS = {
    'mine': 'mine one repository into a store',
    'release': 'write a snapshot from a store',
}
# Those of `coevo pipeline VERB`, for which the same holds.
PIPELINE_STEPS = {
    'crawl': 'find candidate repositories on GitHub',
    'validate': 'check that a repository can be mined',
    'rank': 'order repositories by what would be run of them',
    'status': 'print what a store contains, how far it is, and what to do next',
    'pack': 'write a store without the code of the mined projects',
    'unpack': 'make a store of a pack and of clones',
    'measure': 'run mutants and undone changes of tasks that were mined',
    'forecast': 'estimate the cost of a month and of the backfill',
    'reverify': 'run a sample of labels again to check them',
    'withdraw': 'remove a repository, pair or task from future releases',
    'publish': 'copy a snapshot to another place, completely or not at all',
    'site': 'write a static web site about snapshots',
}
PIPELINE = 'pipeline'

Verb = Callable[[argparse.Namespace], int]


def suggest_extra(extra: str) -> str:
    """Return a sentence part that says how to install an extra of the wheel with pip.

    No package index has the wheel.
    """
    from importlib.metadata import version  # a tenth of a second that most commands do not need

    return (
        f"install the wheel with its extra: pip install 'coevo-{version('coevo')}-py3-none-any.whl[{extra}]' "
        '(`uv build --wheel` in a clone of coevo writes it into dist)'
    )


# The groups of verbs in `coevo --help`, by purpose.
GROUPS = {
    'read a snapshot': ('get', 'query', 'show', 'verify'),
    'score test patches': ('prompt', 'checkout', 'run', 'evaluate', 'report', 'submit'),
    'train, or score elsewhere': ('export', 'images'),
    'make a snapshot': (*PIPELINE_VERBS, PIPELINE),
    'check this machine': ('doctor',),
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
    # The action that the first word chooses, if the word is no action: `coevo report RESULTS`.
    usual_action: str | None = None

    def __init__(self, *, example: str = '', **options: Any) -> None:
        super().__init__(**{'formatter_class': _HelpFormatter, 'allow_abbrev': False, **options})
        self.example = example
        self.settings: tuple[Setting, ...] = ()

    def add_settings(self, *settings: Setting) -> None:
        """Add rare options, which `--settings FILE` reads and `--print-settings` writes.

        The first call also adds these two options.
        """
        if not self.settings:
            self.add_argument(
                '--settings',
                type=Path,
                metavar='FILE',
                help='rare options, in a TOML file; --print-settings writes one',
            )
            self.add_argument(
                '--print-settings',
                action=PrintSettings,
                render=lambda: render_default_settings(self.settings, self.prog),
                help='write a settings file with all defaults to standard output',
            )
        self.settings += settings

    def format_help(self) -> str:
        """Return the help, with the example at its end."""
        end = f'\nexample:\n  {self.example}\n' if self.example else ''
        return super().format_help() + end

    def error(self, message: str) -> NoReturn:
        """Raise Fatal with argparse's message."""
        raise Fatal(f'{message}; see `{self.prog} --help`')

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as argparse does.

        Accept the argument `late` after the options, choose the usual action, and read settings.

        Raises: Fatal for an old word or option, for one that is nearly an option, and for a
        settings file that is not valid.
        """
        words = list(sys.argv[1:] if args is None else args)
        is_leaf = not any(
            isinstance(action, argparse._SubParsersAction) for action in self._actions
        )
        own = words if is_leaf else list(takewhile(lambda word: word.startswith('-'), words))
        if is_leaf:
            settings = [setting.name for setting in self.settings]
            refuse_old_options(self.prog, words, self._option_string_actions, settings)
        _refuse_near_options(self.prog, own, self._option_string_actions)
        parsed, rest = super().parse_known_args(self._insert_usual_action(words), namespace)
        self._apply_settings(parsed)
        if (
            self.late
            and len(rest) == 1
            and getattr(parsed, self.late) is None
            and rest[0][:1] != '-'
        ):
            setattr(parsed, self.late, to_unicode(rest.pop()))
        if rest and is_leaf:  # here, since the help of this verb has the right word
            self.error(f'unrecognized arguments: {" ".join(rest)}')
        return parsed, rest

    def _insert_usual_action(self, words: list[str]) -> list[str]:
        """Return the words with the usual action before them, if the first word is no action.

        Example: `coevo report RESULTS` becomes `coevo report evaluation RESULTS`.
        """
        if self.usual_action is None or not words or words[0][:1] == '-':
            return words
        choices = (a.choices for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return words if words[0] in next(choices) else [self.usual_action, *words]

    def _apply_settings(self, parsed: argparse.Namespace) -> None:
        if not self.settings:
            return
        for setting in self.settings:
            setattr(parsed, setting.name, setting.default)
        if parsed.settings is not None:
            values = load_settings(parsed.settings, self.settings, self.prog)
            for name, value in values.items():
                setattr(parsed, name, value)


def _refuse_near_options(prog: str, words: Sequence[str], options: Collection[str]) -> None:
    """Raise Fatal for a long option that is unknown, but a beginning of one or a misspelling.

    Abbreviations are refused, since a new option would change what they mean. The error names the
    options that were likely meant. Other unknown options are left to argparse.
    """
    for word in words:
        name = word.partition('=')[0]
        if word == '--':
            return
        if not name.startswith('--') or name in options or ' ' in name:
            continue
        begun = sorted(option for option in options if option.startswith(name))
        if near := begun or difflib.get_close_matches(name, options, n=1, cutoff=0.8):
            raise Fatal(
                f'{name} is no option of `{prog}`, which takes none shortened; is '
                f'{" or ".join(near)} meant? See `{prog} --help`'
            )


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

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as `Parser` does. Raises: Fatal, too, for a verb of older versions."""
        words = list(sys.argv[1:] if args is None else args)
        refuse_old_verb(words)
        return super().parse_known_args(words, namespace)

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


def add_snapshot_argument(verb: Parser) -> None:
    """Add the positional argument `snapshot`."""
    verb.add_argument(
        'snapshot',
        help='a month of this folder, such as 2026-07, the word `latest`, a folder, a .zip, or a URL of '
        'https:// or s3://',
    )


def add_cutoff_options(verb: Parser) -> None:
    """Add the options that limit rows to what became public after or before a date."""
    which = verb.add_mutually_exclusive_group()
    which.add_argument(
        '--only-after', dest='after', metavar='DATE', help='only rows that became public after DATE'
    )
    which.add_argument(
        '--only-unseen-by',
        dest='unseen_by',
        metavar='MODEL',
        help="only rows that became public after a model's training cutoff",
    )
    verb.add_argument(
        '--only-before',
        dest='before',
        metavar='DATE',
        help='only rows that were public before DATE (a day or month) began',
    )
    verb.add_settings(*CUTOFF_SETTINGS)


CUTOFF_SETTINGS = (
    Setting(
        name='models',
        kind=Path,
        example='models.toml',
        help='a TOML file with more training cutoffs of models',
    ),
    Setting(
        name='margin_days',
        kind=int,
        default=0,
        least=0,
        help='days to add to a cutoff, as a safety margin',
    ),
)


def parse_cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Return the cutoff that the options ask for; None if there is no limit.

    Raises: Fatal for a margin or a file of models without a cutoff, which would have no effect.
    """
    from coevo.snapshots.cutoffs import choose_cutoff

    return choose_cutoff(
        after=arguments.after,
        before=arguments.before,
        model=arguments.unseen_by,
        margin=arguments.margin_days,
        models=arguments.models,
    )


def refuse_options_without(arguments: argparse.Namespace, needed: str, *options: str) -> None:
    """Raise Fatal if one of the options is given without the one that it needs.

    Options are named as on the command line, and settings by their key.
    """
    if _is_given(arguments, needed):
        return
    for option in options:
        if _is_given(arguments, option):
            raise Fatal(f'{option} has no effect without {needed}; give both, or leave it out')


def refuse_options_beside(arguments: argparse.Namespace, chosen: str, *options: str) -> None:
    """Raise Fatal if `chosen` and one of the options are both given: the option has no effect then.

    Options are named as on the command line, and settings by their key.
    """
    if not _is_given(arguments, chosen):
        return
    for option in options:
        if _is_given(arguments, option):
            raise Fatal(f'{option} has no effect beside {chosen}; leave one of them out')


def _is_given(arguments: argparse.Namespace, option: str) -> bool:
    value = getattr(arguments, option.removeprefix('--').removeprefix('only-').replace('-', '_'))
    return value is not None and value is not False and value != []


def add_clones_option(verb: argparse.ArgumentParser) -> None:
    """Add the option --clones, which older versions called --store."""
    verb.add_argument(
        '--clones',
        '--store',
        type=Path,
        metavar='DIR',
        help='a folder whose clones are used: a store, or your own clones, named OWNER/NAME, '
        'OWNER/NAME.git or OWNER+NAME.git (default: coevo fetches from the URLs of the repositories)',
    )


def check_clones(folder: Path | None) -> Path | None:
    """Return the folder of --clones.

    Raises: Fatal if it does not exist, since all clones would be fetched without notice.
    """
    if folder is not None and not folder.is_dir():
        raise Fatal(
            f'{folder} is not a folder; give --clones a store, or a folder with clones named OWNER/NAME'
        )
    return folder


def add_jobs_option(verb: argparse.ArgumentParser) -> None:
    """Add the option --jobs."""
    verb.add_argument(
        '--jobs',
        type=parse_positive,
        default=os.cpu_count() or 1,
        metavar='N',
        help='how many run at the same time (default: one for each processor)',
    )


def add_sandbox_option(verb: argparse.ArgumentParser, names: Sequence[str] = NAMES) -> None:
    """Add the option --sandbox with these choices."""
    verb.add_argument(
        '--sandbox', choices=names, default=BUBBLEWRAP, help='sandbox for the code that is run'
    )


def to_unicode(word: str) -> str:
    """Return an argument decoded as UTF-8, whatever the locale is.

    Raises: Fatal if it is not UTF-8.
    """
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        raise Fatal(f'{word!r} is not UTF-8; write it in UTF-8') from None


def parse_positive(text: str) -> int:
    """Return a whole number of 1 or more, as a type for argparse.

    Raises: argparse.ArgumentTypeError for any other text.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} must be a whole number of 1 or more')
    return int(text)
