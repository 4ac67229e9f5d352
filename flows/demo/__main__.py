"""`make demo`: write small histories, mine and release them, and check the results."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from coevo import evaluate
from coevo.display.console import open_console, show_progress
from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from coevo.model.families import RELEASED_FAMILIES, SINGLE_REVISION_FAMILIES
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from coevo.snapshots.query import SnapshotQuery, run_query
from coevo.snapshots.snapshot import open_snapshots
from coevo.storage.sole_use import lock_for_sole_use_or_refuse
from coevo.storage.store import Store
from flows.console import print_report
from flows.demo.stories import (
    FIRST,
    STORIES,
    Story,
    list_differences,
    list_found_methods,
    list_losses,
    map_method_names,
    write_repository,
)
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

_TASKS = """\
SELECT coalesce(family::VARCHAR, 'coevolution') AS family, count(*) AS tasks
FROM tasks GROUP BY family ORDER BY family"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """What the demo does with a story.

    profile  the profile to mine with; one that measures gives strict scores
    verbose  whether the whole reports are printed, and not a line of each story
    graded   whether the developers' own tests are graded at the end
    """

    profile: str
    verbose: bool
    graded: bool


def main() -> int:
    """Run the demo with the options of the command line, and return its exit status.

    0 if the demo gave the expected results, 1 if not, 2 if it could not run.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, prog='python -m flows.demo')
    parser.add_argument('--profile', default='default', metavar='NAME')
    parser.add_argument('--verbose', action='store_true', help='print the whole reports')
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        '--language',
        choices=[story.language for story in STORIES],
        help='the large history in this language, which takes minutes',
    )
    which.add_argument('--all', action='store_true', help='all histories')
    arguments = parser.parse_args()
    stories = [story for story in STORIES if arguments.all or story.language == arguments.language]
    if arguments.language is None:
        stories.insert(0, FIRST)
    options = DemoOptions(
        profile=arguments.profile,
        verbose=arguments.verbose,
        graded=arguments.language is None and arguments.profile != 'quick',
    )
    console = open_console()
    try:
        with lock_for_sole_use_or_refuse(FOLDER):
            return run_demo(console, stories, options)
    except Fatal as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2


def run_demo(console: Console, chosen: Sequence[Story], options: DemoOptions) -> int:
    """Write, mine and release the stories whose runtime this machine has; print the results.

    Return 0 if all came out as expected, 1 if not. Raises: Fatal if no story is left.
    """
    for story in (skipped for skipped in chosen if not has_runtime(skipped)):
        runtime = LANGUAGES[story.language].RUNTIME
        console.print(f'{story.name} is left out: there is no {runtime} here')
    stories = [story for story in chosen if has_runtime(story)]
    if not stories:
        raise Fatal('nothing is left of the demo')
    wrong = [line for story in stories for line in run_and_compare_story(console, story, options)]
    if wrong:
        console.print('Not as expected (-), but found (+):', *wrong, sep='\n', markup=False)
        return 1
    count = sum(len(story.methods) for story in stories)
    if options.graded:
        console.print(grade_gold_and_describe_scores(FIRST), markup=False, highlight=False)
    console.print(f'All {count} test methods came out as expected.', highlight=False)
    console.print(describe_next_commands(stories), markup=False, highlight=False)
    return 0


def describe_next_commands(stories: Sequence[Story]) -> str:
    """Return where the repositories and snapshots are, and some commands to try on them."""
    first, *others = stories
    home = FOLDER / first.folder
    beside = ', '.join(
        f'of {story.language.capitalize()} in {FOLDER / story.folder}' for story in others
    )
    those = f'; those {beside.replace(" in ", " are in ", 1)}' if beside else ''
    return f"""\
The repository is {home}/repository, the snapshot {home}/snapshot{those}. From here on (coevo is in .venv/bin):
  coevo query {home}/snapshot "SELECT * FROM tasks"     any question, in SQL
  coevo query {home}/snapshot --only-after 2024-05-31   only what was public later
  coevo mine PATH, URL or owner/name               a repository of your own
  coevo release --snapshot DIR                     a snapshot of all that you have mined"""


def grade_gold_and_describe_scores(story: Story) -> str:
    """Grade the developers' own tests of a story's changes; return a sentence with their scores."""
    home = FOLDER / story.folder
    tasks = open_snapshots(home / 'snapshot').sql('SELECT task_id FROM standard_tasks').fetchall()
    report = evaluate(
        home / 'snapshot',
        'gold',
        out=home / 'results',
        clones=home / 'store',
        tasks={task_id for (task_id,) in tasks},
        jobs=_count_jobs(),
    )
    success = sum(track.tasks * (track.macro.success.value or 0) for track in report.tracks)
    rates = [track.beyond.success_strict for track in report.tracks]
    strict = sum(rate.units * (rate.value or 0) for rate in rates)
    return (
        f"The developers' own tests, graded: success {success:.3g} of {report.tasks} tasks, "
        f'strict {strict:.3g} of {sum(rate.units for rate in rates)} askable ({home}/results)'
    )


