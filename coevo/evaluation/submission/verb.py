"""The verb `coevo submit`: make the metadata of a submission, and check it."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from coevo.display.terminal import escape_controls, hide_credentials
from coevo.model.errors import Fatal
from coevo.options.parser import Parser, refuse_options_beside

_FIELDS = ('contact', 'url', 'network', 'cutoff', 'cutoff_source')


def add_submit_verb(verbs: argparse._SubParsersAction[Parser]) -> Parser:
    """Add the verb `submit` to the command line, and return its parser."""
    submit = verbs.add_parser(
        'submit',
        help='make a leaderboard submission from a run, or check one before you hand it in',
        description='A submission is a folder with submission.json, answers, logs and results, as `coevo '
        'run` writes it (docs/scoring.md). --new writes submission.json and asks on a '
        'terminal for missing fields. --check looks for faults: in the metadata, in the '
        'predictions, missing logs, and results that contradict the observations that they '
        'record. It runs no tests; `coevo evaluate SNAPSHOT FOLDER` grades the answers again. '
        'Status 1 if anything is wrong.',
        example='coevo submit --check my-agent --snapshot snapshots/2026-06',
    )
    which = submit.add_mutually_exclusive_group(required=True)
    which.add_argument('--check', type=Path, metavar='FOLDER', help='check this submission')
    which.add_argument('--new', type=Path, metavar='FOLDER', help='write its submission.json')
    submit.add_argument(
        '--snapshot',
        help='the snapshot that it answers, for --check: a month, a folder, a .zip, or a URL',
    )
    submit.add_argument(
        '--contact', help='an address for reviewers; this and what follows for --new'
    )
    submit.add_argument('--url', help='page that describes the agent or has its code')
    submit.add_argument(
        '--network',
        choices=('yes', 'no'),
        help='whether the agent had access to the web (default: no for folders of `coevo run`)',
    )
    submit.add_argument(
        '--cutoff', metavar='DATE', help='training cutoff of a model that coevo does not know'
    )
    submit.add_argument('--cutoff-source', metavar='URL', help='a page that states this cutoff')
    return submit


def make_or_check_submission(arguments: argparse.Namespace) -> int:
    """Make or check a submission, print what there is to say and return the exit status."""
    if arguments.new is not None:
        refuse_options_beside(arguments, '--new', '--snapshot')
        return _make_metadata(arguments)
    refuse_options_beside(
        arguments, '--check', *(f'--{name.replace("_", "-")}' for name in _FIELDS)
    )
    return _check_and_print_submission(arguments)


def _make_metadata(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.submission.drafting import (
        describe_missing_cutoff,
        write_submission_metadata,
    )
    from coevo.evaluation.submission.folder import NAME

    given = {name: getattr(arguments, name) for name in _FIELDS}
    if given['network'] is not None:
        given['network'] = given['network'] == 'yes'
    if arguments.contact is not None:
        _check_contact(arguments.contact)
    metadata = write_submission_metadata(arguments.new, given, _ask_person)
    folder = hide_credentials(str(arguments.new))
    print(f'{folder}/{NAME}: {metadata.harness} with {metadata.model}, by {metadata.contact}')
    missing = describe_missing_cutoff(arguments.new, metadata)
    if missing is not None:
        print(hide_credentials(missing))
    print(f'next: coevo submit --check {folder} --snapshot SNAPSHOT')
    return 0


def _check_contact(text: str) -> None:
    """Raise Fatal unless a text can be an address that reviewers write to."""
    if not re.fullmatch(r'[^\s@]+@[^\s@]+|https://\S+', text.strip()):
        raise Fatal(
            f'--contact is {text!r}, which is no address; give one such as me@example.org, or a '
            'page (https://) where you can be written to'
        )


def _ask_person(name: str) -> str | None:
    """Ask a person for a field and return the line that is typed; None without a terminal.

    Raises: Fatal if the input ends without a line.
    """
    from coevo.evaluation.submission.drafting import CUTOFF_QUESTIONS, QUESTIONS

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f'{(QUESTIONS | CUTOFF_QUESTIONS)[name]}: ', end='', file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise Fatal(f'no answer was given; give --{name.replace("_", "-")}')
    if name == 'contact':
        _check_contact(line)
    return line


def _check_and_print_submission(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.submission.checks import check_submission
    from coevo.evaluation.submission.folder import load_submission

    findings = check_submission(load_submission(arguments.check), arguments.snapshot)
    for sentence in (*findings.wrong, *findings.notes):
        print(escape_controls(sentence))
    folder = hide_credentials(str(arguments.check))
    print('not valid: see above' if findings.wrong else f'{folder}: good')
    return 1 if findings.wrong else 0
