"""The releases in snapshots/, as the README's first screen has them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from tests.manual.pages import ROOT, answered

EDITIONS = sorted((ROOT / 'snapshots').glob('*/code-free'))
NAMES = [one.parent.name for one in EDITIONS]
COUNTS = """
SELECT (SELECT count(DISTINCT repo) FROM repositories),
       (SELECT count(*) FROM pairs),
       (SELECT count(*) FROM methods WHERE label IS NOT NULL),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'generation'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'update'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'repair'),
       (SELECT count(*) FROM tasks WHERE family = 'maintenance'),
       (SELECT count(*) FROM tasks WHERE family IN ('class', 'file')),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'
           AND contamination_date >= TIMESTAMPTZ '2025-07-01 00:00:00+00'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'
           AND contamination_date >= TIMESTAMPTZ '2026-01-01 00:00:00+00')
"""


def test_there_are_released_editions_of_two_months() -> None:
    assert [one.parent.name for one in EDITIONS] == ['2026-05', '2026-06']


@pytest.mark.parametrize('edition', EDITIONS, ids=NAMES)
def test_the_readme_has_the_figures_of_each_release(edition: Path) -> None:
    place = edition.relative_to(ROOT).as_posix()
    row = next(
        line for line in (ROOT / 'README.md').read_text().split('\n') if f'({place})' in line
    )
    shown = [int(word) for word in re.findall(r'\d+', row.partition(')')[2].replace(',', ''))]
    assert shown == list(coevo.open(edition).execute(COUNTS).fetchone() or ())


def test_the_readme_shows_the_real_output_of_a_query(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    ((line, shown),) = answered(ROOT / 'README.md', ' snapshots/')
    assert main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out.splitlines() == shown


@pytest.mark.parametrize('edition', EDITIONS, ids=NAMES)
def test_each_released_edition_passes_verification(
    edition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['verify', str(edition)]) == 0
    assert capsys.readouterr().out.endswith('good\n')
