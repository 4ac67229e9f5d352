"""What is run, and what is no verdict at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.languages.capabilities import Capability, make_refusal
from coevo.model.words import BreakageCause, Cell, Label, Track
from flows.pipeline import mine
from tests.languages import toy, toys
from tests.languages.specimens import starve_toy
from tests.languages.table import known_toy
from tests.languages.toy.running import ToyBuiltPair
from tests.projects import QUICK, options, write


def written(folder: Path) -> Path:
    first = {**toys.BUILD, **toys.source('Till', 'last: 1')}
    second = {**toys.source('Till', 'last: 2'), **toys.tests('Till', 'rings: is Till.last 2')}
    return write(folder / 'repository', [first, second])


def test_pair_whose_test_process_cannot_start_is_left_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the sandbox's disk is too small for the tree. The next run does what is missing."""
    repository = written(tmp_path)
    with monkeypatch.context() as patch, known_toy():
        starve_toy(patch)
        report = mine(options(repository, tmp_path / 'store'))
    assert report.executed == 0
    (sentence,) = report.failures.values()
    assert sentence.startswith('a test process did not start: ')
    found = toys.mined(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    assert found.method('rings').track == 'generation'


def three_labels(folder: Path) -> Path:
    """An update, a refinement and a repair of which the new tests fail, pass and pass on old code.

    `rings` is inserted: its cells all decide.
    """
    old = toys.tests(
        'Till', 'follows: is Till.last 1', 'stays: call Till.last', 'errs: is Till.sum 3'
    )
    new = toys.tests(
        'Till',
        'follows: is Till.last 2',
        'stays: call Till.last then pass',
        'errs: is Till.sum 2',
        'rings: is Till.last 2',
    )
    first = {**toys.BUILD, **toys.source('Till', 'last: 1', 'sum: 2'), **old}
    second = {**toys.source('Till', 'last: 2', 'sum: 2'), **new}
    return write(folder / 'repository', [first, second])


@pytest.mark.slow
def test_all_cells_option_records_more_cells_and_changes_no_label(tmp_path: Path) -> None:
    repository = three_labels(tmp_path)
    plain = toys.mined(repository, tmp_path / 'plain')
    full = toys.mined(repository, tmp_path / 'full', profile=replace(QUICK, all_cells=True))
    names = ('follows', 'stays', 'errs', 'rings')
    assert [(m.label, m.track) for m in map(full.method, names)] == [
        ('update', 'update'),
        ('refinement', None),
        ('repair', 'repair'),
        ('generation', 'generation'),
    ]
    bare = {
        f't_new_c_old{column}': None for column in ('', '_unit', '_passes', '_runs', '_signature')
    }
    assert plain.method('stays') == full.method('stays')  # it decides whether that is an extension
    for name in ('follows', 'errs'):
        row = full.method(name)
        assert plain.method(name) == replace(row, **bare)
        assert len(full.runs(row.method_id, Cell.T_NEW_C_OLD)) == row.t_new_c_old_runs == 3
        assert plain.runs(row.method_id, Cell.T_NEW_C_OLD) == []
    assert plain.method('rings') == full.method('rings')
    told = [(m.t_new_c_old, m.t_new_c_old_passes) for m in map(full.method, names)]
    assert told == [('fail', 0), ('pass', 3), ('pass', 3), ('fail', 0)]


def test_store_keeps_runs_with_and_without_all_cells_apart(tmp_path: Path) -> None:
    """Which cells are run belongs to the key: the second run does not take the first's for its own."""
    repository = written(tmp_path)
    full = replace(QUICK, all_cells=True)
    for profile, executed in ((QUICK, 1), (full, 1), (full, 0)):
        found = toys.mined(repository, tmp_path / 'store', profile=profile)
        assert found.report.executed == executed


@pytest.mark.parametrize('offered', [True, False])
def test_build_cause_is_found_only_if_the_language_can_borrow_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: bool
) -> None:
    """A test that the library broke, not the code: where nobody can tell, the code it is."""
    if not offered:
        monkeypatch.setattr(toy, 'OFFERS', frozenset())
        refuse = staticmethod(make_refusal(Capability.BORROW))
        monkeypatch.setattr(ToyBuiltPair, 'do_settings_differ', refuse)
    steps = [
        {
            **toys.BUILD,
            'toy.build': f'library: {number}\n',
            **toys.source('Till', f'last: {number}'),
            **toys.tests('Till', f'reads: call Till.last then library {number}'),
        }
        for number in (1, 2)
    ]
    found = toys.mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    row = found.method('reads')
    assert row.label is Label.UPDATE
    assert (row.cause, row.track) == (
        (BreakageCause.BUILD, None) if offered else (BreakageCause.PRODUCTION, Track.UPDATE)
    )
