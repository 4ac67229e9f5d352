"""The verb `coevo submit`: make the metadata of a submission, and check it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.display.redaction import hide_credentials
from coevo.display.terminal import escape_controls
from coevo.model.errors import Fatal
from coevo.options.parser import Parser, refuse_beside

_FIELDS = ('contact', 'url', 'network', 'cutoff', 'cutoff_source')


def add(verbs: argparse._SubParsersAction[Parser]) -> Parser:
    """Add the verb to the command line, and return its parser."""
    submit = verbs.add_parser(
        'submit',
        help='make a submission to a leaderboard of a run, or check one before it is handed in',
        description='A submission is a folder with submission.json, answers, logs and results, such as `coevo run` '
        'leaves it (docs/scoring.md). --new writes submission.json, and asks on a terminal for what is missing. '
        '--check finds faults: of the metadata, the predictions, a log for each, and whether the results follow from '
        'what they say was seen. It runs nothing; `coevo evaluate SNAPSHOT FOLDER` judges it again. Status 1 if '
        'anything is wrong.',
        example='coevo submit --check my-agent --snapshot snapshots/2026-05',
    )
    which = submit.add_mutually_exclusive_group(required=True)
    which.add_argument('--check', type=Path, metavar='FOLDER', help='check this submission')
    which.add_argument('--new', type=Path, metavar='FOLDER', help='write its submission.json')
    submit.add_argument(
        '--snapshot', help='what it answers: a month, a folder, a .zip, or a URL; for --check'
    )
    submit.add_argument(
        '--contact', help='whom reviewers write to; this and what follows for --new'
    )
    submit.add_argument('--url', help='where the agent is described, or its code')
    submit.add_argument(
        '--network',
        choices=('yes', 'no'),
        help='whether the agent could reach the web (default: no for folders of `coevo run`)',
    )
    submit.add_argument(
        '--cutoff', metavar='DATE', help='training cutoff of a model that coevo does not know'
    )
    submit.add_argument('--cutoff-source', metavar='URL', help='a page that states this cutoff')
    return submit


def run(arguments: argparse.Namespace) -> int:
    """Make or check a submission, print what there is to say and return the exit status."""
    if arguments.new is not None:
        refuse_beside(arguments, '--new', '--snapshot')
        return _make_metadata(arguments)
    refuse_beside(arguments, '--check', *(f'--{name.replace("_", "-")}' for name in _FIELDS))
    return _check_folder(arguments)


def _make_metadata(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.submission.drafting import write_submission
    from coevo.evaluation.submission.folder import NAME

    given = {name: getattr(arguments, name) for name in _FIELDS}
    if given['network'] is not None:
        given['network'] = given['network'] == 'yes'
    metadata = write_submission(arguments.new, given, _ask_person)
    folder = hide_credentials(str(arguments.new))
    print(f'{folder}/{NAME}: {metadata.harness} with {metadata.model}, by {metadata.contact}')
    print(f'next: coevo submit --check {folder}')
    return 0


def _ask_person(name: str) -> str | None:
    """Return what a person types; None without a terminal."""
    from coevo.evaluation.submission.drafting import QUESTIONS

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f'{QUESTIONS[name]}: ', end='', file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise Fatal(f'nothing was said; give --{name}')
    return line


def _check_folder(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.submission.checks import check_submission
    from coevo.evaluation.submission.folder import load_submission

    findings = check_submission(load_submission(arguments.check), arguments.snapshot)
    for sentence in (*findings.wrong, *findings.notes):
        print(escape_controls(sentence))
    folder = hide_credentials(str(arguments.check))
    print('not good: see above' if findings.wrong else f'{folder}: good')
    return 1 if findings.wrong else 0
