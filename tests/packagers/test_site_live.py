"""The site in a real Chromium: what it counts is what DuckDB counts on the same snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import coevo
from packagers.site import folder
from tests import snapshots
from tests.browser import Browser
from tests.browser import chromium
from tests.browser import serving
from tests.packagers import sites

pytestmark = pytest.mark.live

RIGHT, LEFT, END, TAB, ENTER = '\ue014', '\ue012', '\ue010', '\ue004', '\ue007'
# Tasks of which every method has whole evidence, with what the page filters by.
TASKS = """
CREATE TEMP TABLE shown AS
SELECT tasks.*, list(cause::VARCHAR) AS causes
FROM tasks JOIN (SELECT unnest(method_ids) AS method_id, task_id FROM tasks) AS targets USING (task_id)
JOIN (SELECT method_id, walk, cause FROM standard) AS rows USING (method_id, walk)
GROUP BY ALL HAVING count(*) = len(any_value(tasks.method_ids))"""

# track, tasks, tests, code, tokens of tests and of code
TABLE_1 = 'generation 16 1 0 23 6 update 16 1 0 32 6'


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sites.make(tmp_path_factory.mktemp('live'))


@pytest.fixture(scope='module')
def site(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    older = snapshots.make(tmp_path_factory.mktemp('older'), 1, 2)
    results = tmp_path_factory.mktemp('results')
    scored = [
        sites.score(results / 'a', snapshot, f'Agent {sites.HOSTILE}', 7),
        sites.score(results / 'b', snapshot, 'Agent B', 9),
    ]
    out = tmp_path_factory.mktemp('sites') / 'site'
    folder.write([snapshot, older], out, lambda text: None, scored)
    with serving(out) as address:
        yield address


@pytest.fixture(scope='module')
def database(snapshot: Path) -> duckdb.DuckDBPyConnection:
    connection = coevo.open(snapshot)
    connection.execute(TASKS)
    return connection


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Browser]:
    """The explorer, freshly loaded; nothing may have gone wrong in the end."""
    browser.size(1280, 900)
    browser.open('about:blank')
    browser.open(f'{site}/')
    browser.wait_for("document.getElementById('count')")
    yield browser
    assert browser.complaints() == []


def counted(page: Browser) -> int:
    return int(
        str(page.script("return document.getElementById('count').innerText")).replace(',', '')
    )


def expected(database: duckdb.DuckDBPyConnection, condition: str, table: str = 'shown') -> int:
    ((found,),) = database.sql(f'SELECT count(*) FROM {table} WHERE {condition}').fetchall()
    return int(found)


def day(page: Browser, limit: str) -> str:
    """What the field beside a slider holds."""
    return str(
        page.script(
            f'return document.querySelector(\'input:not([type="range"])[data-limit="{limit}"]\').value'
        )
    )


def choose(page: Browser, limit: str, value: str) -> None:
    page.script(
        """const select = document.querySelector(`select[data-limit="${arguments[0]}"]`)
        select.value = arguments[1]
        select.dispatchEvent(new Event('change'))""",
        limit,
        value,
    )


def test_all_standard_tasks_are_there_at_first(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    assert counted(page) == expected(database, 'true') == 32
    assert page.script("return document.querySelectorAll('.rows tbody tr').length") == 32


def test_the_cutoff_slider_moves_by_keys_and_leaves_what_was_public_later(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    slider = 'input[type="range"][data-limit="after"]'
    counts = []
    for presses in (1, 40, 30, 25):
        page.press(slider, RIGHT * presses)
        cutoff = day(page, 'after')
        counts.append(counted(page))
        assert counts[-1] == expected(database, f"clean(contamination_date, '{cutoff}')"), cutoff
    # The first step leaves out what has no date at all, and each of the others something.
    assert counts[0] == 30
    assert counts == sorted(set(counts), reverse=True)
    assert 'nobody knows since when' in page.text()
    page.press(slider, END)
    assert counted(page) == 0
    assert 'Nothing is left.' in page.text()


def test_a_model_stands_for_its_cutoff(page: Browser, database: duckdb.DuckDBPyConnection) -> None:
    choose(page, 'model', 'gpt-4o')
    assert day(page, 'after') == '2023-10-01'
    assert counted(page) == expected(database, "clean(contamination_date, '2023-10-01')")
    choose(page, 'model', 'gemini-2.0-flash')
    assert day(page, 'after') == '2024-08-31'


def test_both_ends_of_the_span_of_new_revisions_move(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    page.press('input[type="range"][data-limit="from"]', RIGHT * 37)
    page.press('input[type="range"][data-limit="to"]', LEFT * 50)
    first, last = day(page, 'from'), day(page, 'to')
    span = f"new_committer_date >= '{first}' AND new_committer_date < DATE '{last}' + 1"
    assert 0 < counted(page) == expected(database, span) < 32, (first, last)


def test_the_day_of_a_commit_is_in_a_span_that_ends_with_it(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    sql = 'SELECT min(new_committer_date)::DATE::VARCHAR FROM shown'
    ((date,),) = database.sql(sql).fetchall()
    field = 'input:not([type="range"])[data-limit="to"]'
    page.press(field, f'{date}{ENTER}')
    assert counted(page) == expected(database, f"new_committer_date < DATE '{date}' + 1") > 0


def test_filters_and_sliders_hold_together(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    page.click('input[data-limit="tracks"][value="update"]')
    assert counted(page) == expected(database, "track = 'update'")
    choose(page, 'repo', sites.OTHER)
    here = f"track = 'update' AND repo = '{sites.OTHER}'"
    assert counted(page) == expected(database, here)
    choose(page, 'cause', 'fixture')
    here += " AND list_contains(causes, 'fixture')"
    assert counted(page) == expected(database, here)
    choose(page, 'language', 'java')
    page.press('input[type="range"][data-limit="after"]', RIGHT * 80)
    here += f" AND language = 'java' AND clean(contamination_date, '{day(page, 'after')}')"
    assert 0 < counted(page) == expected(database, here) < expected(database, "track = 'update'")
    address = page.script('return location.href')
    page.open('about:blank')
    page.open(address)  # what the address holds is all that there is
    page.wait_for("document.getElementById('count')")
    assert counted(page) == expected(database, here)


def test_test_methods_are_counted_by_label(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    page.click('.kinds a:last-child')
    page.wait_for("document.querySelector('select[data-limit=label]')")
    assert counted(page) == expected(database, 'true', 'standard')
    choose(page, 'label', 'refinement')
    page.press('input[type="range"][data-limit="after"]', RIGHT * 60)
    cutoff = day(page, 'after')
    condition = f"label = 'refinement' AND clean(contamination_date, '{cutoff}')"
    assert 0 < counted(page) == expected(database, condition, 'standard')


def test_a_task_shows_both_changes_its_cells_and_its_dependencies(page: Browser) -> None:
    page.press('.rows tbody tr:first-child a', ENTER)
    page.wait_for("document.querySelector('.diffs')")
    diffs = page.script("return [...document.querySelectorAll('.diff')].map(one => one.innerText)")
    assert [one.splitlines()[0] for one in diffs] == [
        'Change of the test +1 \u22121',
        'Change of the source +1 \u22121',
    ]
    left, right = page.script(
        "return [...document.querySelectorAll('.diff')].map(one => one.getBoundingClientRect().y)"
    )
    assert left == right
    text = page.text()
    for words in (
        'Old tests\non new code',
        '3 of 3 runs',
        'public int of(int zones)',
        'mvn test-compile',
    ):
        assert words in text, words
    page.script('history.back()')
    page.wait_for("document.getElementById('count')")


def test_months_statistics_and_the_funnel_are_a_click_away(page: Browser) -> None:
    page.click('.tabs a:nth-child(2)')
    page.wait_for("document.querySelector('#figure_2 svg')")
    rows = page.script("return document.querySelector('#table_1 tbody').innerText")
    assert rows.split() == TABLE_1.split()
    page.click('.tabs a:nth-child(3)')
    page.wait_for("document.querySelector('.funnel')")
    assert 'not sampled' in page.text()
    page.script("""const select = document.querySelector('#header select')
        select.value = '2024-01'
        select.dispatchEvent(new Event('change'))""")
    page.wait_for("document.title.includes('2024-01')")
    page.click('.tabs a:nth-child(4)')
    page.wait_for("document.querySelector('.leaderboard')")
    assert 'No scores yet.' in page.text()


def test_the_leaderboard_ranks_what_the_reports_say(page: Browser, site: str) -> None:
    page.open(f'{site}/#/leaderboard')
    page.wait_for("document.querySelector('#costs')")
    cells = page.script(
        """return [...document.querySelectorAll('#outcomes tbody tr')]
            .map(row => [...row.cells].slice(0, 7).map(cell => cell.innerText.split('\\n')[0]))"""
    )
    hostile = f'Agent {sites.HOSTILE}'.strip()
    assert cells == [
        ['Agent B', 'Model 1', '10', '10', '90.0%', '10.0%', '0.0%'],
        [hostile, 'Model 1', '10', '10', '70.0%', '30.0%', '0.0%'],
    ]
    best = page.script(
        "return [...document.querySelectorAll('#outcomes strong')].map(cell => cell.innerText)"
    )
    assert best == ['90.0%', '10.0%', '0.0%', '0.0%', '0.0%', '0.0%']
    first = page.script("return document.querySelector('#costs tbody').rows[1].innerText")
    # Tasks of up to a dollar are five of ten, and all of them succeed.
    assert '$1' in first
    assert first.count('50.0%') == 3
    curves = "return [...document.querySelectorAll('#spent path')].map(one => one.textContent)"
    assert page.script(curves) == ['Agent B, Model 1', f'Agent {sites.HOSTILE}, Model 1']
    assert page.script("return document.querySelectorAll('main img').length") == 0


def test_suites_have_a_leaderboard_with_both_averages(page: Browser, site: str) -> None:
    page.open(f'{site}/#/leaderboard?tracks=class')
    page.wait_for("document.querySelector('#mutation')")
    cells = page.script(
        """return ['outcomes', 'lines'].map(id => [...document.querySelectorAll(`#${id} tbody tr`)]
            .map(row => [...row.cells].slice(2, 6).map(cell => cell.innerText.split('\\n')[0])))"""
    )
    assert cells == [
        [['10', '90.0%', '90.0%', '90.0%'], ['10', '70.0%', '70.0%', '70.0%']],
        [['72.0%', '10', '80.0%', '9'], ['56.0%', '10', '80.0%', '7']],
    ]


def test_what_the_data_hold_is_text_and_no_markup(page: Browser, site: str) -> None:
    page.open(f'{site}/#/explore?kind=methods')
    page.wait_for("document.querySelector('select[data-limit=label]')")
    page.press('.rows tbody tr:first-child a', ENTER)
    page.wait_for("document.querySelector('pre.code')")
    assert sites.HOSTILE in page.text()
    assert page.script("return document.querySelectorAll('main img').length") == 0


def test_ten_thousand_tasks_are_listed_and_filtered_at_once(page: Browser, tmp_path: Path) -> None:
    snapshot = sites.many(tmp_path, 10_000)
    database = coevo.open(snapshot)
    database.execute(TASKS)
    out = folder.write([snapshot], tmp_path / 'site', lambda text: None)
    with serving(out) as address:
        page.open(address)
        page.wait_for("document.getElementById('count')")
        assert counted(page) == 10_000
        assert page.script("return document.querySelectorAll('.rows tbody tr').length") == 50
        milliseconds = page.script(
            """const slider = document.querySelector('input[type=range][data-limit=after]')
            const before = performance.now()
            for (let month = 0; month < 20; month++) {
                slider.value = Number(slider.value) + 3
                slider.dispatchEvent(new Event('input'))
                document.body.getBoundingClientRect()
            }
            return (performance.now() - before) / 20"""
        )
        print(f'10,000 tasks: {milliseconds:.0f} ms from a move of the slider to the new page')
        # A tenth of a second is felt as at once; the rest is for busy machines.
        assert milliseconds < 500
        condition = f"clean(contamination_date, '{day(page, 'after')}')"
        assert 0 < counted(page) == expected(database, condition) < 9_000
        page.click('.pages button:last-child')
        page.wait_for("document.querySelector('.pages').innerText.includes('51 to 100 of')")
    with serving(out, ranges=True) as address:
        page.open(address)
        page.wait_for("document.getElementById('count')")
        assert counted(page) == 10_000
        fetched = page.script(
            """return performance.getEntriesByType('resource')
                .filter(one => one.name.includes('/data/methods/'))
                .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
        )
        (file,) = (out / '2026-11' / 'data' / 'methods').iterdir()
        print(f'{fetched} of {file.stat().st_size} bytes of methods were fetched')
        assert 0 < fetched < file.stat().st_size


