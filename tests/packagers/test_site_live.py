"""The site in a real Chromium: what it counts is what DuckDB counts on the same snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.model.reasons import EXPLANATIONS
from packagers.site import folder
from tests import snapshots
from tests.axe import engine
from tests.browser import Browser, chromium, serving
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

# track, tasks, test methods, tests, code, tokens of tests and of code
TABLE_1 = 'generation 16 16 1 0 23 6 update 16 16 1 0 32 6'


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sites.make(tmp_path_factory.mktemp('live'))


@pytest.fixture(scope='module')
def scored(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two agents with one model, one with a later one, and one with a model without a cutoff."""
    results = tmp_path_factory.mktemp('results')
    return [
        sites.score(results / 'a', snapshot, f'Agent {sites.HOSTILE}', 7),
        sites.score(results / 'b', snapshot, 'Agent B', 9),
        sites.score(results / 'c', snapshot, 'Agent C', 10, strict=True, cutoff='2024-06-30'),
        sites.score(results / 'd', snapshot, 'Agent D', 9, tasks=9, model='of nobody', cutoff=None),
    ]


@pytest.fixture(scope='module')
def site(
    snapshot: Path, scored: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    older = snapshots.make(tmp_path_factory.mktemp('older'), 1, 2)
    out = tmp_path_factory.mktemp('sites') / 'site'
    folder.write_site([snapshot, older], out, lambda text: None, scored)
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


def test_first_view_shows_all_standard_tasks(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    assert counted(page) == expected(database, 'true') == 26
    assert page.script("return document.querySelectorAll('.rows tbody tr').length") == 26


def test_cutoff_slider_moves_by_keys_and_keeps_the_tasks_public_later(
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
    assert counts[0] == 24
    assert counts == sorted(set(counts), reverse=True)
    assert 'nobody knows since when' in page.text()
    page.press(slider, END)
    assert counted(page) == 0
    assert 'Nothing is left.' in page.text()


def test_choosing_a_model_sets_its_cutoff(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    choose(page, 'model', 'gpt-4o')
    assert day(page, 'after') == '2023-10-01'
    assert counted(page) == expected(database, "clean(contamination_date, '2023-10-01')")
    choose(page, 'model', 'gemini-2.0-flash')
    assert day(page, 'after') == '2024-08-31'


def test_both_ends_of_the_date_range_of_new_revisions_can_be_moved(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    page.press('input[type="range"][data-limit="from"]', RIGHT * 37)
    page.press('input[type="range"][data-limit="to"]', LEFT * 50)
    first, last = day(page, 'from'), day(page, 'to')
    span = f"new_committer_date >= '{first}' AND new_committer_date < DATE '{last}' + 1"
    assert 0 < counted(page) == expected(database, span) < 32, (first, last)


def test_date_range_includes_the_commits_of_its_last_day(
    page: Browser, database: duckdb.DuckDBPyConnection
) -> None:
    sql = 'SELECT min(new_committer_date)::DATE::VARCHAR FROM shown'
    ((date,),) = database.sql(sql).fetchall()
    field = 'input:not([type="range"])[data-limit="to"]'
    page.press(field, f'{date}{ENTER}')
    assert counted(page) == expected(database, f"new_committer_date < DATE '{date}' + 1") > 0


def test_filters_and_sliders_combine_and_are_kept_in_the_address(
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
    page.press('input[type="range"][data-limit="after"]', RIGHT * 50)
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


def test_task_view_shows_both_diffs_its_cells_and_its_dependencies(page: Browser) -> None:
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


def test_months_statistics_and_funnel_are_each_reached_by_one_click(page: Browser) -> None:
    page.click('.tabs a:nth-child(2)')
    page.wait_for("document.querySelector('#figure_2 svg')")
    rows = page.script("return document.querySelector('#table_1 tbody').innerText")
    assert rows.split() == TABLE_1.split()
    page.click('.tabs a:nth-child(3)')
    page.wait_for("document.querySelector('.funnel')")
    assert 'not_sampled' in page.text()
    page.script("""const select = document.querySelector('#header select')
        select.value = '2024-01'
        select.dispatchEvent(new Event('change'))""")
    page.wait_for("document.title.includes('2024-01')")
    page.click('.tabs a:nth-child(4)')
    page.wait_for("document.querySelector('.leaderboard')")
    assert 'No scores yet.' in page.text()


# Of the results' own files, what was public later; counted by DuckDB.
SCORES = """
SELECT harness, count(*)::VARCHAR, round(100 * avg((success_strict IS TRUE)::INT), 1),
    round(100 * avg((outcome = 'success')::INT), 1)
FROM read_parquet($files) WHERE model_cutoff IS NOT NULL AND
    contamination_date >= greatest(model_cutoff::DATE, $least::DATE) + INTERVAL 1 DAY
GROUP BY harness"""


def boards(page: Browser) -> list[list[list[str]]]:
    """Rank, who, strict, success, tasks, last day that counts as seen; of each row of each table."""
    return list(
        page.script(
            """return [...document.querySelectorAll('.board')].map(board =>
                [...board.querySelectorAll('tbody tr')].map(row =>
                    [...row.cells].slice(0, 6).map(cell => cell.innerText.split('\\n')[0])))"""
        )
    )


def test_leaderboard_scores_equal_those_of_duckdb_under_every_cutoff(
    page: Browser, site: str, scored: list[Path]
) -> None:
    page.open(f'{site}/#/leaderboard')
    page.wait_for("document.querySelector('.board')")
    files = [str(folder / 'results.parquet') for folder in scored]
    for choice, least in (('', '2000-01-01'), ('latest', '2024-06-30'), ('2024-07', '2024-07-31')):
        page.open('about:blank')
        page.open(f'{site}/#/leaderboard?cutoff={choice}')
        page.wait_for("document.querySelector('.board')")
        asked = duckdb.execute(SCORES, {'files': files, 'least': least}).fetchall()
        expected = {
            (harness.strip(), tasks, f'{strict}%', f'{success}%')
            for harness, tasks, strict, success in asked
        }
        found = [(row[1], row[4], row[2], row[3]) for board in boards(page) for row in board]
        assert set(found) == expected, choice
        assert len(found) == 3, choice


def test_leaderboard_ranks_within_one_set_of_tasks_and_ties_share_their_rank(
    page: Browser, site: str
) -> None:
    page.open(f'{site}/#/leaderboard')
    page.wait_for("document.querySelector('.board')")
    hostile = f'Agent {sites.HOSTILE}'.strip()
    same, other = boards(page)
    assert [row[:2] for row in same] == [['1–2', 'Agent B'], ['1–2', hostile]]  # noqa: RUF001
    assert [row[:2] for row in other] == [['', 'Agent C']]
    assert page.script("return document.querySelectorAll('.board strong').length") == 0
    text = page.text()
    assert 'These stand in 2 tables' in text
    assert 'Agent D, of nobody: no source states the training cutoff' in text
    choose(page, 'cutoff', 'all')
    assert 'that a model may have been trained on' in page.text()
    assert [len(board) for board in boards(page)] == [3, 1]
    best, *_ = boards(page)
    assert [row[1] for row in best][:2] == ['Agent C', 'Agent B']
    assert best[0][0] == '1'
    strong = "return [...document.querySelectorAll('.board strong')].map(one => one.innerText)"
    assert '100.0%' in page.script(strong)
    choose(page, 'cutoff', 'latest')
    assert [len(board) for board in boards(page)] == [3]
    assert 'cutoff=latest' in page.script('return location.hash')
    rows = page.script(
        "return [...document.querySelectorAll('#costs tbody tr')].map(r => r.innerText)"
    )
    (dollar,) = [row for row in rows if 'Agent B' in row and '$1\t' in row]
    # Tasks of up to a dollar are five of ten, and all of them succeed.
    assert dollar.count('50.0%') == 3
    assert page.script("return document.querySelectorAll('main img').length") == 0


def test_suite_leaderboard_shows_both_averages(page: Browser, site: str) -> None:
    page.open(f'{site}/#/leaderboard?tracks=class')
    page.wait_for("document.querySelector('#mutation')")
    cells = page.script(
        """return ['outcomes', 'lines'].map(id => [...document.querySelectorAll(`#${id} tbody tr`)]
            .map(row => [...row.cells].slice(1, 5).map(cell => cell.innerText.split('\\n')[0])))"""
    )
    shares = ('100.0%', '90.0%', '90.0%', '70.0%')
    assert cells == [
        [['10', share, share, share] for share in shares],
        [
            ['80.0%', '10', '80.0%', '10'],
            *[['72.0%', '10', '80.0%', '9']] * 2,
            ['56.0%', '10', '80.0%', '7'],
        ],
    ]
    attempts = page.script(
        """return [...document.querySelectorAll('#attempts tbody tr')]
            .map(row => [...row.cells].slice(1, 4).map(cell => cell.innerText.split('\\n')[0]))"""
    )
    told = 'each knows the result of the previous one'
    shares = ('90.0%', '100.0%', '90.0%', '100.0%', '70.0%', '80.0%')
    assert attempts == [[told, str(1 + n % 2), share] for n, share in enumerate(shares)]


def test_data_is_shown_as_text_and_not_as_markup(page: Browser, site: str) -> None:
    page.open(f'{site}/#/explore?kind=methods')
    page.wait_for("document.querySelector('select[data-limit=label]')")
    page.press('.rows tbody tr:first-child a', ENTER)
    page.wait_for("document.querySelector('pre.code')")
    assert sites.HOSTILE in page.text()
    assert page.script("return document.querySelectorAll('main img').length") == 0


def test_ten_thousand_tasks_are_listed_and_filtered_quickly(page: Browser, tmp_path: Path) -> None:
    snapshot = sites.many(tmp_path, 10_000)
    database = coevo.open(snapshot)
    database.execute(TASKS)
    out = folder.write_site([snapshot], tmp_path / 'site', lambda text: None)
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


def test_no_view_is_wider_than_a_phone_screen(page: Browser, site: str) -> None:
    page.size(390, 844)
    for view in ('', '#/statistics', '#/funnel', '#/leaderboard', '#/explore?kind=methods'):
        page.open('about:blank')
        page.open(f'{site}/{view}')
        page.wait_for("document.getElementById('content').dataset.ready !== undefined")
        assert page.script('return document.documentElement.scrollWidth') <= 390, view


def test_every_control_has_a_name_and_is_reachable_by_keyboard(page: Browser) -> None:
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


VIEWS = ('', '#/explore?kind=methods', '#/statistics', '#/funnel', '#/leaderboard', 'task')


def test_axe_finds_no_violation_in_any_view_light_or_dark_wide_or_narrow(
    page: Browser, site: str
) -> None:
    task = page.script("return document.querySelector('.rows tbody a').getAttribute('href')")
    for dark, width in ((False, 1280), (True, 390)):
        page.dark(dark)
        page.size(width, 900)
        for view in VIEWS:
            page.open('about:blank')
            page.open(f'{site}/{task if view == "task" else view}')
            page.wait_for("document.getElementById('content').dataset.ready !== undefined")
            assert engine.violations(page) == [], (view, dark, width)
    page.script("document.querySelector('main').append(document.createElement('button'))")
    assert [one.partition(':')[0] for one in engine.violations(page)] == ['button-name']
    page.dark(False)


def test_first_visit_shows_a_landing_page_with_a_loading_command(page: Browser, site: str) -> None:
    page.open('about:blank')
    page.open(f'{site}/')
    page.wait_for("document.querySelector('.landing')")
    assert page.script("return document.querySelectorAll('h1').length") == 1
    line = page.script("return document.querySelector('.landing code').innerText")
    assert f'{site}/2024-06/data/tasks/' in line
    (address,) = re.findall(r'"(http[^"]+/)', line)
    names = re.findall(r'"([\w-]+\.parquet)"', line)
    assert names
    for name in names:
        assert page.script('return fetch(arguments[0]).then(one => one.ok)', address + name)
    page.click('.landing .copy')
    page.wait_for("document.querySelector('.landing .copy').innerText === 'Copied'")
    page.click('.tabs a:nth-child(1)')
    page.wait_for("!document.querySelector('.landing')")


def test_task_view_shows_how_to_start_it_and_other_tasks_of_its_pair(page: Browser) -> None:
    page.press('.rows tbody tr:first-child a', ENTER)
    page.wait_for("document.querySelector('.start')")
    text = page.text()
    for words in ('Other tasks of this pair', 'coevo checkout 2024-06'):
        assert words in text, words
    here = page.script('return location.hash')
    page.click('.others a')
    page.wait_for("document.querySelector('.start') && location.hash !== arguments[0]", here)
    page.click('.others a')
    page.wait_for("document.querySelector('.start') && location.hash === arguments[0]", here)


def test_funnel_explains_its_reasons_in_sentences(page: Browser, site: str) -> None:
    page.open(f'{site}/#/funnel')
    page.wait_for("document.querySelector('.reasons')")
    text = page.script("return document.querySelector('.funnel').innerText")
    assert EXPLANATIONS['not_sampled'] in text
    assert 'not_sampled' in text


def test_page_fetches_only_from_its_own_site(page: Browser, site: str) -> None:
    fetched = page.script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert any(name.endswith('.parquet') for name in fetched)
    assert all(name.startswith((f'{site}/', 'data:')) for name in fetched)
