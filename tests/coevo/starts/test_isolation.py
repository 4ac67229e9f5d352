"""Targets alone in the other tree: what agrees with whole trees, what does not, and start states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from coevo.engine.evidence import decide_candidate
from coevo.engine.execution import evaluate_pair
from coevo.engine.results import SelectedMethod
from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.model.profiles import load_profile
from coevo.model.quality import IsolatedCells
from coevo.model.records import Pair, compute_candidate_id
from coevo.model.words import Track, Walk
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolation import Isolation, run_isolated_cells
from filters import filter_candidates
from miners.diffs.changes import diff_pair
from tests.languages import toy, toys
from tests.languages.table import known_toy
from tests.projects import NAME, write
from tests.repos import git

Tree = dict[str, str | None]

GENERATED = ('grows', 'fresh', 'needs', 'asks', 'leans', 'counted', 'more', 'reads', 'marked')
UPDATED = ('updates', 'moves', 'fixed', 'deep', 'first', 'second', 'breaks')
STAYS = 'stays: is Price.stays 3'


def nest(*lines: str) -> Tree:
    return {'test_nest.toy': '\n'.join(['[shop.NestTest]', STAYS, *lines, ''])}


def moved(package: str, line: str) -> Tree:
    return {f'{package}/test_moved.toy': f'[shop.{package}.MovedTest]\n{STAYS}\n{line}\n'}


def fixture(number: int, more: str) -> Tree:
    """What the test expects stands in a fixture that another test uses, too."""
    return toys.tests(
        'Fixture',
        f'_before: sh echo {number} >/tmp/base',
        'shares: sh test -e /tmp/base',
        f'fixed: call Price.of then sh grep -q "^of. $(cat /tmp/base)" price.toy{more}',
    )


def count(number: int, *more: str) -> Tree:
    return toys.tests('Count', f'counts: sh test $(grep -c : test_count.toy) -eq {number}', *more)


LEANS = 'leans: use DepotTest._there then sh test -e /tmp/depot then is Price.tax 5'

# In the old tree, and there alone, the first spoils the second.
SPOILS = (
    'first: is Price.of 2 then sh touch /tmp/sold',
    'second: is Price.of 2 then sh test ! -e /tmp/sold -o ! -e test_mark.txt',
)

OLD: Tree = {
    **toys.BUILD,
    **toys.source('Price', 'of: 1', 'old: 1', 'stays: 3'),
    **toys.tests('Broken', '_before: is Price.old 1', 'breaks: is Price.old 1', 'stays: pass'),
    **toys.tests('Update', STAYS, 'updates: is Price.of 1'),
    **toys.tests('Grow', STAYS, '_used: is Price.stays 3'),
    **toys.tests('Needy', STAYS),
    **toys.tests('Ask', STAYS),
    **toys.tests('Lean', STAYS),
    **toys.tests('Depot', '_there: is Price.stays 3'),
    **count(1),
    **moved('a', 'moves: is Price.of 1'),
    **fixture(1, ''),
    'test_mark.txt': 'x',
    'test_note.txt': 'x',
    **toys.tests('Order', 'first: is Price.of 1', 'second: is Price.of 1'),
    **toys.tests('Repair', STAYS, 'repaired: is Price.stays 4'),
    **nest('[shop.Deep]', 'deep: is Price.of 1'),
}
NEW: Tree = {
    **toys.source('Price', 'of: 2', 'tax: 5', 'stays: 3'),
    **toys.tests('Update', STAYS, 'updates: is Price.of 2'),
    **toys.tests('Broken', '_before: is Price.of 2', 'breaks: is Price.of 2', 'stays: pass'),
    **toys.tests(
        'Grow',
        STAYS,
        'grows: use _rate then is Price.tax 5',
        '_used: is Price.stays 3',
        '_rate: is Price.tax 5',
    ),
    **toys.tests('Fresh', 'fresh: is Price.tax 5'),
    **toys.tests('Needy', STAYS, 'needs: use KitTest._tax'),
    **toys.tests('Kit', '_tax: is Price.tax 5'),
    **toys.tests('Ask', STAYS, 'asks: use DepotTest._rate'),
    **toys.tests('Lean', STAYS, LEANS),
    **toys.tests(
        'Depot',
        '_there: is Price.stays 3 then sh touch /tmp/depot',
        '_rate: is Price.tax 5',
    ),
    **count(2, 'counted: is Price.tax 5'),
    **toys.tests('Data', 'reads: is Price.tax 5 then sh grep -q 5 test_rates.txt'),
    'test_rates.txt': '5',
    **toys.tests('Marked', 'marked: is Price.tax 5 then sh grep -q y test_note.txt'),
    'test_note.txt': 'y',
    'a/test_moved.toy': None,
    **moved('b', 'moves: is Price.of 2'),
    **fixture(2, ' then pass'),
    'test_mark.txt': None,
    **toys.tests('Order', *SPOILS),
    **toys.tests('Repair', STAYS, 'repaired: is Price.stays 3'),
    **nest('[shop.Deep]', 'deep: is Price.of 2', '[shop.More]', 'more: is Price.tax 5'),
}


@pytest.fixture(scope='module')
def isolation(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Isolation, Mapping[str, str]]]:
    """What is isolated, and the method ids by name."""
    folder = write(tmp_path_factory.mktemp('isolation') / 'repository', [OLD, NEW])
    repository = Repository(folder / '.git')
    old, new = (repository.get_commit(git(folder, 'rev-parse', name)) for name in ('HEAD~', 'HEAD'))
    pair = Pair(
        repo=NAME, language=toy.NAME, walk=Walk.PARENTS, old=old, new=new, old_is_ancestor=True
    )
    with ExitStack() as stack:
        stack.enter_context(known_toy())
        kept, _ = filter_candidates(diff_pair(repository, pair), load_profile('default'))
        selected = [
            SelectedMethod(method_id=compute_candidate_id(pair, item), candidate=item)
            for item in kept
        ]
        run = RunSettings(repository=repository, sandbox='bubblewrap')
        builder = toy.make_engine(run, stack).make_builder()
        stack.callback(builder.close)
        evaluation = evaluate_pair(builder, pair, selected)
        subjects = []
        for item in selected:
            decision = decide_candidate(
                item.candidate, item.method_id, evaluation, build_changed=False
            )
            if decision.track is not None:
                subjects.append(IsolatedSubject(selected=item, track=decision.track))
        names = {one.new.test_method: one.method_id for one in subjects}
        tracks = {one.new.test_method: one.track for one in subjects}
        assert tracks == {
            **dict.fromkeys(UPDATED, Track.UPDATE),
            **dict.fromkeys(GENERATED, Track.GENERATION),
            'repaired': Track.REPAIR,
        }
        yield run_isolated_cells(evaluation.built, subjects, repository), names


def found(isolation: tuple[Isolation, Mapping[str, str]], name: str) -> IsolatedCells:
    return isolation[0].methods[isolation[1][name]]


@pytest.mark.slow
@pytest.mark.parametrize('name', ['updates', 'moves', 'repaired', 'deep', 'second'])
def test_isolated_cells_of_a_changed_test_agree_with_whole_trees(
    isolation: tuple[Isolation, Mapping[str, str]], name: str
) -> None:
    assert found(isolation, name) == IsolatedCells(
        t_old_c_new='fail', t_new_c_old=None, t_new_c_new='pass', start='valid', agrees=True
    )


@pytest.mark.parametrize('name', ['grows', 'fresh', 'more', 'reads'])
def test_a_new_test_is_isolated_in_an_old_or_new_file_new_type_or_with_new_data(
    isolation: tuple[Isolation, Mapping[str, str]], name: str
) -> None:
    assert found(isolation, name) == IsolatedCells(
        t_old_c_new=None,
        t_new_c_old='compile_error',
        t_new_c_new='pass',
        start='valid',
        agrees=True,
    )


@pytest.mark.parametrize('name', ['needs', 'asks'])
def test_a_new_test_is_isolated_with_a_new_helper_of_an_old_or_new_file(
    isolation: tuple[Isolation, Mapping[str, str]], name: str
) -> None:
    assert found(isolation, name) == IsolatedCells(
        t_old_c_new=None,
        t_new_c_old='compile_error',
        t_new_c_new='pass',
        start='valid',
        agrees=True,
        detail='with helpers that the pair adds',
    )


def test_a_new_test_that_needs_a_changed_helper_is_not_isolated(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'leans')
    assert (one.t_new_c_new, one.start, one.agrees) == ('fail', 'valid', False)
    assert one.detail.startswith('t_new_c_new_isolated is fail status 1')


def test_a_new_test_that_needs_changed_data_is_not_isolated(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'marked')
    assert (one.t_new_c_new, one.start, one.agrees) == ('fail', 'valid', False)
    assert one.detail.startswith('t_new_c_new_isolated is fail status 1')


def test_a_test_that_needs_a_changed_fixture_has_no_isolation_or_start_state(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'fixed')
    assert (one.t_old_c_new, one.t_new_c_new) == ('pass', 'fail')
    assert (one.start, one.agrees) == ('start_pass', False)
    told, new = one.detail.split('; ')
    assert told == 't_old_c_new_isolated is pass'
    assert new.startswith('t_new_c_new_isolated is fail status 1')
    assert new.endswith(', but not with the whole file')


def test_a_test_whose_old_class_no_longer_compiles_is_isolated_with_its_file(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    assert found(isolation, 'breaks') == IsolatedCells(
        t_old_c_new='compile_error',
        t_new_c_old=None,
        t_new_c_new='pass',
        start='valid',
        agrees=True,
        detail='with its whole file, since the code breaks all tests of its old class',
    )


def test_a_start_state_that_breaks_a_kept_test_is_invalid(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'counted')
    assert one.agrees
    assert one.start.startswith('sibling shop.CountTest#counts(): fail ')


def test_isolation_reports_its_cpu_time(isolation: tuple[Isolation, Mapping[str, str]]) -> None:
    assert isolation[0].cpu_seconds > 0
    assert list(isolation[0].methods) == sorted(isolation[0].methods)