def test_on_a_phone_nothing_is_wider_than_the_screen(page: Browser, site: str) -> None:
    page.size(390, 844)
    for view in ('', '#/statistics', '#/funnel', '#/leaderboard', '#/explore?kind=methods'):
        page.open('about:blank')
        page.open(f'{site}/{view}')
        page.wait_for("document.getElementById('content').dataset.ready !== undefined")
        assert page.script('return document.documentElement.scrollWidth') <= 390, view


def test_everything_that_can_be_used_has_a_name_and_can_be_reached_by_keys(page: Browser) -> None:
    controls = {'slider', 'textbox', 'searchbox', 'combobox', 'checkbox', 'button', 'link', 'Date'}
    nameless = [role for role, name in page.accessible() if role in controls and not name.strip()]
    assert nameless == []
    reached = set()
    for _ in range(40):
        page.keys(TAB)
        reached.add(
            page.script(
                'return document.activeElement.dataset.limit ?? document.activeElement.tagName'
            )
        )
    assert {
        'A',
        'from',
        'to',
        'after',
        'tracks',
        'repo',
        'cause',
        'language',
        'words',
        'BUTTON',
    } <= reached


def test_nothing_is_fetched_but_from_the_site_itself(page: Browser, site: str) -> None:
    fetched = page.script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert any(name.endswith('.parquet') for name in fetched)
    assert all(name.startswith((f'{site}/', 'data:')) for name in fetched)
