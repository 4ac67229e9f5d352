"""The releases in snapshots/, as README and manual describe them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.command.main import main
from packagers.figures_page import render_page
from tests.manual.pages import PAGES, ROOT, answered, commands, section

EDITIONS = sorted((ROOT / 'snapshots').glob('*/code-free'))
NAMES = [one.parent.name for one in EDITIONS]
COUNTS = """
SELECT (SELECT count(DISTINCT repo) FROM repositories),
       (SELECT count(*) FROM pairs),
       (SELECT count(*) FROM methods WHERE label IS NOT NULL),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'generation'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'update'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'extension'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND track = 'repair'),
       (SELECT count(*) FROM tasks WHERE family = 'maintenance'),
       (SELECT count(*) FROM tasks WHERE family IN ('class', 'file')),
       (SELECT count(*) FROM tasks WHERE family = 'implement'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'
           AND contamination_date >= TIMESTAMPTZ '2025-07-01 00:00:00+00'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'
           AND contamination_date >= TIMESTAMPTZ '2026-01-01 00:00:00+00')
"""


def test_there_are_released_editions_of_two_months() -> None:
    assert [one.parent.name for one in EDITIONS] == ['2026-06', '2026-07']


FIRST_SCREEN = """
SELECT (SELECT count(*) FROM tasks WHERE family = 'coevolution'),
       (SELECT count(DISTINCT repo) FROM tasks WHERE family = 'coevolution'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'
           AND contamination_date >= TIMESTAMPTZ '2026-01-01 00:00:00+00')
"""
NEWEST = """
SELECT (SELECT count(*) FROM tasks WHERE family = 'coevolution'),
       (SELECT count(DISTINCT repo) FROM tasks WHERE family = 'coevolution'),
       (SELECT count(DISTINCT repo) FROM repositories),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND language = 'go'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND language = 'python'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND language = 'java'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution' AND new_committer_date
           BETWEEN TIMESTAMPTZ '2026-01-01 00:00:00+00' AND TIMESTAMPTZ '2026-12-31 00:00:00+00'),
       (SELECT count(*) FROM tasks WHERE family = 'coevolution'),
       (SELECT count(*) FROM standard_tasks)
"""


@pytest.mark.parametrize('edition', EDITIONS, ids=NAMES)
@pytest.mark.parametrize(
    ('page', 'query'),
    [('README.md', FIRST_SCREEN), ('docs/about.md', COUNTS)],
    ids=['readme', 'about'],
)
def test_the_pages_have_the_figures_of_each_release(edition: Path, page: str, query: str) -> None:
    folder = edition.relative_to(ROOT).as_posix()
    row = next(line for line in (ROOT / page).read_text().split('\n') if f'{folder})' in line)
    shown = [int(word) for word in re.findall(r'\d+', row.partition(')')[2].replace(',', ''))]
    assert shown == list(coevo.open(edition).execute(query).fetchone() or ())


def test_the_page_about_the_releases_says_what_the_newest_month_holds() -> None:
    text = ' '.join((ROOT / 'docs/about.md').read_text().split())
    sentences = text.partition('**July 2026**')[2].partition('A test of coevo')[0]
    figures = re.sub(r'standard_tasks|in 2026|(?<=\d),(?=\d{3})', '', sentences)
    shown = [int(word) for word in re.findall(r'\d+', figures)]
    assert shown == list(coevo.open(EDITIONS[-1]).execute(NEWEST).fetchone() or ())


MEASURED = """
WITH per_task AS (
    SELECT bool_and(coalesce(methods.measured, false)) AS measured
    FROM tasks JOIN methods USING (task_id)
    WHERE tasks.family = 'coevolution'
    GROUP BY task_id
)
"""
COMPILE_ERRORS = """
SELECT count(*) FILTER (compile) AS compiled, count(*) AS of_all,
       count(*) FILTER (compile AND language = 'go') AS in_go
FROM (
    SELECT bool_and(t_new_c_old = 'compile_error') AS compile, any_value(tasks.language) AS language
    FROM standard_tasks AS tasks JOIN methods USING (task_id)
    WHERE tasks.track = 'generation'
    GROUP BY task_id
)
"""
COVERAGE = """
SELECT count(*),
       round(100 * avg(task_coverage.known_lines / task_coverage.lines))::BIGINT AS with_code,
       with_code,
       round(100 * avg(task_coverage.covered_lines / task_coverage.lines))::BIGINT,
       count(*) FILTER (task_coverage.covered_lines >= 0.8 * task_coverage.lines),
       round(100 * avg(task_coverage.covered_lines / nullif(task_coverage.known_lines, 0)))::BIGINT
