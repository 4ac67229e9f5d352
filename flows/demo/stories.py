"""The histories that the demo writes, one for each language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flows.demo.expected import ExpectedMethod, Loss
from flows.demo.harbour import expected as harbour
from flows.demo.harbour.steps import STEPS as HARBOUR_STEPS
from flows.demo.jetty import expected as jetty
from flows.demo.jetty.steps import STEPS as JETTY_STEPS
from flows.demo.kiosk import expected as kiosk
from flows.demo.kiosk.steps import STEPS as KIOSK_STEPS
from flows.demo.steps import DemoStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A repository's history and what mining it has to give.

    name      the key of the repository in the data
    folder    where repository, store and snapshot lie, below the demo's own
    interval  between the dates of two steps
    """

    name: str
    folder: str
    language: str
    start: datetime
    interval: timedelta
    steps: tuple[DemoStep, ...]
    methods: tuple[ExpectedMethod, ...]
    losses: tuple[Loss, ...]

    @property
    def project(self) -> Path:
        """The files of its first step."""
        return Path(__file__).parent / self.name.rpartition('/')[2] / 'project'


STORIES = (
    Story(
        name='demo/harbour',
        folder='.',
        language='java',
        start=datetime(2024, 1, 1, 12, tzinfo=UTC),
        interval=timedelta(days=18),  # it spans a year: filters by date have something to do
        steps=HARBOUR_STEPS,
        methods=harbour.METHODS,
        losses=harbour.LOSSES,
    ),
    Story(
        name='demo/kiosk',
        folder='python',
        language='python',
        start=datetime(2024, 6, 3, 6, tzinfo=UTC),
        interval=timedelta(minutes=40),  # the day decides on versions of packages: one for all
        steps=KIOSK_STEPS,
        methods=kiosk.METHODS,
        losses=kiosk.LOSSES,
    ),
    Story(
        name='demo/jetty',
        folder='go',
        language='go',
        start=datetime(2024, 6, 3, 6, tzinfo=UTC),
        interval=timedelta(minutes=40),
        steps=JETTY_STEPS,
        methods=jetty.METHODS,
        losses=jetty.LOSSES,
    ),
)
