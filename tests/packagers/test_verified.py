"""What readers found, as columns: trivial changes, reached changes, start states that show the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import list_ids_in_view, load_assignments
from coevo.git.repository import Repository
from coevo.model.dependencies import CoupledBy, Dependency, Revised
from coevo.model.method_rows import MethodRow
from coevo.model.profiles import load_profile
from coevo.model.quality import MutantRow, ReversalRow, ReversalStatus
from coevo.model.words import Cell, MethodChange, Outcome, ShownBy, Track
from coevo.snapshots.snapshot import open_snapshots
from flows.options import ReleaseOptions
from flows.publication import publish_release, write_code_free_edition
from packagers.askable import add_reached_dependencies, find_reached_dependencies
from packagers.shown_answers import LeakMeter, find_how_answers_are_shown, is_moved
from packagers.triviality import is_trivial
from tests import segments, snapshots
from tests.languages import toys
from tests.packagers.test_code_free import NEW, OLD
from tests.projects import write
from tests.repos import commit, git, init

CELLS = {
    Cell.T_OLD_C_OLD: Outcome.PASS,
    Cell.T_OLD_C_NEW: Outcome.FAIL,
    Cell.T_NEW_C_NEW: Outcome.PASS,
}


def target(language: str, old: str | None, new: str, track: Track = Track.UPDATE) -> MethodRow:
    made = segments.method(1, 'sums', MethodChange.CHANGED, CELLS)
    return replace(made, language=language, track=track, old_source=old, new_source=new)


GO = 'func TestFare(t *testing.T) {{\n\tgot := Fare({})\n\tif got != {} {{\n\t\tt.Fatal(got)\n\t}}\n}}'
PYTHON = (
    'def test_fare():\n    with pytest.raises({}):\n        fare({})\n    assert fare(3) == {}\n'
)
JAVA = '@Test void fare() {{ assertEquals({}, Fare.of({})); assertTrue(Fare.of(9) > 0); }}'


@pytest.mark.parametrize(
    ('language', 'old', 'new'),
    [
        ('go', GO.format('3', '`4 dollars`'), GO.format('3', '`5\ndollars`')),
        ('go', GO.format('3, true', '4'), GO.format('3, "", true', '4')),
        ('python', PYTHON.format('KeyError', '', '1'), PYTHON.format('ValueError, match="no fare"', '', '1')),
        ('python', PYTHON.format('KeyError', 'None', '1'), PYTHON.format('KeyError', 'None', '[1, 2]')),
        ('java', JAVA.format('4', 'OLD'), JAVA.format('5', 'NEW')),
        ('java', JAVA.format('4', '3'), JAVA.format('Money.of(4)', '3')),
        ('python', PYTHON.format('KeyError', '{}', '[]'), PYTHON.format('KeyError', 'FARES', 'expected')),
        ('go', GO.format('fare(3)', 'fare(4)'), GO.format('till().fare(3)', 'till().fare(4)')),
    ],
)  # fmt: skip
def test_other_values_names_or_arguments_are_trivial(language: str, old: str, new: str) -> None:
    assert is_trivial([target(language, old, new)])


@pytest.mark.parametrize(
    ('language', 'old', 'new'),
    [
        ('go', GO.format('3', '4'), GO.format('3', '4').replace('t.Fatal(got)', 'for range got { if got[0] != want[1] { t.Fatal(got) } }')),
        ('python', PYTHON.format('KeyError', '', '1'), PYTHON.format('KeyError', '', '1') + '    for fares in table(3):\n        assert sum(fares) == 4 * len(fares)\n'),
        ('java', JAVA.format('4', '3'), JAVA.format('4', '3').replace('}', 'var all = Fare.table(3); for (var one : all) { assertEquals(4, one.cents() / 100); } }')),
    ],
)  # fmt: skip
def test_another_statement_is_not_trivial(language: str, old: str, new: str) -> None:
    assert not is_trivial([target(language, old, new)])


def test_update_that_only_states_other_values_is_trivial() -> None:
    old = 'def test_fare():\n' + ''.join(f'    assert fare({n}) == {n}0\n' for n in range(2, 8))
    new = 'def test_fare():\n' + ''.join(f'    assert fare({n}) == {n}1\n' for n in range(2, 8))
    assert is_trivial([target('python', old, new)])
    with_names = new.replace('== 21', '== lowest(day)')
    assert not is_trivial([target('python', old, with_names + '    assert day\n')])


def test_update_by_more_than_three_names_and_values_is_not_trivial() -> None:
    old = 'def test_fare():\n    assert fare(2) == 0\n    pay()\n    assert fare(3) == 0\n'
    new = old.replace('fare(2) == 0', 'math.isnan(fare(2))')
    new = new.replace('fare(3) == 0', 'math.isnan(fare(3)), {}')
    assert is_trivial([target('python', old, new.format("'no fare'"))])
    assert not is_trivial([target('python', old, new.format("note('no fare')"))])


CHANNEL = 'func TestTill(t *testing.T) {{\n\tstop <- 1\n{}\trequire.True(t, {})\n{}}}'


@pytest.mark.parametrize('added', ['\t<-till.done\n', '\tdefer till.close()\n'])
def test_extension_without_a_check_or_a_value_is_trivial(added: str) -> None:
    old, new = CHANNEL.format('', 'ok()', ''), CHANNEL.format(added, 'ok()', '')
    assert is_trivial([extension(old, new)])


@pytest.mark.parametrize(
    'new',
    [
        CHANNEL.format('', 'ok()', '\trequire.Equal(t, 3, left)\n'),
        CHANNEL.format('\tadd(4)\n', 'ok()', ''),
        CHANNEL.format('\tadd(a, b, c)\n\ttake(d, e)\n\tgive(f, g)\n', 'ok()', ''),
    ],
)
def test_extension_by_a_check_a_value_or_many_tokens_is_not_trivial(new: str) -> None:
    row = extension(CHANNEL.format('', 'ok()', ''), new)
    assert not is_trivial([replace(row, assertions_gained=int('Equal' in new))])


def test_extension_by_one_row_of_a_table_is_trivial() -> None:
    row = '\t\t{{"{}", {}, true, nil}},\n'
    old = CHANNEL.format(
        '\tfor _, c := range []kase{\n' + row.format('a', 1) + '\t} {\n', 'c', '\t}\n'
    )
    rows = [row.format(letter, number) for number, letter in enumerate('bcd', 2)]
    added = old.replace('\t} {', rows[0] + '\t} {'), old.replace('\t} {', ''.join(rows) + '\t} {')
    one_row, three_rows = (replace(extension(old, new), assertions_gained=1) for new in added)
    assert is_trivial([one_row])
    assert not is_trivial([three_rows])


def test_extension_that_copies_a_neighbour_is_trivial() -> None:
    helper = 'func {}(t *testing.T) {{ check(t, {}, 1); check(t, {}, 2); verify(t, till()) }}'
    beside = [('TestBus', helper.format('TestBus', 'bus', 'bus'))]
    old = 'func TestFerry(t *testing.T) { require.True(t, ferry(1) > 0) }'
    row = extension(old, helper.format('TestFerry', 'ferry', 'ferry'))
    copied = replace(row, test_method='TestFerry', assertions_gained=2)
    assert is_trivial([copied], [('TestFerry', old), *beside])
    assert not is_trivial([copied], [('TestFerry', copied.new_source or '')])


def extension(old: str, new: str) -> MethodRow:
    return replace(target('go', old, new, Track.EXTENSION), assertions_gained=0)


def test_new_test_that_copies_a_neighbour_is_trivial() -> None:
    old, new = (
        (PYTHON.format('KeyError', '', 1)).replace('test_fare', name) + more
        for name, more in (('test_fare', ''), ('test_ferry', ''))
    )
    row = replace(
        target('python', None, new.replace('KeyError', 'OSError'), Track.GENERATION),
        test_method='test_ferry',
    )
    assert is_trivial([row], [('test_other', 'def test_other():\n    pass\n'), ('test_fare', old)])
    assert not is_trivial([row])
    long = '    till.sell(1)\n' * 40
    many = new.replace('fare(3) == 1', "fare('a long way') == 'a high price'")
    copied = replace(row, new_source=many + long)
    assert is_trivial([copied], [('test_fare', old + long)])
    with_values = new.replace('fare(3) == 1', "fare('a long way') == 'a price above 2 and below 9'")
    other = replace(row, new_source=with_values)
    assert not is_trivial([other], [('test_fare', old)])


# What gold reaches.


def made_gold(
    *, reversal: ReversalStatus, outcome: Outcome, killed: Outcome = Outcome.PASS
) -> tuple[MethodRow, list[MutantRow], list[ReversalRow]]:
    row = segments.method(1, 'sums', MethodChange.CHANGED, CELLS)
    (first,) = row.dependencies
    undone = replace(
        segments.reversal(row),
        file=first.file,
        start_line=first.start_line,
        revised=Revised.MODIFIED,
        status=reversal,
        outcome=outcome,
    )
    mutants = [
        replace(
            one,
            file=first.file,
            line=first.start_line,
            outcome=killed,
            killed=killed is not Outcome.PASS,
        )
        for one in segments.mutants(row)
    ]
    first = replace(first, revised=Revised.MODIFIED)
    return replace(row, dependencies=(first,)), mutants, [undone]


@pytest.mark.parametrize(
    ('status', 'outcome', 'killed', 'is_reached'),
    [
        (ReversalStatus.DETECTED, Outcome.FAIL, Outcome.PASS, True),
        (ReversalStatus.DETECTED, Outcome.COMPILE_ERROR, Outcome.PASS, False),
        (ReversalStatus.UNDETECTED, Outcome.PASS, Outcome.FAIL, False),
        (ReversalStatus.DOES_NOT_COMPILE, Outcome.COMPILE_ERROR, Outcome.FAIL, True),
        (ReversalStatus.DOES_NOT_COMPILE, Outcome.COMPILE_ERROR, Outcome.COMPILE_ERROR, False),
    ],
)
def test_change_is_reached_if_gold_runs_and_fails_without_it(
    status: ReversalStatus, outcome: Outcome, killed: Outcome, is_reached: bool
) -> None:
    row, mutants, undone = made_gold(reversal=status, outcome=outcome, killed=killed)
    names = frozenset({row.dependencies[0].name})
    assert find_reached_dependencies(row, mutants, undone) == (names if is_reached else frozenset())


def test_nothing_is_known_where_nothing_was_run() -> None:
    row, _, undone = made_gold(reversal=ReversalStatus.NOT_RUN, outcome=Outcome.PASS)
    assert find_reached_dependencies(row, (), ()) is None
    assert find_reached_dependencies(row, (), [replace(undone[0], outcome=None)]) is None


def test_focus_is_agreed_if_half_of_the_targets_reach_what_the_prompt_names(tmp_path: Path) -> None:
    (assignment,) = load_assignments(snapshots.make(tmp_path, 1))[:1]
    task = replace(assignment.task, reached=None, focus_agreed=None)
    name = task.dependencies[0].name
    here, nowhere = frozenset({name}), frozenset[str]()
    assert add_reached_dependencies(task, [here, nowhere, None]).focus_agreed is True
    assert add_reached_dependencies(task, [here, nowhere, nowhere]).focus_agreed is False
    assert add_reached_dependencies(task, [here]).reached == (name,)
    unknown = add_reached_dependencies(task, [None, None])
    assert (unknown.reached, unknown.focus_agreed) == (None, None)


# What the start state shows, in a repository of Python: old tests, and what the pair adds.

SIBLING = """
def test_empty_basket_costs_nothing():
    basket = Basket()
    for item in ():
        basket.add(item, count=1)
    with basket.open() as total:
        assert total == 0
    assert basket.items == [] and basket.closed
