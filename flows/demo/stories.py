"""The histories that the demo writes, one for each language, and the expected results of mining.

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
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from coevo.model.families import Family
from coevo.model.words import Label, Stage, Track

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
