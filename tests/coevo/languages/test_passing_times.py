"""The CPU limits that follow from how long passing tests took."""

from __future__ import annotations

from coevo.languages.core.test_runs import PassingTimes


def test_loading_has_the_usual_limit_until_a_test_has_passed() -> None:
    times = PassingTimes()
    assert times.choose_loading_limit(300.0) == 300.0
    times.note_process(0.5)
    assert times.choose_loading_limit(300.0) == 20.0


def test_loading_may_take_ten_times_the_slowest_process_up_to_the_usual_limit() -> None:
    times = PassingTimes()
    for seconds in (1.0, 12.0, 2.0):
        times.note_process(seconds)
    assert times.choose_loading_limit(300.0) == 120.0
    times.note_process(40.0)
    assert times.choose_loading_limit(300.0) == 300.0