"""
GOLD = (
    SIBLING.replace('empty_basket', 'empty_cart')
    .replace('Basket', 'Cart')
    .replace('basket', 'cart')
)
OTHER = 'def test_price():\n    assert price(3) == 4\n'

NEW_PRICE = Dependency(
    name='shop#new_price()',
    declaration='def new_price(n)',
    file='shop.py',
    start_line=1,
    end_line=1,
    revised=Revised.INSERTED,
    coupled_by=CoupledBy.CALL,
    rank=1,
)

Shows = Callable[..., tuple[tuple[ShownBy, ...], bool]]


@pytest.fixture
def shown(tmp_path: Path) -> Shows:
    def make(
        old: dict[str, str], new: dict[str, str], name: str, start: str = OTHER, **changed: Any
    ) -> tuple[tuple[ShownBy, ...], bool]:
        repo = init(tmp_path / str(len(list(tmp_path.iterdir()))))
        base = {'setup.py': '', 'shop.py': 'x = 1\n'}
        commit(repo, 'old', base | old)
        commit(repo, 'new', base | new)
        revs = [git(repo, 'rev-parse', rev) for rev in ('HEAD~1', 'HEAD')]
        row = replace(
            target('python', None, GOLD.strip(), Track.GENERATION),
            old_rev=revs[0],
            new_rev=revs[1],
            test_file='tests/test_cart.py',
            test_class='test_cart',
            test_method=name,
            **changed,
        )
        meter = LeakMeter(Repository(repo / '.git'), 'python')
        files = {'tests/test_cart.py': start.encode()}
        return find_how_answers_are_shown(meter, [row], files, 0.7), is_moved(meter, [row])

    return make


def test_new_method_of_the_pair_shows_the_form(shown: Shows) -> None:
    there = {'tests/test_cart.py': OTHER}
    new = {'tests/test_cart.py': OTHER + GOLD, 'tests/test_basket.py': SIBLING}
    name = 'test_empty_cart_costs_nothing'
    assert shown(there, new, name) == ((ShownBy.FORM,), False)


def test_method_that_was_there_before_shows_nothing_new(shown: Shows) -> None:
    there = {'tests/test_cart.py': OTHER, 'tests/test_basket.py': SIBLING}
    assert shown(there, there | {'tests/test_cart.py': OTHER + GOLD}, 'test_empty_cart_costs_nothing') == ((), False)  # fmt: skip


def test_same_name_in_another_file_shows_the_form(shown: Shows) -> None:
    twin = SIBLING.replace('empty_basket', 'empty_cart')
    there = {'tests/test_cart.py': OTHER, 'tests/test_basket.py': twin}
    new = there | {'tests/test_cart.py': OTHER + GOLD}
    assert shown(there, new, 'test_empty_cart_costs_nothing') == ((ShownBy.SAME_NAME,), False)


@pytest.mark.parametrize(
    ('name', 'ways'),
    [('test_empty_cart_costs_nothing', (ShownBy.SAME_NAME,)), ('test_empty_cart', ())],
)
def test_twin_of_another_form_is_known_by_a_name_of_many_words(
    shown: Shows, name: str, ways: tuple[ShownBy, ...]
) -> None:
    twin = f'async def {name}():\n    assert await total([]) == 0\n'
    there = {'tests/test_cart.py': OTHER, 'tests/test_async_cart.py': twin}
    assert shown(there, there | {'tests/test_cart.py': OTHER + GOLD}, name) == (ways, False)


def test_refinement_of_the_pair_shows_the_call(shown: Shows) -> None:
    there = {'tests/test_cart.py': OTHER}
    refined = OTHER.replace('price(3)', 'new_price(3)')
    new = {'tests/test_cart.py': refined + GOLD}
    name = 'test_empty_cart_costs_nothing'
    assert shown(there, new, name, refined, dependencies=(NEW_PRICE,)) == ((ShownBy.CALL,), False)
    other = replace(NEW_PRICE, name='shop#other_price()')
    assert shown(there, new, name, refined, dependencies=(other,)) == ((), False)


@pytest.mark.parametrize(
    'path',
    [
        'tests/golden/test_empty_cart.json',
        'testdata/fuzz/test_empty_cart/corpus',
        'test_empty_cart',
    ],
)
def test_data_that_is_named_for_a_new_test_shows_it(shown: Shows, path: str) -> None:
    there = {'tests/test_cart.py': OTHER}
    new = {'tests/test_cart.py': OTHER + GOLD, path: '{}\n'}
    assert shown(there, new, 'test_empty_cart') == ((ShownBy.DATA,), False)
    assert shown(there | {path: '[]\n'}, new, 'test_empty_cart') == ((), False)
    assert shown(there, new, 'test_empty') == ((), False)


@pytest.mark.parametrize(
    ('path', 'text', 'ways'),
    [
        ('examples/cart.py', 'print(new_price(3))  # 4\n', (ShownBy.EXAMPLE,)),
        ('examples/cart.py', 'print(price(3))  # 4\n', ()),
        ('examples/test_cart.py', 'assert new_price(3) == 4\n', ()),
        ('shop/example.py', 'print(new_price(3))  # 4\n', ()),
        ('examples/cart.md', 'new_price(3) is 4\n', ()),
    ],
)
def test_program_of_examples_shows_what_is_new_to_a_target(
    shown: Shows, path: str, text: str, ways: tuple[ShownBy, ...]
) -> None:
    there = {'tests/test_cart.py': OTHER}
    new = {'tests/test_cart.py': OTHER + GOLD, path: text}
    assert shown(there, new, 'test_empty_cart', dependencies=(NEW_PRICE,)) == (ways, False)
    unchanged = there | {path: text}
    assert shown(unchanged, new, 'test_empty_cart', dependencies=(NEW_PRICE,)) == ((), False)


def test_test_that_is_gone_elsewhere_has_moved(shown: Shows) -> None:
    there = {'tests/test_cart.py': OTHER, 'tests/test_all.py': GOLD}
    new = {'tests/test_cart.py': OTHER + GOLD, 'tests/test_all.py': OTHER}
    assert shown(there, new, 'test_empty_cart_costs_nothing') == ((), True)
    assert shown(there, new | {'tests/test_all.py': GOLD}, 'test_empty_cart_costs_nothing')[1] is False  # fmt: skip


# The view.


def test_verified_has_what_no_column_objects_to(tmp_path: Path) -> None:
    place = snapshots.make(tmp_path, 1, 2)
    connection = open_snapshots(place)
    sql = 'SELECT count(*) FROM {}'
    assert connection.execute(sql.format('standard_tasks')).fetchall() != [(0,)]
    # These tasks are made up, and nobody asked whether they are trivial.
    assert connection.execute(sql.format('verified')).fetchall() == [(0,)]
    assert list_ids_in_view(place, 'verified') == frozenset()


def test_selection_of_verified_tasks_alone_is_refused_where_there_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = snapshots.make(tmp_path, 1)
    words = ['export', str(place), '--format', 'jsonl', '--out', str(tmp_path / 'out')]
    assert main([*words, '--only-verified']) == 2
    assert 'has no verified task' in capsys.readouterr().err


def test_verified_tasks_without_texts_are_left_out_and_counted(
    toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = write(tmp_path / 'repository', [OLD, NEW])
    toys.mined(repository, tmp_path / 'store', profile=load_profile('whole'))
    options = ReleaseOptions(
        store=tmp_path / 'store', snapshot=tmp_path / 'whole', code_free=tmp_path / 'free'
    )
    publish_release(options)
    write_code_free_edition(options)
    words = ['--format', 'jsonl', '--out', str(tmp_path / 'out'), '--only-verified']
    assert main(['export', str(options.code_free), *words]) == 2
    assert 'lacks the texts of 1 of 1 chosen tasks' in capsys.readouterr().err
    clones = ['--clones', str(options.store)]
    assert main(['export', str(options.snapshot), *words, *clones]) == 0
