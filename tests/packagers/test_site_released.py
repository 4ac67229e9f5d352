"""The site of the released months, whose texts are withheld, in a real Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.snapshots.catalogue import build_catalogue_entry
from coevo.snapshots.show import render_by_id
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.statistics import query_figures
from packagers.site import folder
from tests.axe import engine
from tests.browser import Browser, chromium, serving

ROOT = Path(__file__).parents[2]
EDITIONS = {
    path.parent.name: path for path in sorted((ROOT / 'snapshots').glob('[0-9]*/code-free'))
}
RESULTS = sorted(path.parent for path in (ROOT / 'snapshots').glob('*/baselines/*/report.json'))
MONTHS = tuple(EDITIONS)
BOARDS = tuple(sorted({path.parents[1].name for path in RESULTS}))

pytestmark = pytest.mark.live


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp('released') / 'site'
    folder.write_site(list(EDITIONS.values()), out, lambda text: None, RESULTS)
    with serving(out) as address:
        yield address


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Browser]:
    browser.size(1280, 900)
    yield browser
    assert browser.complaints() == []


def show(page: Browser, address: str) -> None:
    """Open a view and wait until it is there; it may not be the view that says what went wrong."""
    page.open('about:blank')
    page.open(address)
    page.wait_for("document.getElementById('content').dataset.ready !== undefined")
    assert page.script("return document.querySelector('[role=alert]')") is None, page.text()


def connect(month: str) -> duckdb.DuckDBPyConnection:
    return coevo.open(EDITIONS[month])


def find_task(month: str) -> tuple[str, str, str, str]:
    """The first update: its id, the address of its repository, and both revisions."""
    ((task, url, old, new),) = (
        connect(month)
        .sql(
            """SELECT task_id, url, old_rev, new_rev FROM standard_tasks
            WHERE track = 'update' ORDER BY task_id LIMIT 1"""
        )
        .fetchall()
    )
    return task, url, old, new


@pytest.mark.parametrize('month', MONTHS)
def test_each_task_page_says_that_its_texts_are_withheld_and_links_to_the_change(
    page: Browser, site: str, month: str
) -> None:
    task, url, old, new = find_task(month)
    show(page, f'{site}/#/task/{task}?month={month}')
    assert 'The texts are withheld here.' in page.text()
    assert 'No change.' not in page.text()
    links = page.script(
        "return [...document.querySelectorAll('.withheld a')].map(link => link.href)"
    )
    assert links == [f'{url.removesuffix(".git")}/compare/{old}..{new}']


@pytest.mark.parametrize('month', MONTHS)
def test_a_method_page_does_not_claim_that_a_withheld_test_is_missing(
    page: Browser, site: str, month: str
) -> None:
    ((method, url, old, new),) = (
        connect(month)
        .sql(
            """SELECT method_id, url, methods.old_rev, methods.new_rev
            FROM standard AS methods JOIN tasks USING (task_id)
            WHERE methods.track = 'update' ORDER BY method_id LIMIT 1"""
        )
        .fetchall()
    )
    show(page, f'{site}/#/method/{method}?month={month}')
    text = page.text()
    assert 'The texts are withheld here.' in text
    assert 'has no such test' not in text
    assert f'{url.removesuffix(".git")}/compare/{old}..{new}' in page.script(
        "return [...document.querySelectorAll('main a')].map(link => link.href)"
    )


@pytest.mark.parametrize('month', MONTHS)
def test_every_task_and_a_sample_of_methods_can_be_shown(
    page: Browser, site: str, month: str
) -> None:
    connection = connect(month)
    page.size(390, 844)
    show(page, f'{site}/#/explore?month={month}')
    ids = connection.sql(
        """SELECT 'task/' || task_id FROM tasks UNION ALL
        SELECT 'method/' || method_id FROM methods WHERE abs(hash(method_id)) % 50 = 0"""
    ).fetchall()
    assert len(ids) > 80
    for (view,) in ids:
        page.script('location.hash = arguments[0]', f'#/{view}?month={month}')
        page.wait_for(
            "document.querySelector('[role=alert]') || document.title.startsWith(arguments[0])"
            " && document.querySelector('article.item')",
            view.split('/')[1],
        )
        assert page.script("return document.querySelector('[role=alert]')") is None, view
        assert page.script('return document.documentElement.scrollWidth') <= 390, view
        wrong = """return [...document.querySelectorAll('main dd, main li')].map(one => one.innerText)
            .filter(text => /^(false|true|null|undefined|NaN|SNAPSHOT)$/.test(text))"""
        assert page.script(wrong) == [], view


@pytest.mark.parametrize('month', MONTHS)
def test_page_catalogue_and_readme_name_the_figures_of_one_query(
    page: Browser, site: str, month: str
) -> None:
    figures = query_figures(connect(month))
    show(page, f'{site}/#/statistics?month={month}')
    shown = page.script(
        "return [...document.querySelectorAll('.figures dd')].map(figure => figure.innerText)"
    )
    names = ('repositories', 'repositories_with_tasks', 'pairs', 'labelled_methods')
    names += ('coevolution', 'standard', 'maintenance', 'suites', 'implement')
    assert shown == [f'{figures[name]:,}' for name in names]
    tracks = page.script(
        """return [...document.querySelectorAll('#table_1 tbody tr')]
            .map(row => [row.cells[0].innerText, row.cells[1].innerText])"""
    )
    assert dict(tracks) == {
        track: str(figures[f'coevolution_{track}'])
        for track in ('extension', 'generation', 'repair', 'update')
        if figures[f'coevolution_{track}']
    }
    show(page, f'{site}/#/explore?month={month}')
    counted = ', '.join(
        f'{figures[f"standard_{track}"]} {track}'
        for track in ('generation', 'update', 'extension', 'repair')
        if figures[f'standard_{track}']
    )
    assert f'{figures["standard"]} of {figures["tasks"]} tasks: {counted}' in page.script(
        "return document.querySelector('.result').innerText"
    )
    entry = build_catalogue_entry('one', load_manifest(EDITIONS[month]))
    counts = {table: figures[table] for table in ('tasks', 'methods', 'pairs', 'repositories')}
    assert dict(entry.rows) == counts
    about = (ROOT / 'docs/about.md').read_text()
    line = next(line for line in about.split('\n') if f'[{month}](' in line)
    numbers = re.sub(r'(?<=\d),(?=\d)', '', line.partition(')')[2])
    row = [int(word) for word in re.findall(r'\d+', numbers)]
    readme = ('repositories', 'pairs', 'labelled_methods', 'coevolution_generation')
    readme += ('coevolution_update', 'coevolution_extension', 'coevolution_repair', 'maintenance')
    assert row[: len(readme)] == [figures[name] for name in readme]
    card = (EDITIONS[month] / 'README.md').read_text()
    for table in ('tasks', 'methods', 'pairs'):
        assert f'`{table}` {figures[table]},' in card


@pytest.mark.parametrize('month', MONTHS)
def test_the_runs_that_agree_are_counted_alike_on_the_page_and_by_the_command(
    page: Browser, site: str, month: str
) -> None:
    ((task, broken),) = (
        connect(month)
        .sql(
            """SELECT task_id, t_old_c_new_runs - t_old_c_new_passes FROM standard
            WHERE track = 'update' AND t_old_c_new = 'fail' ORDER BY method_id LIMIT 1"""
        )
        .fetchall()
    )
    lines = [line.split() for line in render_by_id(EDITIONS[month], task).splitlines()]
    said = next(' '.join(words[3:6]) for words in lines if words[:2] == ['t_old_c_new', 'fail'])
    assert said == f'{broken} of {broken}'
    show(page, f'{site}/#/task/{task}?month={month}')
    cells = page.script(
        """return [...document.querySelectorAll('[data-name="Old tests on new code"]')]
            .map(cell => cell.innerText)"""
    )
    assert any(cell.startswith(f'fail\n{said} runs') for cell in cells)


@pytest.mark.parametrize('month', MONTHS)
def test_tokens_of_withheld_texts_are_not_counted_as_zero(
    page: Browser, site: str, month: str
) -> None:
    show(page, f'{site}/#/statistics?month={month}')
    cells = page.script(
        """return [...document.querySelectorAll('#table_1 tbody tr')]
            .map(row => [row.cells[5].innerText, row.cells[6].innerText])"""
    )
    assert cells
    assert {text for row in cells for text in row} == {'withheld'}
    assert 'are withheld here, so their tokens are not counted' in page.text()


@pytest.mark.parametrize('month', MONTHS)
def test_the_funnel_is_one_picture_from_commits_to_tasks(
    page: Browser, site: str, month: str
) -> None:
    show(page, f'{site}/#/funnel?month={month}')
    label = page.script("return document.querySelector('svg.flow').getAttribute('aria-label')")
    figures = query_figures(connect(month))
    assert re.search(r'walk: [\d,]+ of [\d,]+ commits kept', label)
    assert f'task: {figures["tasks"]} of' in label
    width = page.script("return document.querySelector('svg.flow').getBoundingClientRect().width")
    assert width > 1100


VIEWS = ('', '#/statistics', '#/funnel', '#/leaderboard', '#/explore?kind=methods', 'task')


@pytest.mark.parametrize('month', MONTHS)
def test_on_a_phone_no_view_is_too_wide_and_no_number_is_broken(
    page: Browser, site: str, month: str
) -> None:
    page.size(390, 844)
    task = f'#/task/{find_task(month)[0]}?month={month}'
    for view in VIEWS:
        mark = '&' if '?' in view else '?'
        other = f'{view or "#/explore"}{mark}month={month}'
        show(page, f'{site}/{task if view == "task" else other}')
        assert page.script('return document.documentElement.scrollWidth') <= 390, view
        broken = page.script(
            """return [...document.querySelectorAll('dd, td.figure, .stage p, .result strong, td.date')]
                .filter(one => /^[\\d,.%]+$/.test(one.innerText) && one.getClientRects().length === 1
                    && [...one.childNodes].some(node => {
                        const range = document.createRange()
                        range.selectNodeContents(node)
                        return range.getClientRects().length > 1
                    })).map(one => one.innerText)"""
        )
        assert broken == [], view


def test_axe_finds_no_violation_in_the_released_months(page: Browser, site: str) -> None:
    task = f'#/task/{find_task(MONTHS[-1])[0]}'
    for dark, width in ((False, 1280), (True, 390)):
        page.dark(dark)
        page.size(width, 900)
        for view in VIEWS:
            show(page, f'{site}/{task if view == "task" else view}')
            assert engine.violations(page) == [], (view, dark, width)
    page.dark(False)


@pytest.mark.parametrize('month', BOARDS)
def test_the_board_of_a_released_month_shows_the_shipped_baselines(
    page: Browser, site: str, month: str
) -> None:
    show(page, f'{site}/#/leaderboard?month={month}')
    shown = page.script(
        "return [...document.querySelectorAll('.board th.who')].map(one => one.innerText)"
    )
    reports = [
        json.loads((path / 'report.json').read_bytes())
        for path in RESULTS
        if path.parents[1].name == month
    ]
    harnesses = {system['harness'] for report in reports for system in report['systems']}
    assert {name.splitlines()[0] for name in shown} == harnesses
    assert page.script("return document.querySelectorAll('#over-time svg circle').length") > 0
