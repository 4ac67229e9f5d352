"""The histories that the demo writes, one for each language, and the comparison with the expected
results.

A story is a folder of files beside this module:

    story.toml   the story and its steps, each of which is one commit
    project/     the files of the first step
    patches/     the changes of each other step to its first parent's tree, for `git apply`
    methods.csv  the expected result of every test method, derived by hand from the sources
    losses.csv   the commits and pairs that leave the funnel

A test method is in its table once for every pair in which it is a candidate. Its row has its label
and track, or the reason why it was dropped, or a label and a reason if only its track was lost. The
choice of `not_sampled` tests depends on the ids of the commits, so an edit of a history changes it.
"""

from __future__ import annotations

import csv
import os
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.families import Family
from coevo.model.method_rows import MethodRow
from coevo.model.records import Drop, Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Label, Stage, Track
from miners.diffs.changes import diff_pair

# The histories that the demo writes, one for each language, and the expected results of mining.

STORIES_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStep:
    """One commit.

    name     its name in `parents` and in the tables
    parents  names of steps; the patch changes the tree of the first one
    patch    the patch's name; None for the first step
    """

    name: str
    subject: str
    parents: tuple[str, ...]
    patch: str | None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ExpectedMethod:
    """A test method in the pair that ends with the commit `step`; `test` is Class#method at new."""

    step: str
    test: str
    label: Label | None = None
    track: Track | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Loss:
    """A commit, or the pair that ends with it, that left the funnel; `step` names the commit."""

    step: str
    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A repository's history and the expected results of mining it.

    source    the folder of its files
    name      the key of the repository in the data
    folder    the folder of repository, store and snapshot, below the demo's own
    interval  the time between the dates of two steps
    families  families of tasks to make beside those of the tracks
    """

    source: Path
    name: str
    folder: str
    language: str
    start: datetime
    interval: timedelta
    steps: tuple[DemoStep, ...]
    methods: tuple[ExpectedMethod, ...]
    losses: tuple[Loss, ...]
    families: tuple[Family, ...]


def load_story(source: Path) -> Story:
    """Read the files of a story; its rows get the subject of their step, which reports show."""
    text = tomllib.loads((source / 'story.toml').read_text('utf-8'))
    steps = tuple(_list_steps(text['steps']))
    subjects = {step.name: step.subject for step in steps}
    return Story(
        source=source,
        name=text['name'],
        folder=text['folder'],
        language=text['language'],
        start=text['start'],
        interval=timedelta(**text['interval']),
        steps=steps,
        methods=tuple(
            ExpectedMethod(
                step=subjects[row['step']],
                test=row['test'],
                label=Label(row['label']) if row['label'] else None,
                track=Track(row['track']) if row['track'] else None,
                reason=row['reason'] or None,
            )
            for row in _read_table(source / 'methods.csv')
        ),
        losses=tuple(
            Loss(step=subjects[row['step']], stage=Stage(row['stage']), reason=row['reason'])
            for row in _read_table(source / 'losses.csv')
        ),
        families=tuple(Family(name) for name in text.get('families', ())),
    )


def _list_steps(rows: list[Mapping[str, str]]) -> Iterator[DemoStep]:
    """Yield steps; by default, a step follows the previous one and has a patch of the same name."""
    before: tuple[str, ...] = ()
    for row in rows:
        name = row['name']
        yield DemoStep(
            name=name,
            subject=row['subject'],
            parents=tuple(row.get('parents', before)),
            patch=row.get('patch', name) if before else None,
        )
        before = (name,)


def _read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding='utf-8', newline='') as table:
        return list(csv.DictReader(table))


FIRST = load_story(STORIES_FOLDER / 'pier')
"""A small history in Python with a task of each family, which is what `make demo` shows."""

STORIES = tuple(load_story(STORIES_FOLDER / name) for name in ('harbour', 'kiosk', 'jetty'))
"""A history of each language with every label, and nearly all reasons of drops."""


# Write the demo's repository with fixed dates and one identity.
#
# So its commit ids are constant.
#
# To change a step, write the repository, check out the step's first parent, edit it, and let `git
# diff` write the new patch.

AUTHOR, EMAIL = 'Coevo Demo', 'demo@example.org'

# Files that builds and tests leave in the project's folder.
_LEFT_BEHIND = (':(exclude,glob)**/target/**', ':(exclude,glob)**/__pycache__/**')


def write_repository(folder: Path, story: Story) -> dict[str, str]:
    """Create a repository with a story's history in the new folder `folder`.

    Return the commit id of each step by its subject.
    """
    folder.mkdir(parents=True)
    _run_git(folder, 'init', '--quiet', '--initial-branch=main')
    commits: dict[str, str] = {}
    for number, step in enumerate(story.steps):
        _fill_index(folder, story, step, commits)
        date = f'{int((story.start + number * story.interval).timestamp())} +0000'
        commits[step.name] = _commit_index(folder, step, commits, date)
    _run_git(folder, 'reset', '--quiet', '--hard', commits[story.steps[-1].name])
    return {step.subject: commits[step.name] for step in story.steps}


def _fill_index(folder: Path, story: Story, step: DemoStep, commits: Mapping[str, str]) -> None:
    """Put the files of a step into the Git index.

    For the first step these are the project's files, else those of its first parent with its patch.
    """
    if step.patch is None:
        own = f'--git-dir={folder.absolute() / ".git"}'
        _run_git(story.source / 'project', own, '--work-tree=.', 'add', '--', '.', *_LEFT_BEHIND)
        return
    _run_git(folder, 'read-tree', commits[step.parents[0]])
    _run_git(folder, 'apply', '--cached', str(story.source / 'patches' / f'{step.patch}.patch'))


def _commit_index(folder: Path, step: DemoStep, commits: Mapping[str, str], date: str) -> str:
    tree = _run_git(folder, 'write-tree')
    parents = [word for parent in step.parents for word in ('-p', commits[parent])]
    identity = {
        f'GIT_{role}_{part}': value
        for role in ('AUTHOR', 'COMMITTER')
        for part, value in (('NAME', AUTHOR), ('EMAIL', EMAIL), ('DATE', date))
    }
    return _run_git(folder, 'commit-tree', *parents, '-m', step.subject, tree, identity=identity)


def _run_git(folder: Path, *arguments: str, identity: Mapping[str, str] | None = None) -> str:
    """Run Git independent of the machine's and the user's configuration; return its output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith('GIT_')}
    blind = {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_NOSYSTEM': '1'}
    command = ['git', '-c', 'core.autocrlf=false', '-c', 'core.fileMode=false', *arguments]
    environment = inherited | blind | dict(identity or {})
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


# Express the results of mining the demo as rows of the expected table, and compare the two.

Names = Mapping[str, str]  # Class#method by method id


def map_method_names(repository: Repository, pairs: Iterable[Pair]) -> Names:
    """Return the names of all candidates by id, since a drop has only the id of its method."""
    return {
        compute_candidate_id(pair, candidate): _join_test_name(
            candidate.method.test_class, candidate.method.test_method
        )
        for pair in pairs
        for candidate in diff_pair(repository, pair).candidates
    }


def list_found_methods(
    segments: Sequence[Segment], steps: Mapping[str, str], names: Names
) -> Iterator[ExpectedMethod]:
    """Yield the result of every candidate; `steps` has the subjects of commits by id."""
    for segment in segments:
        step = steps[segment.pair.new_rev]
        reasons = {drop.key: drop.reason for drop in segment.drops if drop.stage.unit == 'method'}
        for row in segment.methods:
            yield _build_expected_method(step, row, reasons.pop(row.method_id, None))
        for key, reason in reasons.items():
            yield ExpectedMethod(step=step, test=names[key], reason=reason)


def list_losses(
    segments: Sequence[Segment], walk_drops: Sequence[Drop], steps: Mapping[str, str]
) -> Iterator[Loss]:
    """Yield the commits and pairs that left the funnel."""
    for drop in walk_drops:
        yield Loss(step=steps[drop.key], stage=drop.stage, reason=drop.reason)
    for segment in segments:
        for drop in segment.drops:
            if drop.stage is Stage.PAIR:
                step = steps[segment.pair.new_rev]
                yield Loss(step=step, stage=drop.stage, reason=drop.reason)


def list_differences(
    expected: Iterable[ExpectedMethod | Loss], found: Iterable[ExpectedMethod | Loss]
) -> tuple[str, ...]:
    """Return a line for every row that is missing (-) or not expected (+); empty if all agree."""
    wanted, there = Counter(expected), Counter(found)
    missing = [_format_difference('-', row) for row in (wanted - there).elements()]
    excess = [_format_difference('+', row) for row in (there - wanted).elements()]
    return tuple(sorted(missing + excess, key=lambda line: (line[2:].rpartition(': ')[0], line)))


def _format_difference(sign: str, row: ExpectedMethod | Loss) -> str:
    if isinstance(row, Loss):
        return f'{sign} {row.step}: {row.stage} {row.reason}'
    verdict = ', '.join(filter(None, (row.label, row.track and f'track {row.track}', row.reason)))
    return f'{sign} {row.step}: {row.test}: {verdict}'


def _build_expected_method(step: str, row: MethodRow, reason: str | None) -> ExpectedMethod:
    test = _join_test_name(row.test_class, row.test_method)
    return ExpectedMethod(step=step, test=test, label=row.label, track=row.track, reason=reason)


def _join_test_name(test_class: str, test_method: str) -> str:
    return f'{test_class}#{test_method}'