FROM methods
WHERE task_coverage.lines > 0
"""
# What sentences say of the newest month: each `#` is a figure, in the order of the query's columns.
SENTENCES = (
    (
        'README.md',
        'all of June and # of July',
        f'{MEASURED} SELECT count(*) FILTER (NOT measured) FROM per_task',
    ),
    (
        'docs/about.md',
        'nor have # of the # co-evolution tasks of July',
        f'{MEASURED} SELECT count(*) FILTER (NOT measured), count(*) FROM per_task',
    ),
    (
        'docs/about.md',
        'It has # tasks of July',
        'SELECT count(*) FROM verified',
    ),
    (
        'docs/about.md',
        'all tasks of June and # of July. The other # are',
        "SELECT count(license), count(*) - count(license) FROM tasks WHERE family = 'coevolution'",
    ),
    (
        'docs/about.md',
        '# of the # generation tasks of `standard_tasks` rest on compile errors alone',
        f'SELECT compiled, of_all FROM ({COMPILE_ERRORS})',
    ),
    (
        'docs/evidence.md',
        'In July # of the # generation tasks of `standard_tasks` have no other evidence, # of them in Go',
        COMPILE_ERRORS,
    ),
    (
        'docs/data.md',
        'July 2026, with # measured tasks, has # verified ones.',
        f'{MEASURED} SELECT count(*) FILTER (measured), (SELECT count(*) FROM verified) FROM per_task',
    ),
    (
        'docs/scores.md',
        (
            "declarations of July's # gold tests have code in # % of their lines, so a test that executes all of "
            'the code would have # %. By the equation gold has # % there (# tests reach 80 %), by executable lines # %'
        ),
        COVERAGE,
    ),
)


@pytest.fixture(scope='module')
def newest() -> duckdb.DuckDBPyConnection:
    return coevo.open(EDITIONS[-1])


@pytest.mark.parametrize(('page', 'sentence', 'query'), SENTENCES)
def test_sentences_have_the_figures_of_the_newest_month(
    newest: duckdb.DuckDBPyConnection, page: str, sentence: str, query: str
) -> None:
    text = ' '.join((ROOT / page).read_text().split())
    found = re.search(re.escape(sentence).replace(r'\#', r'([\d,]+)'), text)
    assert found, sentence
    shown = [int(figure.replace(',', '')) for figure in found.groups()]
    assert shown == list(newest.execute(query).fetchone() or ())


def test_the_page_of_figures_is_made_of_the_newest_month() -> None:
    assert (ROOT / 'docs/figures.md').read_text() == render_page(ROOT / 'snapshots')


def test_the_examples_of_labels_are_tasks_of_the_release() -> None:
    """Ids, commits, test files, cells and numbers of runs on the page are those of the data."""
    examples = section(ROOT / 'docs/evidence.md', 'Three real tasks').split('\n\n**A')[1:]
    assert len(examples) == 3
    snapshot = coevo.open(EDITIONS[-1])
    for example, track in zip(examples, ('update', 'generation', 'repair'), strict=True):
        (id_,) = re.findall('`([0-9a-f]{16})`', example)
        url, rev, found_track, methods = (
            snapshot.execute(
                'SELECT url, new_rev, track, method_ids FROM tasks WHERE task_id = ?',
                [id_],
            ).fetchone()
            or ()
        )
        assert f'{url}/commit/{rev})' in example
        assert found_track == track
        runs = set()
        for cell in ('t_old_c_old', 't_new_c_new', 't_old_c_new', 't_new_c_old'):
            runs |= set(
                snapshot.execute(
                    f'SELECT {cell}_passes, {cell}_runs FROM methods WHERE method_id = ?', methods
                ).fetchall()
            )
        shown = {(int(a), int(b)) for a, b in re.findall(r'(\d+) of (\d+)', example)}
        assert shown <= runs
        assert bool(shown) is (track != 'repair')


def test_the_first_page_shows_the_real_output_on_the_released_month(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    examples = [
        (line, shown)
        for line, shown in answered(ROOT / 'docs/start.md', ' 2026-07')
        if line.startswith(('coevo query', 'coevo show'))
    ]
    assert len(examples) == 3
    for line, shown in examples:
        assert main(shlex.split(line)[1:]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert [text for text in shown if text not in printed] == [], line


# The verbs that only read, with which the pages ask the released month, and what each prints.
READING = {'query': 'update', 'show': 't_old_c_new', 'verify': 'good'}


@pytest.mark.parametrize('verb', READING)
def test_the_shown_commands_run_on_the_released_month(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    lines = {
        line
        for page in PAGES
        for line in commands(page)
        if line.startswith(f'coevo {verb} 2026-07')
    }
    assert lines
    for line in sorted(lines):
        assert main(shlex.split(line)[1:]) == 0, line
    assert READING[verb] in capsys.readouterr().out


def test_the_checkout_lists_the_released_months(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(['query', '--list']) == 0
    printed = capsys.readouterr().out
    assert [name for name in NAMES if name not in printed] == []


def test_the_readme_shows_the_real_output_of_a_query(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    ((line, shown),) = answered(ROOT / 'README.md', 'coevo query snapshots/')
    assert main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out.splitlines() == shown


@pytest.mark.parametrize('edition', EDITIONS, ids=NAMES)
def test_each_released_edition_passes_verification(
    edition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['verify', str(edition)]) == 0
    assert capsys.readouterr().out.splitlines()[-2].endswith('code-free: good')
