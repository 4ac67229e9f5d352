"""The engine once over Java, whose every rule the toy is asked elsewhere: cells, evidence, isolation, suites, labels that
are run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.quality import IsolatedCells
from coevo.model.words import Cell, Label, Track
from flows.reverification import ReverifyOptions, reverify_labels
from tests.projects import QUICK, junit, mined, pom, source, write

FAILURE = 'java.lang.AssertionError@shop.TillTest.sells'
SUITES = replace(QUICK, suites=True, suite_cpu_seconds=300.0)


def step(price: int, more: str = '') -> dict[str, str]:
    return {
        'pom.xml': pom(),
        **source('Till', f'    public static int price() {{ return {price}; }}\n{more}'),
        **junit('TillTest', f'sells: assertEquals({price}, Till.price());'),
    }


@pytest.mark.jvm
def test_java_pair_is_run_labelled_and_confirmed_by_reverify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tax = '    public static int tax() { return 5; }\n'
    new = step(2, tax) | junit('TaxTest', 'taxes: assertEquals(5, Till.tax());')
    found = mined(
        write(tmp_path / 'repository', [step(1), new]), tmp_path / 'store', profile=SUITES
    )
    row, inserted = found.method('sells'), found.method('taxes')
    assert (row.label, row.track) == (Label.UPDATE, Track.UPDATE)
    assert (inserted.label, inserted.track) == (Label.GENERATION, Track.GENERATION)
    for method_id, cell, outcomes in (
        (row.method_id, Cell.T_OLD_C_OLD, ('pass', 'pass', 'pass')),
        (row.method_id, Cell.T_OLD_C_NEW, ('fail', 'fail', 'fail')),
        (row.method_id, Cell.T_NEW_C_NEW, ('pass', 'pass', 'pass')),
    ):
        orders = ('given', 'reversed', 'alone')
        assert found.runs(method_id, cell) == list(zip(orders, outcomes, strict=True))
    assert row.t_old_c_new_signature == FAILURE
    assert found.runs(inserted.method_id, Cell.T_NEW_C_OLD) == [('compile', 'compile_error')]
    assert row.isolated == IsolatedCells(
        t_old_c_new='fail', t_new_c_old=None, t_new_c_new='pass', start='valid', agrees=True
    )
    (pair,) = found.pairs
    assert (pair.suite_old, pair.suite_new) == ('pass', 'pass')
    again = reverify_labels(ReverifyOptions(store=found.store, sample=9, seed=0))
    assert (again.drawn, again.confirmed, again.lost, again.unknown) == (2, 2, {}, {})
    monkeypatch.setenv('COEVO_JDKS', '99')
    lacking = reverify_labels(ReverifyOptions(store=found.store, sample=9, seed=1))
    assert (lacking.confirmed, len(lacking.unknown)) == (0, 2)
    assert all('jdk' in sentence.lower() for sentence in lacking.unknown.values())
