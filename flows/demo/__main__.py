"""`make demo`: write small histories, mine and release them, and compare with the expected
results."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from coevo.display.console import open_console, show_progress
from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from coevo.snapshots.query import SnapshotQuery, run_query
from coevo.storage.sole_use import lock_for_sole_use
from coevo.storage.store import Store
from flows.console import print_report
from flows.demo import history
from flows.demo.comparison import (
    list_differences,
    list_found_methods,
    list_losses,
    map_method_names,
)
from flows.demo.stories import STORIES, Story
from flows.funnel import build_funnel
from flows.missing_pairs import MineReport
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from miners.walks.pairs import Route, visit_route

FOLDER = Path('demo')

QUESTION = """\
SELECT label, count(*) AS methods, min(test_class || '#' || test_method) AS example
FROM methods GROUP BY label ORDER BY label"""


def main() -> int:
    """Return 0 if the demo gave the expected results, 1 if not, 2 if it could not run."""
    parser = argparse.ArgumentParser(prog='python -m flows.demo')
    parser.add_argument('--profile', default='default', metavar='NAME')
    parser.add_argument('--language', choices=[story.language for story in STORIES])
    arguments = parser.parse_args()
    console = open_console()
    try:
        with lock_for_sole_use(FOLDER):
            return run_demo(console, arguments.profile, arguments.language)
    except Fatal as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2


def run_demo(console: Console, profile: str, language: str | None) -> int:
    """Run all histories, or that of one language."""
    stories = [story for story in STORIES if language in (None, story.language)]
    for story in (skipped for skipped in stories if not has_runtime(skipped)):
        runtime = LANGUAGES[story.language].RUNTIME
        console.print(f'{story.name} is left out: there is no {runtime} here')
    stories = [story for story in stories if has_runtime(story)]
    if not stories:
        raise Fatal('nothing is left of the demo')
    wrong = [line for story in stories for line in check_story(console, story, profile)]
    if wrong:
        console.print('\nNot as expected (-), but found (+):', *wrong, sep='\n')
        return 1
    count = sum(len(story.methods) for story in stories)
    console.print(f'\nAll {count} test methods came out as expected.\n\n{say_what_next(stories)}')
    return 0


def say_what_next(stories: Sequence[Story]) -> str:
    """Return where the repositories and snapshots are, and some commands to try on them."""
    first, *others = stories
    home = FOLDER / first.folder
    beside = ', '.join(
        f'of {story.language.capitalize()} in {FOLDER / story.folder}' for story in others
    )
    those = f'; those {beside.replace(" in ", " are in ", 1)}' if beside else ''
    return f"""\
The repository is {home}/repository, the snapshot {home}/snapshot{those}. From here on:
  coevo query {home}/snapshot "SELECT * FROM tasks"     any question, in SQL
  coevo query {home}/snapshot --only-after 2024-06-30   only what was public later
  coevo mine PATH, URL or owner/name               a repository of your own
  coevo release --snapshot DIR                     a snapshot of all that you have mined
(coevo is in .venv/bin.)"""


def has_runtime(story: Story) -> bool:
    """Return whether this machine has the runtime of a story; the demo installs none."""
    return bool(LANGUAGES[story.language].make_runtimes().known)


def check_story(console: Console, story: Story, profile: str) -> tuple[str, ...]:
    """Write, mine and release a history; return differences from its table, and failures."""
    home = FOLDER / story.folder
    repository, store, snapshot = (home / name for name in ('repository', 'store', 'snapshot'))
    for folder in (repository, store, snapshot):
        shutil.rmtree(folder, ignore_errors=True)
    commits = history.write_repository(repository, story)
    console.print(f'{repository}: {len(commits)} commits written; now mining them')
    options = MineOptions(
        source=str(repository),
        store=store,
        profile=replace(load_profile(profile), measure_runs=0),
        name=story.name,
        commits=None,
        jobs=os.cpu_count() or 1,
        brings_runtimes=False,
    )
    with show_progress(console) as listener:
        report = mine(options, listener)
    failed = tuple(f'{story.name}: not mined: {failure}' for failure in report.failures)
    wrong = compare_with_table(console, story, repository, Store(store), commits, report)
    console.print(publish_release(ReleaseOptions(store=store, snapshot=snapshot)).sentence)
    console.print(f'\n{QUESTION}\n')
    run_query((snapshot,), SnapshotQuery(sql=QUESTION))
    return (*failed, *wrong)


def compare_with_table(
    console: Console,
    story: Story,
    folder: Path,
    store: Store,
    commits: dict[str, str],
    report: MineReport,
) -> tuple[str, ...]:
    """Print the funnel; return the differences between the table and the store."""
    (partition,) = report.partitions
    segments, walked = tuple(store.load_segments(partition)), store.load_walk(partition)
    print_report(console, report, tuple(build_funnel(walked.drops, segments)), segments)
    repository = Repository(folder / '.git')
    route = Route(repo=story.name, language=story.language, walk=Walk.PARENTS, ref='HEAD')
    steps = {rev: subject for subject, rev in commits.items()}
    found_methods = list_found_methods(
        segments, steps, map_method_names(repository, visit_route(repository, route).pairs)
    )
    found_losses = list_losses(segments, walked.drops, steps)
    return (
        *list_differences(story.losses, found_losses),
        *list_differences(story.methods, found_methods),
    )


if __name__ == '__main__':
    raise SystemExit(main())
