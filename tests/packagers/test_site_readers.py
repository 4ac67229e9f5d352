"""What a reader finds on the site of the released months: kinds of tasks, counts, commands, ways back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from coevo.command.main import build_parser
from coevo.snapshots.snapshot import load_manifest
from packagers.site import folder
from tests.browser import Browser, chromium, serving
from tests.packagers.test_site_released import (
    BOARDS,
    EDITIONS,
    MONTHS,
    RESULTS,
    connect,
    find_task,
    show,
)

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


# A task by its kind: its track if it asks for single tests, else its family.
KIND = "CASE family WHEN 'coevolution' THEN track ELSE family END"


def read_result(page: Browser) -> str:
    return str(page.script("return document.querySelector('.result').innerText"))


@pytest.mark.parametrize('month', MONTHS)
def test_tasks_of_all_families_are_counted_listed_and_filtered_by_their_kind(
    page: Browser, site: str, month: str
) -> None:
    kinds = dict(connect(month).sql(f'SELECT {KIND}, count(*) FROM tasks GROUP BY 1').fetchall())
    show(page, f'{site}/#/explore?month={month}&scope=walks')
    told = read_result(page)
    assert {kind: f'{number} {kind}' in told for kind, number in kinds.items()} == dict.fromkeys(
        kinds, True
    )
    show(page, f'{site}/#/explore?month={month}')
    page.click('input[data-limit="tracks"][value="implement"]')
    assert read_result(page).startswith(f'{kinds["implement"]} of ')
    rows = page.script(
        """return [...document.querySelectorAll('.rows tbody tr')]
            .map(row => [row.cells[0].innerText, row.cells[3].innerText])"""
    )
    assert {kind for kind, _ in rows} == {'implement'}
    assert all(tests.startswith('code for ') for _, tests in rows)
    address = page.script('return location.href')
    show(page, address)
    assert read_result(page).startswith(f'{kinds["implement"]} of ')
    page.click('input[data-limit="tracks"][value="implement"]')
    assert page.script("return document.querySelector('[data-limit=scope]').value") == 'standard'


@pytest.mark.parametrize('month', MONTHS)
def test_the_other_tasks_of_a_pair_have_their_kinds_and_differ(
    page: Browser, site: str, month: str
) -> None:
    ((pair, task),) = (
        connect(month)
        .sql("""SELECT pair_id, min(task_id) FROM tasks GROUP BY pair_id
            ORDER BY count(DISTINCT family) DESC, count(*) DESC, pair_id LIMIT 1""")
        .fetchall()
    )
    others = f"SELECT {KIND} FROM tasks WHERE pair_id = '{pair}' AND task_id <> '{task}' ORDER BY 1"
    show(page, f'{site}/#/task/{task}?month={month}')
    lines = page.script(
        """return [...document.querySelectorAll('.others li')]
            .map(one => [one.querySelector('.chip').innerText, one.innerText])"""
    )
    kinds = [kind for (kind,) in connect(month).sql(others).fetchall()]
    assert sorted(chip for chip, _ in lines) == kinds
    assert len({text for _, text in lines}) == len(lines)


@pytest.mark.parametrize('month', MONTHS)
def test_each_choice_of_a_filter_leaves_as_many_rows_as_it_says(
    page: Browser, site: str, month: str
) -> None:
    show(page, f'{site}/#/explore?month={month}')
    page.click('input[data-limit="tracks"][value="generation"]')
    wrong = page.script(
        """const wrong = []
        for (const name of ['repo', 'cause', 'language', 'scope']) {
            const select = document.querySelector(`select[data-limit=${name}]`)
            const before = select.value
            for (const option of select.options) {
                const said = /\\(([\\d,]+)\\)$/.exec(option.textContent)?.[1]
                select.value = option.value
                select.dispatchEvent(new Event('change'))
                const left = document.getElementById('count').innerText
                if (option.value && said !== left) wrong.push([name, option.textContent, left])
            }
            select.value = before
            select.dispatchEvent(new Event('change'))
        }
        return wrong"""
    )
    assert wrong == []


@pytest.mark.parametrize('month', MONTHS)
def test_the_first_view_counts_the_projects_that_have_tasks(
    page: Browser, site: str, month: str
) -> None:
    ((projects,),) = connect(month).sql('SELECT count(DISTINCT repo) FROM tasks').fetchall()
    show(page, f'{site}/#/?month={month}')
    words = page.script("return document.querySelector('.landing .words').innerText")
    assert f'from the Git history of {projects} open-source projects' in words


def test_every_part_of_a_chart_has_a_colour_of_its_own_in_its_legend(
    page: Browser, site: str
) -> None:
    show(page, f'{site}/#/statistics')
    for dark in (False, True):
        page.dark(dark)
        legends = page.script(
            """return [...document.querySelectorAll('.statistic .legend')].map(legend =>
                [...legend.querySelectorAll('.swatch')].map(one => getComputedStyle(one).backgroundColor))"""
        )
        bars = page.script(
            """return [...document.querySelectorAll('.plot rect')].map(one => getComputedStyle(one).fill)"""
        )
        assert max(map(len, legends)) == 4
        for colours in legends:
            assert len(set(colours)) == len(colours)
            assert set(bars) <= set(legends[0])
            assert 'rgba(0, 0, 0, 0)' not in colours
    page.dark(False)


@pytest.mark.parametrize('month', MONTHS)
def test_the_commands_of_a_task_page_name_the_month_and_can_be_parsed(
    page: Browser, site: str, month: str
) -> None:
    task, *_ = find_task(month)
    show(page, f'{site}/#/task/{task}?month={month}')
    commands = page.script(
        """return [...document.querySelectorAll('.copyable code')].map(one => one.innerText)
            .filter(text => text.startsWith('coevo '))"""
    )
    assert commands == [
        f'coevo get {month}',
        f'coevo get {month} --only-tasks {task}',
        f'coevo checkout {month} {task} work',
    ]
    for command in commands:
        words = command.split()[1:]
        build_parser(words).parse_args(words)


@pytest.mark.parametrize('month', MONTHS)
def test_the_funnel_says_what_is_not_mined_yet_and_what_is_still_there(
    page: Browser, site: str, month: str
) -> None:
    waiting = 'SELECT sum(commits_kept) - (SELECT count(*) FROM pairs) FROM repositories'
    ((number,),) = connect(month).sql(waiting).fetchall()
    show(page, f'{site}/#/funnel?month={month}')
    assert page.text().count(f'{number} are not mined yet') == 2
    listed = """return ['withdrawn', 'changed'].map(id =>
        [...document.querySelectorAll(`#${id} tbody td:nth-child(3)`)].map(one => one.innerText))"""
    parts = [
        [id for (id,) in connect(month).sql(f'{ids} ORDER BY id').fetchall()]
        for ids in (
            'SELECT id FROM withdrawn WHERE NOT reissued',
            'SELECT id FROM withdrawn WHERE reissued',
        )
    ]
    assert [sorted(ids) for ids in page.script(listed)] == parts


@pytest.mark.parametrize('month', MONTHS)
def test_tables_that_are_cut_off_say_so_and_no_view_has_backticks_or_empty_rows(
    page: Browser, site: str, month: str
) -> None:
    page.size(390, 844)
    for view in ('statistics', 'funnel', 'leaderboard'):
        show(page, f'{site}/#/{view}?month={month}')
        cut = page.script(
            """return [...document.querySelectorAll('.scroll')].filter(one => one.checkVisibility())
                .map(one => [one.scrollWidth > one.clientWidth, one.previousElementSibling.checkVisibility()])"""
        )
        assert [wide for wide, _ in cut] == [told for _, told in cut], view
        shown = page.script(
            """return [...document.querySelectorAll('main h2, main .note, main dt')]
                .map(one => one.innerText).filter(text => text.includes('`'))"""
        )
        assert shown == [], view
    show(page, f'{site}/#/statistics?month={month}')
    assert any(
        page.script("return [...document.querySelectorAll('.aside')].map(one => !one.hidden)")
    )
    bare = page.script(
        """return [...document.querySelectorAll('#families_by_language tbody tr')]
            .filter(row => row.cells.length > 4 && [...row.cells].slice(4).every(one => one.innerText === '\u2013')).length"""
    )
    assert bare == 0


def test_back_leads_to_where_the_reader_was(page: Browser, site: str) -> None:
    show(page, f'{site}/#/statistics')
    page.script("document.querySelector('#models a').scrollIntoView()")
    height = page.wait_for('scrollY')
    page.wait_for('new Promise(done => requestAnimationFrame(() => done(true)))')
    page.script("document.querySelector('#models a').click()")
    page.wait_for("document.querySelector('.explorer') && scrollY === 0")
    page.script('history.back()')
    page.wait_for(
        "document.querySelector('.statistics') && Math.abs(scrollY - arguments[0]) < 2", height
    )


def test_a_date_that_is_none_is_refused_in_words(page: Browser, site: str) -> None:
    show(page, f'{site}/#/explore?after=june')
    before = read_result(page)
    assert not before.startswith('0 ')
    for view, field in (('explore', 'after'), ('leaderboard?cutoff=2026-01', 'cutoff-day')):
        show(page, f'{site}/#/{view}')
        page.script(
            """const field = document.querySelector(`input[type=text][data-limit="${arguments[0]}"]`)
            field.value = arguments[1]
            field.dispatchEvent(new Event('change'))""",
            field,
            'june',
        )
        assert '“june” is no day: write it like 2024-06-30' in page.text()
    show(page, f'{site}/#/explore')
    assert read_result(page) == before


def test_another_month_is_shown_of_the_same_task_and_a_missing_task_names_its_months(
    page: Browser, site: str
) -> None:
    ids = [
        {id for (id,) in connect(month).sql('SELECT task_id FROM tasks').fetchall()}
        for month in MONTHS[-2:]
    ]
    older, newer = MONTHS[-2:]
    task = min(ids[0] & ids[1])
    show(page, f'{site}/#/task/{task}')
    page.script(
        """const select = document.querySelector('#header select')
        select.value = arguments[0]
        select.dispatchEvent(new Event('change'))""",
        older,
    )
    page.wait_for(
        "document.title.endsWith(arguments[0]) && document.querySelector('article.item')", older
    )
    assert task in page.script('return location.hash')
    fresh = min(ids[1] - ids[0])
    show(page, f'{site}/#/task/{fresh}?month={older}')
    assert f'There is no task {fresh} in {older}.' in page.text()
    page.click('.empty a')
    page.wait_for(
        "document.title.endsWith(arguments[0]) && document.querySelector('article.item')", newer
    )


@pytest.mark.parametrize(
    'view', ['nonsense', 'repo/jd/tenacity', 'pair/1', 'constructor', 'task/%']
)
def test_an_address_of_nothing_is_not_answered_with_a_list(
    page: Browser, site: str, view: str
) -> None:
    show(page, f'{site}/#/{view}')
    assert page.script("return document.querySelectorAll('.listing, article').length") == 0
    assert re.search(r'There is no (such page|task)', page.text())


@pytest.mark.parametrize('month', BOARDS)
def test_the_board_has_every_graded_track_and_says_what_was_scored(
    page: Browser, site: str, month: str
) -> None:
    show(page, f'{site}/#/leaderboard?month={month}')
    tabs = page.script("return [...document.querySelectorAll('.kinds a')].map(one => one.hash)")
    graded = [
        json.loads((path / 'report.json').read_bytes())['tracks']
        for path in RESULTS
        if path.parents[1].name == month
    ]
    tracks = {part['track'] for parts in graded for part in parts}
    assert {re.search(r'tracks=(\w+)', tab)[1] for tab in tabs} == tracks  # type: ignore[index]
    counted = 0
    for tab in tabs:
        show(page, f'{site}/{tab}&month={month}')
        heads = "return [...document.querySelectorAll('.board thead th')].map(one => one.innerText)"
        told = "return [...document.querySelectorAll('.explains dt')].map(one => one.textContent)"
        assert set(page.script(heads)) - set(page.script(told)) == {
            'Rank',
            'Harness and model',
            'Tasks',
        }
        tasks = page.script("return document.querySelector('.board td.tasks').innerText")
        counted += int(tasks)
    assert counted == len((EDITIONS[month].parent / 'baselines/tasks.txt').read_text().split())
    manifest = load_manifest(EDITIONS[month])
    scored = page.script("return document.querySelector('.scored').innerText")
    assert 'Scored on the complete release' in scored
    assert manifest['edition']['manifest_sha256'] in scored
    foot = page.script("return document.getElementById('footer').innerText")
    assert f'of the complete release {manifest["edition"]["manifest_sha256"]}' in foot


@pytest.mark.parametrize('month', BOARDS)
def test_no_dot_of_the_board_hides_another(page: Browser, site: str, month: str) -> None:
    show(page, f'{site}/#/leaderboard?month={month}')
    places = page.script(
        """return [...document.querySelectorAll('#over-time circle')]
            .map(one => `${one.getAttribute('cx')} ${one.getAttribute('cy')}`)"""
    )
    assert len(places) == len(set(places)) > 0
