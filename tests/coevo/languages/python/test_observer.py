"""What an observer that no Python code can reach says of honest passes, and of forged ones."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.python.interpreters import find_interpreters
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import SHORTLY, Shop, method, shop

OBSERVED = replace(SHORTLY, observed=True)

HONEST = """\
    import functools
    import unittest

    import pytest

    import till


    def wrapped(function):
        @functools.wraps(function)
        def test_wrapped(*args, **kwargs):
            return function(*args, **kwargs)

        return test_wrapped


    def test_passes():
        for text in ('1', 'x', '2'):
            try:
                int(text)
            except ValueError:
                continue
        assert till.price() == 1


    @wrapped
    @wrapped
    def test_wrapped():
        with open('/dev/null') as file:
            return file.read() and None


    @pytest.mark.parametrize('number', [1, 2, 3])
    def test_rows(number):
        with pytest.raises(ZeroDivisionError):
            number / 0


    def test_swallows():
        try:
            assert till.price() == 2
        except AssertionError:
            pass


    def test_measures_the_interpreter():
        import gc
        import sys

        gc.collect()
        assert sys.getprofile() is None or True
        assert compile('1', 'nowhere.py', 'eval')


    def test_imports_what_makes_a_coroutine():
        from till import later

        assert list(later.price()) == [1]


    def test_changes_code():
        def price():
            return 1

        till.price.__code__ = price.__code__
        assert till.price() == 1


    class Mixin:
        def test_mixed(self):
            assert self.limit


    class TestOne(Mixin):
        limit = 1


    class TestTwo(Mixin):
        limit = 2


    class CaseOfTill(unittest.TestCase):
        def setUp(self):
            self.price = till.price()

        def test_case(self):
            with self.assertRaises(KeyError):
                {}['nothing']
            self.assertEqual(self.price, 1)


    def test_fails():
        assert till.price() == 2
"""

# Each has the body of a test that fails, or should, and is told to have passed.
FORGERIES = """\
    import gc
    import os
    import sys

    import pytest

    FORGED = (
        {'e': 'test', 't': 0, 'outcome': 'pass'},
        {'e': 'end', 't': 0, 'tests': 1, 'cpu_ms': 1},
        {'e': 'seen', 'key': '', 'ready': True, 'reached_for': 0, 'counts': [[1, 1, 0]], 'lines': {}},
        {'e': 'loaded'},
        'bye',
    )


    def forge(plugin):
        for event in FORGED:
            plugin.tell(event)
        os._exit(0)


    def plugin_above(frame):
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if type(value).__name__ == 'Plugin' and hasattr(value, 'tell'):
                    return value
            frame = frame.f_back
        raise LookupError


    def test_exits():
        os._exit(0)


    def test_finds_the_plugin_by_the_collector():
        plugins = [one for one in gc.get_objects() if type(one).__name__ == 'Plugin']
        forge(next(one for one in plugins if hasattr(one, 'tell')))


    def test_walks_up_to_the_plugin():
        forge(plugin_above(sys._getframe()))


    def test_walks_up_in_another_function():
        def inner():
            forge(plugin_above(sys._getframe()))

        inner()


    def test_asks_the_manager(request):
        plugins = request.config.pluginmanager.get_plugins()
        forge(next(one for one in plugins if type(one).__name__ == 'Plugin'))


    def honest_report(function, *args):
        try:
            function(*args)
        except AssertionError:
            pass


    def test_edits_the_plugin(request):
        plugins = request.config.pluginmanager.get_plugins()
        plugin = next(one for one in plugins if type(one).__name__ == 'Plugin')
        type(plugin).classify_phase = lambda self, item, call, report: ('pass', None)
        assert False


    def test_patches_the_call(request):
        from _pytest import python

        kept = python.Function.runtest
        python.Function.runtest = lambda self: honest_report(kept, self)
        plugins = request.config.pluginmanager.get_plugins()
        plugin = next(one for one in plugins if type(one).__name__ == 'Plugin')
        type(plugin).classify_phase = lambda self, item, call, report: ('pass', None)
        assert False


    def second(function):
        empty = chr(10) * (function.__code__.co_firstlineno - 1)
        empty += 'def %s(): pass' % function.__name__
        found = {}
        exec(compile(empty, __file__, 'exec'), found)
        return found[function.__name__]


    def test_compiled_again():
        assert False


    test_compiled_again = second(test_compiled_again)


    def test_has_other_code():
        assert False


    def other():
        pass


    test_has_other_code.__code__ = other.__code__


    def test_blinds_a_profiler():
        plugin = plugin_above(sys._getframe())
        sys.setprofile(None)
        forge(plugin)


    def test_blinds_monitoring():
        plugin = plugin_above(sys._getframe())
        if hasattr(sys, 'monitoring'):
            for tool in range(6):
                sys.monitoring.set_events(tool, 0) if sys.monitoring.get_tool(tool) else None
                sys.monitoring.restart_events()
        forge(plugin)


    def test_takes_a_callback():
        plugin = plugin_above(sys._getframe())
        if hasattr(sys, 'monitoring'):
            for tool in range(6):
                found = sys.monitoring.register_callback(tool, 4, None)
                if found is not None:
                    found(sys._getframe().f_code, 0, None)
        forge(plugin)


    def test_has_memory():
        import ctypes

        assert ctypes.c_int(1).value == 1
        assert ctypes.pythonapi.Py_IncRef


    def test_reads_its_memory():
        with open('/proc/self/mem', 'rb') as file:
            assert file




    def test_watches_itself():
        import importlib.machinery

        path = '/in/programs/observer.so'
        loader = importlib.machinery.ExtensionFileLoader('coevo_observer', path)
        spec = importlib.machinery.ModuleSpec('coevo_observer', loader, origin=path)
        module = loader.create_module(spec)
        loader.exec_module(module)
        with pytest.raises(RuntimeError):
            module.watch(1, 4096, (), (), ('/',), (), (), -1, ())
        forge(plugin_above(sys._getframe()))
