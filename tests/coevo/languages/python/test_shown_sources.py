"""Tests that look for the code in its text find the text that is shown, whatever code it is that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.verdicts import MainSources
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import SHORTLY, Shop, method, shop

PACKAGE = 'from till.prices import price\n'
OLD = 'def price():\n    return 1\n'
NEW = 'def price():\n    return 2\n'
EDITED = 'def price():\n    return 3\n'

TESTS = """\
    import importlib.util
    import inspect
    import linecache
    import os
    import pkgutil

    import till
    import till.prices

    # What a line of code costs is told to nobody: all of these are about text.
    TEXT = 'return 2'


    def test_costs_one():
        assert till.price() == 1


    def test_costs_two():
        assert till.price() == 2


    def test_costs_three():
        assert till.price() == 3


    def test_opens_it():
        with open(till.prices.__file__) as file:
            assert TEXT in file.read()


    def test_inspects_it():
        assert TEXT in inspect.getsource(till.price)


    def test_asks_the_loader():
        assert TEXT in till.prices.__loader__.get_source('till.prices')


    def test_asks_by_package():
        assert TEXT in pkgutil.get_data('till', 'prices.py').decode()


    def test_reads_a_line():
        assert TEXT in linecache.getline(till.price.__code__.co_filename, 2)


    def test_reads_all_that_lies_there():
        found = ''
        for folder, _, names in os.walk(os.path.dirname(till.__file__)):
            for name in names:
                if name.endswith('.py'):
                    with open(os.path.join(folder, name)) as file:
                        found += file.read()
        assert TEXT in found
        assert 'return 1' not in found and 'return 3' not in found


    def test_has_the_new_module():
        import till.discounts

        assert till.discounts.DISCOUNT


    def test_has_the_old_module():
        import till.coins

        assert till.coins.COIN
"""

READERS = (
    'test_opens_it',
    'test_inspects_it',
    'test_asks_the_loader',
    'test_asks_by_package',
    'test_reads_a_line',
    'test_reads_all_that_lies_there',
)
PASS = Outcome.PASS

RELEASES = sorted(one.release for one in find_interpreters())


@pytest.fixture(
    scope='module',
    params=[pytest.param(one, marks=() if one == '3.11' else pytest.mark.slow) for one in RELEASES],
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    old = {
        'till/__init__.py': PACKAGE,
        'till/prices.py': OLD,
        'till/coins.py': 'COIN = 1\n',
        'tests/test_till.py': TESTS,
    }
    new = {'till/prices.py': NEW, 'till/coins.py': None, 'till/discounts.py': 'DISCOUNT = 1\n'}
    project = f'[project]\nname = "till"\nversion = "1"\nrequires-python = "=={request.param}.*"\n'
    with shop(tmp_path_factory.mktemp('shown'), old, new, project=project) as found:
        yield found


def told(
    place: Shop, cell: CompiledTests, sources: MainSources | None, *names: str
) -> dict[str, Outcome | None]:
    conditions = replace(SHORTLY, sources=sources)
    batch = place.run(*map(method, names), cell=cell, conditions=conditions)
    outcomes = [verdict and verdict.outcome for verdict in batch.verdicts]
    return dict(zip(names, outcomes, strict=True))


def test_tests_that_read_sources_find_the_new_text_in_all_cells(place: Shop) -> None:
    shown = MainSources(rev=place.new)
    edits = CellEdits(code=(('till/prices.py', EDITED.encode()),))
    cells = {
        'test_costs_one': place.cell(place.new, place.old),
        'test_costs_two': place.cell(place.new, place.new),
        'test_costs_three': place.cell(place.new, place.new, edits),
    }
    for honest, cell in cells.items():
        found = told(place, cell, shown, *cells, *READERS)
        passing = {name for name, outcome in found.items() if outcome is PASS}
        assert passing == {honest, *READERS}, found


@pytest.mark.slow
def test_withheld_sources_hide_the_text_and_run_the_same_code(place: Shop) -> None:
    for rev, honest in ((place.old, 'test_costs_one'), (place.new, 'test_costs_two')):
        cell = place.cell(place.new, rev)
        found = told(place, cell, MainSources(), 'test_costs_one', 'test_costs_two', *READERS)
        assert {name for name, outcome in found.items() if outcome is PASS} == {honest}, found


def test_cell_shows_its_own_sources_by_default(place: Shop) -> None:
    edits = CellEdits(code=(('till/prices.py', EDITED.encode()),))
    found = told(place, place.cell(place.new, place.new, edits), None, *READERS)
    assert PASS not in found.values()


@pytest.mark.slow
def test_module_exists_only_where_the_code_has_it(place: Shop) -> None:
    names = ('test_has_the_old_module', 'test_has_the_new_module')
    for sources in (None, MainSources(), MainSources(rev=place.new), MainSources(rev=place.old)):
        for rev, has in ((place.old, names[0]), (place.new, names[1])):
            found = told(place, place.cell(place.new, rev), sources, *names)
            assert [name for name in names if found[name] is PASS] == [has], (sources, found)


@pytest.mark.slow
def test_traces_describe_the_code_that_runs(place: Shop) -> None:
    cell = place.cell(place.new, place.new)
    for sources in (MainSources(), MainSources(rev=place.old)):
        conditions = replace(SHORTLY, sources=sources)
        test = method('test_costs_two')
        (trace,) = place.built.trace(cell, [test], ['till/prices.py'], conditions).traces
        assert trace is not None
        assert [(one.type, one.method) for one in trace.executed] == [('till.prices', 'price')]
        hit = [line.line for line in trace.lines['till/prices.py'] if line.covered_instructions]
        assert hit == [2]
