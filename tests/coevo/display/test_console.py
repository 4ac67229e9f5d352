"""What a log shows of a long run."""

from __future__ import annotations

import io

from rich.console import Console

from coevo.display.console import show_progress


def test_progress_log_gets_a_line_every_ten_steps_and_after_a_minute() -> None:
    out, clock = io.StringIO(), iter([0, 5, 66, 70, 80, 90, 92, 94, 96, 100, 101, 102])
    with show_progress(Console(file=out, width=100), now=lambda: next(clock)) as listener:
        for done in range(12):
            listener.step('tasks', done, 40)
    assert out.getvalue().splitlines() == [
        'tasks: 0 of 40',
        'tasks: 2 of 40',
        'tasks: 10 of 40; about 6 min left',
    ]


def test_progress_log_gets_a_line_for_each_of_few_steps() -> None:
    out = io.StringIO()
    with show_progress(Console(file=out, width=100), now=lambda: 0) as listener:
        for done in range(3):
            listener.step('tasks', done, 2)
            listener.step('pieces', done, 1)
    assert out.getvalue().splitlines() == ['tasks: 0 of 2', 'tasks: 1 of 2', 'tasks: 2 of 2']


def test_progress_log_of_thousands_of_steps_stays_short() -> None:
    out = io.StringIO()
    with show_progress(Console(file=out, width=100), now=lambda: 0) as listener:
        for done in range(20_001):
            listener.step('history', done, 20_000)
    lines = out.getvalue().splitlines()
    assert len(lines) == 21
    assert [lines[0], lines[-1]] == ['history: 0 of 20000', 'history: 20000 of 20000']
