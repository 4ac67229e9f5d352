"""The view `tam_eval`: TAM-Eval's rules about a pool of files, on tasks made up for them."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from coevo.snapshots.tam_eval import TAM_EVAL

_COLUMNS = """task_id VARCHAR, repo VARCHAR, language VARCHAR, family VARCHAR, license VARCHAR,
    start_builder VARCHAR, test_file VARCHAR, new_rev VARCHAR, new_committer_date TIMESTAMPTZ,
    focus STRUCT(file VARCHAR, end_line BIGINT)[], test_patch VARCHAR"""


def select(*tasks: tuple[object, ...]) -> list[tuple[str, str]]:
    """The file and start of each task that the view leaves."""
    connection = duckdb.connect()
    connection.execute(f'CREATE TABLE tasks ({_COLUMNS})')
    connection.executemany(f'INSERT INTO tasks VALUES ({", ".join("?" * 11)})', list(tasks))
    rows = connection.execute(
        f'SELECT test_file, start_builder FROM ({TAM_EVAL}) ORDER BY ALL'
    ).fetchall()
    return [(str(file), str(start)) for file, start in rows]


def task(
    number: int,
    repo: str = 'ada/shop',
    *,
    start: str = 'absent',
    licence: str = 'MIT',
    lines: int = 30,
    test_lines: int = 30,
    rev: str = 'a',
    date: str = '2025-01-01',
) -> tuple[object, ...]:
    patch = f'--- /dev/null\n+++ b/t{number}\n@@ -0,0 +1,{test_lines} @@\n' + '+x\n' * test_lines
    focus = [{'file': f'{number}.py', 'end_line': lines}]
    key = f'{repo} {number} {start} {rev}'
    file = f'{repo} t{number}'
    return (key, repo, 'python', 'file', licence, start, file, rev, date, focus, patch)


def files(number: int, repo: str = 'ada/shop') -> Iterable[tuple[object, ...]]:
    return (task(each, repo) for each in range(number))


def test_a_repository_has_at_least_five_files_and_gives_at_most_ten() -> None:
    left = select(*files(12), *files(5, 'ada/five'), *files(4, 'ada/four'))
    repos = [file.partition(' ')[0] for file, _ in left]
    assert {repo: repos.count(repo) for repo in set(repos)} == {'ada/shop': 10, 'ada/five': 5}


def test_a_file_gives_one_task_and_none_from_the_start_that_the_paper_lacks() -> None:
    starts = ('absent', 'removed', 'older', 'older_test', 'injected')
    left = select(*(task(number, start=start) for number in range(9) for start in starts))
    assert len(left) == len({file for file, _ in left}) == 9
    chosen = {start for _, start in left}
    assert 'older' not in chosen
    assert len(chosen) > 1
    assert select(*(task(number, start='older') for number in range(9))) == []


def test_the_newest_revision_of_a_file_counts_alone() -> None:
    old = [task(number) for number in range(5)]
    new = [task(number, start='removed', rev='b', date='2025-02-01') for number in range(5)]
    assert {start for _, start in select(*old, *new)} == {'removed'}


def test_the_longest_percent_of_the_files_of_a_language_is_left_out() -> None:
    repos = [f'ada/r{number}' for number in range(40)]
    usual = [one for repo in repos for one in files(5, repo)]
    long = [task(90, repos[0], lines=900), task(91, repos[1], test_lines=900)]
    left = [file for file, _ in select(*usual, *long)]
    assert len(left) == 200
    assert f'{repos[0]} t90' not in left
    assert f'{repos[1]} t91' not in left


def test_other_licences_are_left_out() -> None:
    assert len(select(*(task(number, licence='Apache-2.0') for number in range(5)))) == 5
    assert select(*(task(number, licence='BSD-3-Clause') for number in range(5))) == []
