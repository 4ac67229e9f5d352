"""The label table row by row, then every combination of outcomes against a second reading of it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from coevo.model.labels import (
    CELL_ORDER,
    TABLE,
    EngineRelease,
    LabelTableRow,
    correct_change_by_cells,
    decide_label,
    find_deciding_cells_of_row,
    list_contradiction_reasons,
    list_deciding_cells,
    list_former_contradiction_reasons,
)
from coevo.model.reasons import OWNERS
from coevo.model.words import Cell, Label, MethodChange, Outcome, Stage

OUTCOMES = (None, *Outcome)

JAVA_4, JAVA_5 = (EngineRelease(language='java', version=number) for number in (4, 5))


def outcomes(text: str) -> dict[Cell, Outcome | None]:
    """Cells in the order of the table; `-` is a cell that was not run."""
    words = text.split()
    return {
        cell: None if word == '-' else Outcome(word)
        for cell, word in zip(CELL_ORDER, words, strict=True)
    }


@pytest.mark.parametrize(
    ('change', 'cells', 'expected'),
    [
        ('changed', 'pass pass fail -', 'update'),
        ('changed', 'pass pass compile_error pass', 'update'),
        ('changed', 'pass pass pass -', 'refinement'),
        ('changed', 'pass pass pass pass', 'refinement'),
        ('changed', 'pass pass pass skipped', 'refinement'),
        ('changed', 'pass pass pass fail', 'extension'),
        ('changed', 'pass pass pass compile_error', 'extension'),
        ('changed', 'error pass timeout -', 'repair'),
        ('changed', 'fail pass pass -', 'cured_by_code'),
        ('changed', 'skipped pass fail -', 't_old_c_old_skipped'),
        ('changed', 'pass fail fail -', 't_new_c_new_fail'),
        ('changed', 'pass pass missing -', 't_old_c_new_missing'),
        ('changed', '- pass fail -', 't_old_c_old_not_run'),
        ('inserted', '- pass - compile_error', 'generation'),
        ('inserted', '- pass - pass', 'redundant'),
        ('inserted', '- error - pass', 't_new_c_new_error'),
        ('inserted', '- pass - unbuildable', 't_new_c_old_unbuildable'),
        ('unchanged', 'pass pass - -', 'unaffected'),
        ('unchanged', 'pass pass pass -', 'unaffected'),
        ('unchanged', 'pass pass fail -', 'fixture_update'),
        ('unchanged', 'pass pass missing -', 't_old_c_new_missing'),
        ('unchanged', 'pass fail - -', 'broken_by_change'),
        ('unchanged', 'pass fail error -', 'broken_by_change'),
        ('unchanged', 'pass fail pass -', 't_new_c_new_fail'),
        ('unchanged', 'fail pass - -', 't_old_c_old_fail'),
        ('context_changed', 'pass pass error -', 'fixture_update'),
        ('context_changed', 'pass pass pass -', 'fixture_refinement'),
        ('context_changed', 'pass pass skipped -', 't_old_c_new_skipped'),
        ('deleted', 'pass - fail -', 'obsolete'),
        ('deleted', 'pass - pass -', 'retired'),
        ('deleted', 'pass - infra -', 't_old_c_new_infra'),
    ],
)
def test_each_row_of_the_label_table_gives_its_label(
    change: str, cells: str, expected: str
) -> None:
    settled = correct_change_by_cells(MethodChange(change), outcomes(cells))
    assert decide_label(settled, outcomes(cells)) == expected


def test_an_unchanged_test_that_its_own_surroundings_decide_has_a_changed_context() -> None:
    unchanged, changed = MethodChange.UNCHANGED, MethodChange.CONTEXT_CHANGED
    assert correct_change_by_cells(unchanged, outcomes('pass pass - -')) is unchanged
    assert correct_change_by_cells(unchanged, outcomes('pass pass pass -')) is unchanged
    assert correct_change_by_cells(unchanged, outcomes('pass fail error -')) is unchanged
    assert correct_change_by_cells(unchanged, outcomes('pass pass error -')) is changed
    assert correct_change_by_cells(unchanged, outcomes('pass fail pass -')) is changed
    assert correct_change_by_cells(unchanged, outcomes('pass pass skipped -')) is changed
    assert (
        correct_change_by_cells(MethodChange.CHANGED, outcomes('pass pass error -'))
        is MethodChange.CHANGED
    )


def test_recorded_cell_of_an_engine_before_extensions_decides_nothing() -> None:
    cells = outcomes('pass pass pass fail')
    assert find_deciding_cells_of_row(MethodChange.CHANGED, cells)[-1] is Cell.T_NEW_C_OLD
    before = find_deciding_cells_of_row(MethodChange.CHANGED, cells, engine=JAVA_5)
    assert before == list_deciding_cells(MethodChange.CHANGED)
    assert decide_label(MethodChange.CHANGED, cells, engine=JAVA_5) is Label.REFINEMENT


def test_surroundings_that_differ_ask_old_tests_on_new_code_of_unchanged_tests_alone() -> None:
    own = (Cell.T_OLD_C_OLD, Cell.T_NEW_C_NEW)
    assert list_deciding_cells(MethodChange.UNCHANGED) == own
    assert list_deciding_cells(MethodChange.UNCHANGED, surroundings_differ=True) == (
        *own,
        Cell.T_OLD_C_NEW,
    )
    for change in set(MethodChange) - {MethodChange.UNCHANGED}:
        assert list_deciding_cells(change, surroundings_differ=True) == list_deciding_cells(change)


def by_hand(change: MethodChange, oo: str, nn: str, on: str, no: str) -> str:
    """The table of docs/evidence.md, read a second time: P, B, X (neither) or - (not run)."""
    table = {
        MethodChange.CHANGED: {
            'PPB': 'update',
            'PPP': 'extension' if no == 'B' else 'refinement',
            'BPB': 'repair',
            'BPP': 'cured_by_code',
        },
        MethodChange.INSERTED: {'PB': 'generation', 'PP': 'redundant'},
        MethodChange.UNCHANGED: {
            'PP-': 'unaffected',
            'PPP': 'unaffected',
            'PPB': 'fixture_update',
            'PB-': 'broken_by_change',
            'PBB': 'broken_by_change',
        },
        MethodChange.CONTEXT_CHANGED: {'PPB': 'fixture_update', 'PPP': 'fixture_refinement'},
        MethodChange.DELETED: {'PB': 'obsolete', 'PP': 'retired'},
    }[change]
    read = {
        MethodChange.CHANGED: oo + nn + on,
        MethodChange.INSERTED: nn + no,
        MethodChange.UNCHANGED: oo + nn + on,
        MethodChange.CONTEXT_CHANGED: oo + nn + on,
        MethodChange.DELETED: oo + on,
    }[change]
    return table.get(read, 'dropped')


def kind(outcome: Outcome | None) -> str:
    if outcome is None:
        return '-'
    if outcome is Outcome.PASS:
        return 'P'
    return 'B' if outcome.is_broken else 'X'


@pytest.mark.parametrize('change', list(MethodChange))
def test_every_combination_of_outcomes_gives_the_label_of_the_table(change: MethodChange) -> None:
    known = set(list_contradiction_reasons())
    for combination in itertools.product(OUTCOMES, repeat=4):
        cells = dict(zip(CELL_ORDER, combination, strict=True))
        settled = correct_change_by_cells(change, cells)
        found = decide_label(settled, cells)
        expected = by_hand(change, *(kind(outcome) for outcome in combination))
        if expected == 'dropped':
            assert found in known
            cell = next(c for c in list_deciding_cells(settled) if found.startswith(c))
            assert found == f'{cell}_{cells[cell] or "not_run"}'
        else:
            assert found is Label(expected)


def test_an_unchanged_test_without_a_changed_dependency_gets_no_label() -> None:
    passing = dict.fromkeys(CELL_ORDER, Outcome.PASS)
    assert (
        decide_label(MethodChange.UNCHANGED, passing, dependency_changed=False)
        == 'no_changed_dependency'
    )


def test_an_earlier_engine_gives_no_label_to_a_fixture_refinement() -> None:
    passing = dict.fromkeys(CELL_ORDER, Outcome.PASS)
    assert decide_label(MethodChange.CONTEXT_CHANGED, passing) is Label.FIXTURE_REFINEMENT
    assert (
        decide_label(MethodChange.CONTEXT_CHANGED, passing, engine=JAVA_5)
        is Label.FIXTURE_REFINEMENT
    )
    assert decide_label(MethodChange.CONTEXT_CHANGED, passing, engine=JAVA_4) == 't_old_c_new_pass'
    assert decide_label(MethodChange.CHANGED, passing, engine=JAVA_4) is Label.REFINEMENT
    python = EngineRelease(language='python', version=1)  # it came when the label was there
    assert (
        decide_label(MethodChange.CONTEXT_CHANGED, passing, engine=python)
        is Label.FIXTURE_REFINEMENT
    )


def test_the_former_reason_for_fixture_refinements_is_still_known() -> None:
    assert list_former_contradiction_reasons() == ('t_old_c_new_pass',)
    assert 't_old_c_new_pass' in list_contradiction_reasons(engine=JAVA_4)
    assert 't_old_c_new_pass' not in list_contradiction_reasons()
    assert OWNERS['t_old_c_new_pass'] is Stage.LABEL


def show_demand(row: LabelTableRow, cell: Cell) -> str:
    if cell in row.if_run:
        return f'{row.if_run[cell].value}, if run'
    return row.demands[cell].value if cell in row.demands else ''


MORE_WORDS = {
    Label.EXTENSION: {Cell.T_NEW_C_OLD: 'broken by production'},
    Label.REFINEMENT: {Cell.T_NEW_C_OLD: 'pass, or broken by anything else'},
}
"""What the manual says of a cell whose outcome decides together with its cause."""


def test_the_label_table_in_the_manual_matches_the_code() -> None:
    text = (Path(__file__).parents[3] / 'docs/evidence.md').read_text(encoding='utf-8')
    names = '|'.join(Label)
    shown = [
        [word.strip(' *`') for word in line.strip('|').split('|')]
        for line in text.splitlines()
        if re.match(rf'\| \**({names})\**\b', line)
    ]
    asked = [
        [
            row.label,
            row.change,
            *(
                MORE_WORDS.get(row.label, {}).get(cell) or show_demand(row, cell)
                for cell in CELL_ORDER
            ),
        ]
        for row in TABLE
    ]
    assert shown == asked
