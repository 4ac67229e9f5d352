"""The verb `coevo submit --check FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.display.redaction import hide_credentials
from coevo.display.terminal import escape_controls
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> Parser:
    """Add the verb to the command line, and return its parser."""
    submit = verbs.add_parser(
        'submit',
        help='check a submission to a leaderboard before it is handed in',
        description='Checks the folder of a submission (docs/scoring.md): its metadata, its '
        'predictions, a log for each, and whether its results follow from what they say was seen. Runs '
        'nothing; `coevo evaluate SNAPSHOT FOLDER` judges it again. Status 1 if anything is wrong.',
        example='coevo submit --check my-agent --snapshot snapshots/2026-05',
    )
    submit.add_argument(
        '--check', type=Path, required=True, metavar='FOLDER', help='the submission'
    )
    submit.add_argument(
        '--snapshot', metavar='SNAPSHOT', help='what it answers: a folder, a .zip, or a URL'
    )
    return submit


def run(arguments: argparse.Namespace) -> int:
    """Check a submission, print the findings and return the exit status."""
    from coevo.evaluation.submission.checks import check_submission
    from coevo.evaluation.submission.folder import load_submission

    findings = check_submission(load_submission(arguments.check), arguments.snapshot)
    for sentence in (*findings.wrong, *findings.notes):
        print(escape_controls(sentence))
    folder = hide_credentials(str(arguments.check))
    print('not good: see above' if findings.wrong else f'{folder}: good')
    return 1 if findings.wrong else 0
