"""Labels stand on runs that agree: what is run how often, and what disagreement does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.engine.evidence import find_missing_environment_variable
from coevo.languages.verdicts import Verdict
from coevo.model.words import Cell, Label, Outcome, Stage, Track
from tests.languages import toys
from tests.languages.toy import running
from tests.projects import Mined, write

OLD_TILL = ('price: 1', 'count: !pass', 'rings: 0', 'gone: 3')
NEW_TILL = ('price: 2', 'count: !sh true', 'rings: !hang', 'most: 4')
THREE_RUNS = [('given', 'pass'), ('reversed', 'pass'), ('alone', 'pass')]

# A failure's signature has the status: one of 250, drawn anew in every run. That three runs draw the
# same one has a chance of one in 62 500.
ROLL = 'sh exit $(($(od -An -N1 -tu1 /dev/urandom) % 250 + 1))'


@pytest.fixture(scope='module')
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mined]:
    folder = tmp_path_factory.mktemp('evidence')
    old = {
        **toys.BUILD,
        **toys.source('Till', *OLD_TILL),
        **toys.tests(
            'Till',
            'sells: is Till.price 1',
            'counts: call Till.count',
            'rings: is Till.rings 0',
        ),
        **toys.tests('Gone', 'uses: is Till.gone 3'),
    }
    new = {
        **toys.source('Till', *NEW_TILL),
        **toys.tests(
            'Till',
            'sells: is Till.price 2',
            'counts: call Till.count then pass',
            'rings: is Till.most 4',
            'fails: is Till.price 5',
        ),
        **toys.tests('Gone', 'uses: is Till.price 2'),
        **toys.tests(
            'Order',
            'fills: call Till.most then sh touch /tmp/filled',
            'needs: call Till.most then sh test -e /tmp/filled',
        ),
        **toys.tests('Dice', f'rolls: call Till.most then {ROLL}'),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, 'SECONDS', 1.0)
        yield toys.mined(write(folder / 'repository', [old, new]), folder / 'store')


def dropped(found: Mined, reason: str) -> str:
    """The id of the one method that is dropped for a reason."""
    (key,) = (drop.key for drop in found.drops if drop.reason == reason)
    return key


@pytest.mark.slow
def test_deciding_cell_is_run_in_three_orders(evidence: Mined) -> None:
    row = evidence.method('sells')
    assert (row.label, row.track) == (Label.UPDATE, Track.UPDATE)
    for cell in (Cell.T_OLD_C_OLD, Cell.T_NEW_C_NEW):
        assert evidence.runs(row.method_id, cell) == THREE_RUNS


def test_method_row_records_passes_runs_and_the_bound_of_the_flake_rate(evidence: Mined) -> None:
    row = evidence.method('sells')
    assert (row.t_old_c_old_passes, row.t_old_c_old_runs) == (3, 3)
    assert (row.t_old_c_new_passes, row.t_old_c_new_runs) == (0, 3)
    assert row.t_old_c_new_signature == 'is_not 2 1'
    assert row.flake_upper_95 == pytest.approx(1 - 0.05 ** (1 / 3), abs=1e-6)


def test_compile_error_is_recorded_from_one_compilation(evidence: Mined) -> None:
    row = evidence.method('uses')
    assert evidence.runs(row.method_id, Cell.T_OLD_C_NEW) == [('compile', 'compile_error')]
    assert (row.label, row.label_by_module) == (Label.UPDATE, Label.UPDATE)


def test_uncompilable_other_file_changes_only_the_label_by_module(evidence: Mined) -> None:
    """Old GoneTest does not compile on new code, and a build would run nothing of its module."""
    row = evidence.method('counts')
    assert (row.t_old_c_new, row.t_old_c_new_unit) == (Outcome.PASS, Outcome.COMPILE_ERROR)
    assert (row.label, row.track) == (Label.REFINEMENT, None)
    assert (row.label_by_module, row.track_by_module) == (Label.UPDATE, Track.UPDATE)


def test_method_that_needs_an_earlier_test_is_dropped_as_order_dependent(evidence: Mined) -> None:
    method_id = dropped(evidence, 'order_dependent')
    runs = evidence.runs(method_id, Cell.T_NEW_C_NEW)
    assert dict(runs) == {'given': 'pass', 'reversed': 'fail', 'alone': 'fail'}
    assert len(runs) == 6


def test_a_test_that_fails_differently_each_time_is_flaky(evidence: Mined) -> None:
    assert len(evidence.runs(dropped(evidence, 'flaky'), Cell.T_NEW_C_NEW)) == 6


def test_method_that_can_get_no_label_is_not_run_alone(evidence: Mined) -> None:
    method_id = dropped(evidence, 't_new_c_new_fail')
    assert evidence.runs(method_id, Cell.T_NEW_C_NEW) == [('given', 'fail'), ('reversed', 'fail')]


def test_a_time_out_is_confirmed_once_and_carries_no_track(evidence: Mined) -> None:
    row = evidence.method('rings')
    assert (row.t_old_c_new, row.t_old_c_new_runs) == (Outcome.TIMEOUT, 2)
    assert (row.label, row.track) == (Label.UPDATE, None)
    assert dropped(evidence, 'timeout_alone') == row.method_id


def test_method_that_loses_its_process_to_a_neighbour_is_run_again_alone(evidence: Mined) -> None:
    """In t_old_c_new `sells` comes after `rings`, which never ends; its runs agree all the same."""
    method_id = evidence.method('sells').method_id
    orders = [order for order, _ in evidence.runs(method_id, Cell.T_OLD_C_NEW)]
    assert orders.count('alone') == 2


def test_every_candidate_is_labelled_or_dropped(evidence: Mined) -> None:
    label_drops = [drop for drop in evidence.drops if drop.stage is Stage.LABEL]
    assert len(evidence.methods) + len(label_drops) == sum(row.candidates for row in evidence.pairs)


@pytest.mark.parametrize(
    ('signature', 'message', 'name'),
    [
        ('KeyError@<frozen os>:__getitem__', "'ACME_TOKEN'", 'ACME_TOKEN'),
        ('KeyError@till.py:price', "'price of today'", None),
        ('ValueError@till.py:price', "'ACME_TOKEN'", None),
    ],
)
def test_variable_that_a_dropped_test_misses_is_named(
    signature: str, message: str, name: str | None
) -> None:
    verdict = Verdict(outcome=Outcome.ERROR, signature=signature, message=message)
    assert find_missing_environment_variable(verdict) == name
