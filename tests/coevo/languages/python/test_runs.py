"""What tests of real projects do, told by real runs of pytest in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.cells import BorrowedSettings, CellEdits, SettingsScope
from coevo.languages.verdicts import RunConditions
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import Shop, method, shop

OLD_CODE = """\
def price():
    '''What a thing costs.'''
    return 1
"""
NEW_CODE = """\
def price():
    return 2


def discount():
    return 1
"""
TESTS = """\
    import unittest
    import warnings

    import pytest

    import till


    @pytest.fixture
    def broken_fixture():
        raise ValueError('fixture')


    @pytest.fixture
    def broken_end():
        yield
        raise ValueError('end')


    def test_sells():
        assert till.price() == {price}


    def test_errs():
        raise RuntimeError('no')


    def test_skips():
        pytest.skip('not here')


    @pytest.mark.xfail
    def test_expected_failure():
        assert False


    @pytest.mark.xfail(strict=True)
    def test_strict():
        assert True


    @pytest.mark.parametrize('number', [1, 2, 3])
    def test_numbers(number):
        assert number != 3


    def test_needs_fixture(broken_fixture):
        pass


    def test_ends_badly(broken_end):
        pass


    def test_did_not_raise():
        with pytest.raises(KeyError):
            pass


    def test_lacks_fixture(nowhere):
        pass


    def test_is_distributed_to_nobody(worker_id, testrun_uid):
        assert (worker_id, len(testrun_uid)) == ('master', 32)


    def test_hangs():
        while True:
            pass


    class TestTill:
        def test_inside(self):
            assert till.price()

        class TestDeeper:
            def test_inside(self):
                assert not till.price()


    class Mixin:
        def test_mixed(self):
            assert self.limit > till.price()


    class TestOne(Mixin):
        limit = 10


    class TestTwo(Mixin):
        limit = 0


    class Held:
        def test_held(self):
            assert not till.price()


    class TestHolder:
        class TestHeld(Held):
            pass


    class CaseOfTill(unittest.TestCase):
        def test_case(self):
            self.assertEqual(till.price(), {price})

        def test_parts(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.assertEqual(number, 1)

        @unittest.skip('today')
        def test_left_out(self):
            pass
"""
TORN = """\
    from till import discount
    from till.extra import more
    import till


    def helper():
        return discount()


    def test_needs_none():
        assert till.price() == 1


    def test_needs_discount():
        assert discount() == 1


    def test_needs_it_by_a_helper():
        assert helper() == 1
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    old = {
        'till/__init__.py': OLD_CODE,
        'tests/test_till.py': TESTS.format(price=1),
        'tests/sub/conftest.py': 'import nothing_of_the_kind\n',
        'tests/sub/test_below.py': 'def test_below():\n    pass\n',
    }
    new = {
        'till/__init__.py': NEW_CODE,
        'till/extra.py': 'more = 1\n',
        'tests/test_till.py': TESTS.format(price=2),
        'tests/test_torn.py': TORN,
        'tests/test_syntax.py': 'def test_any(:\n    pass\n',
    }
    with shop(tmp_path_factory.mktemp('runs'), old, new) as found:
        yield found


def test_both_revisions_are_built_with_one_interpreter(place: Shop) -> None:
    assert [build.built_or_first_failure for build in place.builds] == ['built', 'built']
    (runtime,) = {build.runtime for build in place.builds}
    assert runtime.startswith('3.11.')


@pytest.mark.parametrize(
    ('name', 'owner', 'outcome', 'signature'),
    [
        ('test_sells', '', Outcome.PASS, None),
        ('test_errs', '', Outcome.ERROR, 'RuntimeError@tests/test_till.py:test_errs'),
        ('test_skips', '', Outcome.SKIPPED, None),
        ('test_expected_failure', '', Outcome.SKIPPED, None),
        ('test_strict', '', Outcome.FAIL, 'AssertionError@?'),
        ('test_numbers', '', Outcome.FAIL, 'AssertionError@tests/test_till.py:test_numbers'),
        ('test_needs_fixture', '', Outcome.ERROR, 'ValueError@tests/test_till.py:broken_fixture'),
        ('test_ends_badly', '', Outcome.ERROR, 'ValueError@tests/test_till.py:broken_end'),
        ('test_lacks_fixture', '', Outcome.ERROR, '_pytest.fixtures.FixtureLookupError@?'),
        ('test_is_distributed_to_nobody', '', Outcome.PASS, None),
        ('test_inside', 'TestTill', Outcome.PASS, None),
        ('test_inside', 'TestTill.TestDeeper', Outcome.FAIL, ...),
        ('test_held', 'Held', Outcome.FAIL, 'AssertionError@tests/test_till.py:test_held'),
        ('test_mixed', 'Mixin', Outcome.FAIL, ...),
        ('test_case', 'CaseOfTill', Outcome.PASS, None),
        ('test_parts', 'CaseOfTill', Outcome.FAIL, ...),
        ('test_left_out', 'CaseOfTill', Outcome.SKIPPED, None),
        ('test_did_not_raise', '', Outcome.FAIL, ...),
        ('test_nowhere', '', Outcome.MISSING, None),
        ('test_nowhere', 'TestTill', Outcome.MISSING, None),
    ],
)
def test_each_kind_of_test_result_has_its_outcome_and_signature(
    place: Shop, name: str, owner: str, outcome: Outcome, signature: object
) -> None:
    found = place.verdict(method(name, owner))
    assert found.outcome is outcome
    assert signature is ... or found.signature == signature


def test_endless_test_is_a_timeout(place: Shop) -> None:
    assert place.verdict(method('test_hangs')).outcome is Outcome.TIMEOUT


def test_several_tests_run_in_the_requested_order(place: Shop) -> None:
    names = ('test_skips', 'test_sells', 'test_nowhere', 'test_errs')
    batch = place.run(*map(method, names))
    told = [verdict and verdict.outcome for verdict in batch.verdicts]
    assert told == [Outcome.SKIPPED, Outcome.PASS, Outcome.MISSING, Outcome.ERROR]


@pytest.mark.slow
def test_mixin_declared_in_the_test_package_runs_in_derived_classes(place: Shop) -> None:
    heir = b'import unittest\nimport tests\nclass HeirTest(tests.Mixin, unittest.TestCase): pass\n'
    mixin = b'class Mixin:\n    def test_held(self): assert 0\n    def test_kept(self): pass\n'
    edits = CellEdits(tests=(('tests/__init__.py', mixin), ('tests/test_heir.py', heir)))
    held, kept = (
        TestMethod(
            module='.', test_file='tests/__init__.py', test_class='tests$Mixin', test_method=name
        )
        for name in ('test_held', 'test_kept')
    )
    batch = place.run(held, kept, cell=place.cell(place.new, place.new, edits))
    told = [verdict and verdict.outcome for verdict in batch.verdicts]
    assert told == [Outcome.FAIL, Outcome.PASS]


def test_no_process_runs_if_the_test_file_is_missing(place: Shop) -> None:
    """pytest without a file would run all that it finds."""
    batch = place.run(method('test_any', file='tests/test_nowhere.py'))
    assert [verdict and verdict.outcome for verdict in batch.verdicts] == [Outcome.MISSING]
    assert batch.cpu_seconds == 0.0
    assert place.run().verdicts == ()


def test_tests_of_one_revision_run_on_the_code_of_the_other(place: Shop) -> None:
    sells = method('test_sells')
    told = {
        (tests, code): place.verdict(sells, place.cell(tests, code)).outcome
        for tests in (place.old, place.new)
        for code in (place.old, place.new)
    }
    assert {key for key, outcome in told.items() if outcome is Outcome.PASS} == {
        (place.old, place.old),
        (place.new, place.new),
    }


def test_syntax_error_in_one_test_file_breaks_no_other_file(place: Shop) -> None:
    cell = place.cell(place.new, place.new)
    assert not cell.unit_ok
    assert not cell.does_unit_compile(method('test_any', file='tests/test_syntax.py'))
    assert cell.does_unit_compile(method('test_sells'))
    assert cell.broken == ('tests/sub/test_below.py', 'tests/test_syntax.py')
    torn = place.built.find_compile_verdict(cell, method('test_any', file='tests/test_syntax.py'))
    assert torn is not None
    assert (torn.outcome, torn.syntax) == (Outcome.COMPILE_ERROR, True)
    assert place.built.find_compile_verdict(cell, method('test_sells')) is None


def test_conftest_that_does_not_load_breaks_the_tests_below_it(place: Shop) -> None:
    cell = place.cell(place.new, place.new)
    below = method('test_below', file='tests/sub/test_below.py')
    found = place.built.find_compile_verdict(cell, below)
    assert found is not None
    assert found.signature == 'ModuleNotFoundError@nothing_of_the_kind'


@pytest.mark.slow
def test_edited_code_that_breaks_a_conftest_breaks_the_tests_below_it(place: Shop) -> None:
    """Of edited code nobody has asked before what loads: the run itself meets it, of one test or of several."""
    edits = CellEdits(
        tests=(('tests/sub/conftest.py', b'import till\n'),),
        code=(('till/__init__.py', b'import nothing_of_the_kind\n'),),
    )
    cell = place.cell(place.new, place.new, edits)
    below = method('test_below', file='tests/sub/test_below.py')
    for asked in ((below,), (below, method('test_more', file=below.test_file))):
        told = place.run(*asked, cell=cell).verdicts
        signatures = [verdict and (verdict.outcome, verdict.signature) for verdict in told]
        assert signatures == [
            (Outcome.COMPILE_ERROR, 'ModuleNotFoundError@nothing_of_the_kind')
        ] * len(asked)


def test_only_tests_that_need_a_missing_name_do_not_compile(place: Shop) -> None:
    cell = place.cell(place.new, place.old)
    tests = {
        name: method(name, file='tests/test_torn.py')
        for name in ('test_needs_none', 'test_needs_discount', 'test_needs_it_by_a_helper')
    }
    assert 'tests/test_torn.py' in cell.broken
    told = {name: place.built.find_compile_verdict(cell, one) for name, one in tests.items()}
    found = told.pop('test_needs_discount')
    assert found is not None
    assert (found.outcome, found.signature) == (Outcome.COMPILE_ERROR, 'missing:till.discount')
    assert set(told.values()) == {None}
    batch = place.run(tests['test_needs_none'], tests['test_needs_it_by_a_helper'], cell=cell)
    assert [verdict and (verdict.outcome, verdict.signature) for verdict in batch.verdicts] == [
        (Outcome.PASS, None),
        (Outcome.COMPILE_ERROR, 'missing:till.discount'),
    ]


def test_cell_loads_only_the_files_of_its_methods(place: Shop) -> None:
    sells, any_ = method('test_sells'), method('test_any', file='tests/test_syntax.py')
    # Another key than those of the other tests: what they have loaded is of no use here.
    borrowed = BorrowedSettings(rev=place.old, scope=SettingsScope.ALL_SETTINGS)
    for methods, broken in (((sells,), ()), ((sells, any_), ('tests/test_syntax.py',))):
        cell = place.built.compile(place.new, place.new, '.', borrowed, methods=methods)
        assert (cell.broken, cell.unit_ok) == (broken, not broken)
        assert cell.does_unit_compile(sells)
    assert place.verdict(sells, cell).outcome is Outcome.PASS


def test_run_that_loads_the_files_is_the_first_run_and_is_returned_once(place: Shop) -> None:
    tests = method('test_sells'), method('test_errs')
    borrowed = BorrowedSettings(rev=place.old, scope=SettingsScope.TEST_LIBRARIES)
    cell = place.built.compile(place.old, place.new, '.', borrowed, methods=tests)
    together = RunConditions(together=True)
    runs = [place.built.run(cell, order, together) for order in (tests, tests[::-1], tests)]
    outcomes = [[one.outcome if one else None for one in batch.verdicts] for batch in runs]
    assert outcomes[0] == outcomes[1][::-1] == outcomes[2] == [Outcome.FAIL, Outcome.ERROR]
    assert cell.cpu_seconds == 0.0  # it is a run's
    assert len({batch.cpu_seconds for batch in runs}) == 3


def test_edited_file_that_does_not_load_gives_a_compile_error_when_run(place: Shop) -> None:
    test = method('test_new', file='tests/test_new.py')
    text = b'from till import nothing_such\n\ndef test_new():\n    assert nothing_such\n'
    edits = CellEdits(tests=(('tests/test_new.py', text),))
    cell = place.built.compile(place.new, place.new, '.', edits=edits, methods=())
    assert place.built.find_compile_verdict(cell, test) is None
    found = place.verdict(test, cell)
    assert (found.outcome, found.signature) == (
        Outcome.COMPILE_ERROR,
        'missing:till.nothing_such',
    )


@pytest.mark.slow
def test_only_a_missing_name_is_stubbed(place: Shop) -> None:
    loads_only_so = (
        'import sys\nif "coevo_absent" not in sys.modules:\n    raise {}\ndef test_a(): pass\n'
    )
    texts = {'tests/test_data.py': 'OSError(2, "data")', 'tests/test_name.py': 'NameError("name")'}
    edits = tuple((path, loads_only_so.format(why).encode()) for path, why in texts.items())
    cell = place.cell(place.new, place.new, CellEdits(tests=edits))
    told = [place.built.find_compile_verdict(cell, method('test_a', file=path)) for path in texts]
    assert set(texts) < set(cell.broken)
    assert [verdict and verdict.exceptions[0] for verdict in told] == ['FileNotFoundError', None]


def test_edits_apply_only_to_their_own_cell(place: Shop) -> None:
    edits = CellEdits(code=(('till/__init__.py', OLD_CODE.encode()),))
    edited = place.cell(place.new, place.new, edits)
    assert place.verdict(method('test_sells'), edited).outcome is Outcome.FAIL
    assert place.verdict(method('test_sells')).outcome is Outcome.PASS


def test_syntax_error_in_edited_code_is_reported(place: Shop) -> None:
    edits = CellEdits(code=(('till/__init__.py', b'def price(:\n'),))
    assert place.cell(place.new, place.new, edits).code_failure == 'SyntaxError:invalid syntax'


def test_equal_programs_have_equal_digests(place: Shop) -> None:
    """Comments, docstrings, layout and names of files do not count."""
    variants = [OLD_CODE, f'# more\n\n{OLD_CODE}', OLD_CODE.replace("    '''What", "    '''Why")]
    variants += [OLD_CODE.replace('1', '2'), 'def price(:']
    same, moved, documented, other, torn = place.built.check_main_sources(
        place.new, '.', 'till/__init__.py', [text.encode() for text in variants]
    )
    assert same.digest == moved.digest == documented.digest != other.digest
    assert torn.digest is None
    assert torn.signature is not None


def test_future_import_may_follow_one_docstring_only(place: Shop) -> None:
    text = "'One.'\nfrom __future__ import annotations\n\n\nclass Till:\n    'All.'\n"
    torn = f"'None.'\n{text}"
    found = place.built.check_main_sources(
        place.new, '.', 'till/__init__.py', [text.encode(), torn.encode()]
    )
    assert [one.signature for one in found] == [
        None,
        'SyntaxError:from __future__ imports must occur at the beginning of the file',
    ]


def test_trace_lists_the_executed_functions_and_lines(place: Shop) -> None:
    cell = place.cell(place.new, place.new)
    tests = [method('test_sells'), method('test_errs')]
    for shared in (False, True):
        traced = place.built.trace(cell, tests, ['till/__init__.py'], shared=shared)
        one, other = traced.traces
        assert other is None
        assert one is not None
        (called,) = one.executed
        assert (called.type, called.method, called.file) == ('till', 'price', 'till/__init__.py')
        hit = [line.line for line in one.lines['till/__init__.py'] if line.covered_instructions]
        assert hit == [2]


@pytest.mark.slow
def test_environment_lists_the_installed_libraries(place: Shop) -> None:
    found = place.built.describe_environment(place.new, '.')
    assert found is not None
    assert found.runtime.startswith('3.11.')
    assert any(entry.coordinates.startswith('pytest==8.') for entry in found.libraries)
    assert place.built.describe_environment(place.new, 'nowhere') is None