"""

REACHED, NOT_REACHED = '            continue', '        assert till.price() == 2'

HONEST_ONES = (
    ('test_passes', ''),
    ('test_wrapped', ''),
    ('test_rows', ''),
    ('test_swallows', ''),
    ('test_measures_the_interpreter', ''),
    ('test_imports_what_makes_a_coroutine', ''),
    ('test_mixed', 'Mixin'),
    ('test_case', 'CaseOfTill'),
)

# By the forgery, what is said of its pass; None where it is not even told as one.
FORGED = {
    'test_exits': None,
    'test_finds_the_plugin_by_the_collector': 'not_left',
    'test_walks_up_to_the_plugin': 'not_left',
    'test_walks_up_in_another_function': 'not_left',
    'test_asks_the_manager': 'not_left',
    'test_edits_the_plugin': 'thrown',
    'test_patches_the_call': 'thrown',
    'test_compiled_again': 'interferes',
    'test_has_other_code': 'not_entered',
    'test_blinds_a_profiler': 'not_left',
    'test_blinds_monitoring': 'not_left',
    'test_takes_a_callback': 'not_left',
    'test_has_memory': 'interferes',
    'test_reads_its_memory': 'interferes',
    'test_watches_itself': 'not_left',
}

RELEASES = sorted(one.release for one in find_interpreters())
QUICK = '3.11'


@pytest.fixture(
    scope='module',
    params=[pytest.param(one, marks=() if one == QUICK else pytest.mark.slow) for one in RELEASES],
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    files = {
        'till/__init__.py': 'def price():\n    return 1\n',
        'till/later.py': ('import types\n\n\n@types.coroutine\ndef price():\n    yield 1\n'),
        'tests/test_till.py': HONEST,
        'tests/test_forged.py': FORGERIES,
    }
    project = f'[project]\nname = "till"\nversion = "1"\nrequires-python = "=={request.param}.*"\n'
    folder = tmp_path_factory.mktemp('observed')
    with shop(folder, files, {'README': ''}, project=project) as found:
        assert {one.runtime.rpartition('.')[0] for one in found.builds} == {request.param}
        yield found


def test_honest_passes_are_not_flagged_as_tampered(place: Shop) -> None:
    methods = [method(name, owner) for name, owner in HONEST_ONES]
    verdicts = place.run(*methods, conditions=OBSERVED).verdicts
    told = {
        one.test_method: (verdict and verdict.outcome, verdict and verdict.tampered)
        for one, verdict in zip(methods, verdicts, strict=True)
    }
    assert set(told.values()) == {(Outcome.PASS, None)}, told


def test_replaced_code_is_noticed_if_the_interpreter_has_audit_events(place: Shop) -> None:
    (found,) = place.run(method('test_changes_code'), conditions=OBSERVED).verdicts
    assert found is not None
    had_none = place.builds[0].runtime.startswith(('3.6.', '3.7.'))
    assert found.tampered == (None if had_none else 'interferes')


def test_failing_test_is_not_flagged_as_tampered(place: Shop) -> None:
    (found,) = place.run(method('test_fails'), conditions=OBSERVED).verdicts
    assert found is not None
    assert (found.outcome, found.tampered) == (Outcome.FAIL, None)


@pytest.mark.sampled(5)
@pytest.mark.parametrize('name', FORGED)
def test_forged_passes_are_flagged_as_tampered(place: Shop, name: str) -> None:
    test = method(name, file='tests/test_forged.py')
    (found,) = place.run(test, conditions=OBSERVED).verdicts
    assert found is not None
    assert (found.outcome is Outcome.PASS) is (FORGED[name] is not None), found
    assert found.tampered == FORGED[name], found


def test_forged_pass_is_believed_without_an_observer(place: Shop) -> None:
    (found,) = place.run(method('test_asks_the_manager', file='tests/test_forged.py')).verdicts
    assert found is not None
    assert (found.outcome, found.tampered) == (Outcome.PASS, None)


def test_observer_reports_which_watched_lines_are_reached(place: Shop) -> None:
    test = method('test_passes')
    cell = place.cell(place.new, place.new)
    lines = textwrap.dedent(HONEST).splitlines()
    reached, other = (lines.index(text) + 1 for text in (REACHED, NOT_REACHED))
    watched = {'till': [1, 2], 'tests.test_till': [reached, other]}
    (trace,) = place.built.trace(cell, [test], ['till/__init__.py'], watched=watched).traces
    assert trace is not None
    assert trace.reached is not None
    assert dict(trace.reached) == {'till': {1, 2}, 'tests.test_till': {reached}}
