"""`make demo`: write a small history, mine it, release it, and compare with what it must give."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from coevo.display.console import open_console
from coevo.display.console import showing
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.records import Walk
from coevo.snapshots.query import Question
from coevo.snapshots.query import query
from coevo.storage.store import Store
from flows.console import print_report
from flows.demo import history
from flows.demo.comparison import differences
from flows.demo.comparison import losses
from flows.demo.comparison import methods
from flows.demo.comparison import names
from flows.demo.expected import LOSSES
from flows.demo.expected import METHODS
from flows.funnel import funnel
from flows.missing_pairs import MineReport
from flows.options import MineOptions
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish
from miners.walks.pairs import Route
from miners.walks.pairs import visit

FOLDER = Path('demo')
REPOSITORY, STORE, SNAPSHOT = FOLDER / 'repository', FOLDER / 'store', FOLDER / 'snapshot'
NAME = 'demo/harbour'

QUESTION = """\
SELECT label, count(*) AS methods, min(test_class || '#' || test_method) AS example
FROM methods GROUP BY label ORDER BY label"""

WHAT_NEXT = f"""\
The repository is {REPOSITORY}, the snapshot {SNAPSHOT}. From here on:
  coevo query {SNAPSHOT} "SELECT * FROM tasks"     any question, in SQL
  coevo query {SNAPSHOT} --after 2024-06-30        only what was public later
  coevo mine PATH, URL or owner/name               a repository of your own
  coevo release --snapshot DIR                     a snapshot of all that you have mined
(coevo is in .venv/bin.)"""


def main() -> int:
    """0 if the demo gave what its table says, 1 if not, 2 if it could not be run."""
    parser = argparse.ArgumentParser(prog='python -m flows.demo')
    parser.add_argument('--profile', default='default', metavar='NAME')
    arguments = parser.parse_args()
    console = open_console()
    try:
        return run(console, arguments.profile)
    except Fatal as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2


def run(console: Console, profile: str) -> int:
    for folder in (REPOSITORY, STORE, SNAPSHOT):
        shutil.rmtree(folder, ignore_errors=True)
    commits = history.write(REPOSITORY)
    console.print(f'{REPOSITORY}: {len(commits)} commits written; now mining them')
    options = MineOptions(
        source=str(REPOSITORY),
        store=STORE,
        profile=replace(load_profile(profile), measure_runs=0),
        name=NAME,
        commits=None,
        jobs=os.cpu_count() or 1,
        brings_runtimes=False,
    )
    with showing(console) as listener:
        report = mine(options, listener)
    wrong = compare(console, commits, report)
    console.print(publish(ReleaseOptions(store=STORE, snapshot=SNAPSHOT)).sentence)
    console.print(f'\n{QUESTION}\n')
    query((SNAPSHOT,), Question(sql=QUESTION))
    if wrong or report.failures:
        console.print('\nNot as expected (-), but found (+):', *wrong, sep='\n')
        return 1
    console.print(f'\nAll {len(METHODS)} test methods came out as expected.\n\n{WHAT_NEXT}')
    return 0


def compare(console: Console, commits: dict[str, str], report: MineReport) -> tuple[str, ...]:
    """Print the funnel; give the differences between the table and what the store holds."""
    store = Store(STORE)
    segments, walked = tuple(store.segments(report.partition)), store.walk(report.partition)
    print_report(console, report, tuple(funnel(walked.drops, segments)), segments)
    repository = Repository(REPOSITORY / '.git')
    seen = visit(repository, Route(repo=NAME, language='java', walk=Walk.PARENTS, ref='HEAD'))
    steps = {rev: subject for subject, rev in commits.items()}
    found_methods = methods(segments, steps, names(repository, seen.pairs))
    found_losses = losses(segments, walked.drops, steps)
    return (*differences(LOSSES, found_losses), *differences(METHODS, found_methods))


if __name__ == '__main__':
    raise SystemExit(main())
