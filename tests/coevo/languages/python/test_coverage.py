"""Lines and branches of Python: those that coverage.py counts, on each interpreter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.languages.cells import CellEdits
from coevo.languages.python import run_context
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.reading.words import add_first_statement_lines
from coevo.languages.verdicts import MainSources, RunConditions, Trace
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import Shop, method, shop

CODE = """\
def price(
    kind,
    times=1,
):
    '''What it costs.'''
    if (
        kind == 'bread'
        and times > 0
    ):
        total = 2
    else:
        total = 3
    for _ in range(times):
        total += 1
    while True:
        break
    if kind is None:  # pragma: no cover
        total = 0
    return [
        total,
    ]
"""
TESTS = """\
    import sys

    from till import price


    def test_bread():
        assert price('bread') == [3]


    def test_milk():
        assert price('milk') == [4]


    def test_none():
        assert price('milk', 0) == [3]


    def test_sees_no_coverage_of_ours():
        assert 'coverage' not in sys.modules
        assert price('milk') == [4]


    def test_fails():
        assert price('milk') == []
"""
FILE = 'till/__init__.py'
# Releases and the way in which each is traced: functions of the profiler, or monitoring.
_HERE = {one.release for one in find_interpreters()}
RELEASES = sorted(_HERE & {'3.6', '3.11', '3.12'})


@pytest.fixture(
    scope='module',
    params=[
        pytest.param(one, marks=[] if one == RELEASES[-1] else [pytest.mark.slow])
        for one in RELEASES
    ],
)
def place(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Shop]:
    release = str(request.param)
    project = f'[project]\nname = "till"\nversion = "1.0"\nrequires-python = "=={release}.*"\n'
    files = {FILE: CODE, 'tests/test_till.py': TESTS}
    with shop(tmp_path_factory.mktemp('shop'), files, {'more.txt': ''}, project) as made:
        yield made


def _traces(place: Shop, *names: str, together: bool = False) -> list[Trace | None]:
    cell = place.cell(place.new, place.new)
    tests = [method(name) for name in names]
    found = place.built.trace(cell, tests, [FILE], shared=True, together=together)
    return [*found.traces, found.together] if together else [*found.traces]


def _branches(trace: Trace | None) -> dict[int, tuple[int, int]]:
    """Taken and all, by line."""
    assert trace is not None
    return {
        line.line: (line.covered_branches, line.covered_branches + line.missed_branches)
        for line in trace.lines[FILE]
        if line.covered_branches + line.missed_branches
    }


def _hit(trace: Trace | None) -> list[int]:
    assert trace is not None
    return [line.line for line in trace.lines[FILE] if line.covered_instructions]


def test_statements_count_by_their_first_lines(place: Shop) -> None:
    (found,) = _traces(place, 'test_bread')
    assert found is not None
    known = [line.line for line in found.lines[FILE]]
    assert known == [1, 6, 10, 12, 13, 14, 15, 16, 19]
    assert _hit(found) == [6, 10, 13, 14, 15, 16, 19]


def test_covered_branches_are_those_that_the_test_takes(place: Shop) -> None:
    bread, milk, none = _traces(place, 'test_bread', 'test_milk', 'test_none')
    assert _branches(bread) == {6: (1, 2), 13: (2, 2)}
    assert _branches(milk) == {6: (1, 2), 13: (2, 2)}
    assert _branches(none) == {6: (1, 2), 13: (1, 2)}


def test_branches_that_several_tests_take_count_once(place: Shop) -> None:
    *_, whole = _traces(place, 'test_bread', 'test_milk', together=True)
    assert _branches(whole) == {6: (2, 2), 13: (2, 2)}
    assert _hit(whole) == [1, 6, 10, 12, 13, 14, 15, 16, 19]


def test_lines_run_at_import_count_only_for_all_tests_together(place: Shop) -> None:
    one, whole = _traces(place, 'test_bread', together=True)
    assert _hit(whole) == [1, *_hit(one)]
    failing, *_, whole = _traces(place, 'test_fails', 'test_bread', together=True)
    assert failing is None
    assert _hit(whole) == [1, *_hit(one)]


def test_lines_run_at_import_count_if_a_missing_name_is_stubbed(place: Shop) -> None:
    text = TESTS.replace('import price', 'import gone, price')
    edits = CellEdits(tests=(('tests/test_till.py', textwrap.dedent(text).encode()),))
    cell = place.cell(place.new, place.new, edits)
    tests = [method('test_milk')]
    whole = place.built.trace(cell, tests, [FILE], shared=True, together=True).together
    assert _hit(whole)[0] == 1


def test_failing_test_has_no_trace(place: Shop) -> None:
    *traces, whole = _traces(place, 'test_fails', 'test_none', together=True)
    assert traces[0] is None
    assert _branches(whole) == _branches(traces[1]) == {6: (1, 2), 13: (1, 2)}


def test_coverage_is_the_same_if_sources_are_withheld(place: Shop) -> None:
    """Where a submission is judged, byte code stands in the place of the sources."""
    cell, tests = place.cell(place.new, place.new), [method('test_bread')]
    found = [
        place.built.trace(cell, tests, [FILE], RunConditions(sources=sources), shared=True).traces[
            0
        ]
        for sources in (None, MainSources())
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].lines == found[1].lines
    assert _branches(found[1]) == {6: (1, 2), 13: (2, 2)}


def test_coverage_package_is_invisible_to_tests(place: Shop) -> None:
    (found,) = _traces(place, 'test_sees_no_coverage_of_ours')
    assert 12 in _hit(found)


def test_trace_lists_executed_functions_beside_lines(place: Shop) -> None:
    (found,) = _traces(place, 'test_bread')
    assert found is not None
    assert [one.method for one in found.executed] == ['price']


@pytest.mark.slow
def test_coverage_package_is_fetched_with_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace comes later, when nothing is fetched any more."""
    monkeypatch.setattr(run_context, 'find_cache_folder', lambda: tmp_path / 'cache')
    tests = 'def test_nothing():\n    pass\n'
    with shop(tmp_path, {FILE: CODE, 'tests/test_till.py': tests}, {'more.txt': ''}) as made:
        (folder,) = (tmp_path / 'cache/pythons/coverage').iterdir()
        assert (folder / 'coverage/__init__.py').is_file()
        assert made.verdict(method('test_nothing')).outcome is Outcome.PASS


@pytest.mark.slow
def test_first_lines_of_statements_and_heads_are_added() -> None:
    text = CODE.encode()
    assert add_first_statement_lines({8}, text) == {6, 8}
    assert add_first_statement_lines({20}, text) == {19, 20}
    assert add_first_statement_lines({3}, text) == {1, 3}
    assert add_first_statement_lines({10, 12}, text) == {10, 12}
    assert add_first_statement_lines({1}, b'# nothing\n') == {1}