def has_runtime(story: Story) -> bool:
    """Return whether this machine has the runtime of a story; the demo installs none."""
    return bool(LANGUAGES[story.language].make_runtimes().known)


def run_and_compare_story(console: Console, story: Story, options: DemoOptions) -> tuple[str, ...]:
    """Write, mine and release a history; return a line for each deviation from its tables.

    What could not be mined and families without a task are lines, too. Earlier results are removed
    first.
    """
    home = FOLDER / story.folder
    repository, store, snapshot = (home / name for name in ('repository', 'store', 'snapshot'))
    for folder in (repository, store, snapshot, home / 'results'):
        shutil.rmtree(folder, ignore_errors=True)
    commits = write_repository(repository, story)
    console.print(f'{repository}: {len(commits)} commits written; now mining them')
    mine_options = make_mine_options(story, repository, store, options)
    # In a pipe or a log, progress is apart from the ten lines that say what the demo showed.
    progress = console if console.is_terminal else open_console(for_errors=True)
    with show_progress(progress) as listener:
        report = mine(mine_options, listener)
        families = tuple(family for family in story.families if family in SINGLE_REVISION_FAMILIES)
        suites = (
            mine(replace(mine_options, walk=Walk.SINGLE_REVISION, families=families), listener)
            if families
            else None
        )
    failures = (report.failures, suites.failures if suites else {})
    failed = tuple(
        f'{story.name}: not mined: {failure}' for found in failures for failure in found.values()
    )
    wrong = compare_with_table(console, story, repository, Store(store), commits, report, options)
    released = publish_release(
        ReleaseOptions(
            store=store,
            snapshot=snapshot,
            families=tuple(family for family in story.families if family in RELEASED_FAMILIES),
        )
    )
    missing = describe_missing_families(story, snapshot)
    if options.verbose:
        console.print(released.sentence)
        console.print(f'\n{QUESTION}\n')
        run_query((snapshot,), SnapshotQuery(sql=QUESTION))
    else:
        console.print(describe_snapshot(snapshot), markup=False, highlight=False)
    return (*failed, *wrong, *missing)


def make_mine_options(
    story: Story, repository: Path, store: Path, options: DemoOptions
) -> MineOptions:
    """Return the options with which a story is mined.

    Stories without families of suites are about labels, so nothing is measured by mutants for them.
    All stories show what unchanged tests come to, so pairs without a changed test are run, too.
    """
    whole = load_profile('whole')
    profile = replace(
        load_profile(options.profile),
        gate_share=whole.gate_share,
        unchanged_sample=whole.unchanged_sample,
    )
    asks_for_suites = any(family in SINGLE_REVISION_FAMILIES for family in story.families)
    return MineOptions(
        source=str(repository),
        store=store,
        profile=profile if asks_for_suites else replace(profile, measure_runs=0),
        name=story.name,
        commits=None,
        jobs=_count_jobs(),
        brings_runtimes=False,
    )


def _count_jobs() -> int:
    return os.cpu_count() or 1


def describe_snapshot(snapshot: Path) -> str:
    """Return a line on what a snapshot holds: labels, and tasks by family."""
    connection = open_snapshots(snapshot)
    labels = connection.sql(
        'SELECT label::VARCHAR, count(*) AS n FROM methods WHERE label IS NOT NULL '
        'GROUP BY label ORDER BY n DESC, label'
    ).fetchall()
    tasks = connection.sql(_TASKS).fetchall()
    return (
        f'{snapshot}: labels {", ".join(f"{label} {n}" for label, n in labels)}; '
        f'tasks {", ".join(f"{family} {n}" for family, n in tasks)}'
    )


def describe_missing_families(story: Story, snapshot: Path) -> tuple[str, ...]:
    """Return a line for each family that a story asks for, and of which there is no task."""
    there = {family for family, _ in open_snapshots(snapshot).sql(_TASKS).fetchall()}
    return tuple(
        f'- {story.name}: a task of the family {family}'
        for family in story.families
        if str(family) not in there
    )


def compare_with_table(
    console: Console,
    story: Story,
    folder: Path,
    store: Store,
    commits: dict[str, str],
    report: MineReport,
    options: DemoOptions,
) -> tuple[str, ...]:
    """Return a line for each difference between a story's tables and what the store holds.

    With `verbose` the report of the run is printed, too.
    """
    (partition,) = report.partitions
    segments, walked = tuple(store.load_current_segments(partition)), store.load_walk(partition)
    if options.verbose:
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
