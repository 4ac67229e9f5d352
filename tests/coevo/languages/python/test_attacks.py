"""Tests that fail, or should, and do what they can to be told to have passed, or to stay, or to harm."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
import pytest

from coevo.languages.verdicts import RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import Shop, method, shop

# An argument by which a program that a test leaves is found on the host.
LEFT = '98765.8125'

ATTACKS = f"""\
    import os
    import signal
    import subprocess
    import sys
    import threading
    import time

    import pytest

    LINES = [
        '{{"e": "begin", "t": 0}}',
        '{{"e": "test", "t": 0, "outcome": "pass"}}',
        '{{"e": "end", "t": 0, "tests": 1, "cpu_ms": 1}}',
        '{{"e": "loaded"}}',
        '"bye"',
    ]


    def write_everywhere(folder):
        for name in os.listdir(folder):
            for secret in ('', '0' * 32 + chr(9), 'coevo' + chr(9)):
                try:
                    with open(os.path.join(folder, name), 'w') as file:
                        file.writelines(secret + line + chr(10) for line in LINES)
                except OSError:
                    pass


    def test_writes_to_all_that_is_open():
        write_everywhere('/proc/self/fd')
        os._exit(0)


    def test_writes_to_all_that_is_open_and_fails():
        write_everywhere('/proc/self/fd')
        assert False


    def test_writes_to_its_parents_channel():
        write_everywhere('/proc/%d/fd' % os.getppid())


    def test_reads_its_parents_memory():
        with open('/proc/%d/mem' % os.getppid(), 'rb'):
            pass


    def test_exits():
        os._exit(0)


    def test_exits_from_a_thread():
        threading.Thread(target=os._exit, args=(0,)).start()
        time.sleep(60)


    def test_ends_the_session():
        pytest.exit('enough', returncode=0)


    def test_is_interrupted():
        raise KeyboardInterrupt


    def test_leaves_by_the_system():
        sys.exit(0)


    def test_crashes():
        os.kill(os.getpid(), signal.SIGSEGV)


    def test_kills_its_parent():
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


    def test_kills_all():
        os.kill(-1, signal.SIGKILL)


    def test_forks_one_that_goes_on():
        if os.fork():
            os._exit(0)


    def test_patches_reports():
        from _pytest import reports

        def passed(item, call):
            return reports.TestReport(
                item.nodeid, item.location, {{}}, 'passed', None, call.when
            )

        reports.TestReport.from_item_and_call = staticmethod(passed)
        assert False


    def test_patches_calls():
        from _pytest import runner

        kept = runner.CallInfo.from_call.__func__

        def passed(cls, func, when, reraise=None):
            def swallowed():
                try:
                    return func()
                except AssertionError:
                    return None

            return kept(cls, swallowed, when, reraise)

        runner.CallInfo.from_call = classmethod(passed)
        assert False


    def test_patches_the_hook_of_reports(request):
        class Passing:
            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_runtest_makereport(self, item, call):
                outcome = yield
                report = outcome.get_result()
                report.outcome, report.longrepr = 'passed', None

        request.config.pluginmanager.register(Passing())
        assert False


    def test_leaves_a_daemon():
        subprocess.Popen(['sleep', '{LEFT}'], start_new_session=True, close_fds=False)
        assert os.getpid()


    def test_leaves_a_thread():
        threading.Thread(target=time.sleep, args=(10000,)).start()


    def test_fills_the_disk():
        block, number = bytes(100 << 20), 0
        with pytest.raises(OSError):
            while True:
                number += 1
                with open('/w/tree/large-%d' % number, 'wb') as file:
                    file.write(block)


    def test_sees_a_tree_of_its_own():
        assert not any(name.startswith('large') for name in os.listdir('/w/tree'))
        open('/w/tree/large-0', 'w').close()


    def test_takes_memory():
        taken = bytes(8 << 30)
        assert taken


    def test_forks_without_end():
        started = []
        with pytest.raises(OSError):
            while True:
                started.append(subprocess.Popen(['sleep', '{LEFT}']))


    def test_prints_without_end():
        for _ in range(1 << 16):
            os.write(1, b'x' * 1024)
            os.write(2, b'x' * 1024)


    def test_changes_all_that_it_can():
        os.chdir('/')
        sys.stdout = sys.stderr = None
        sys.modules.clear()


    def test_is_well():
        assert True
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    files = {
        'till.py': 'price = 1\n',
        'tests/test_till.py': ATTACKS,
        'tests/ended/conftest.py': 'import os\nos._exit(0)\n',
        'tests/ended/test_below.py': 'def test_below():\n    pass\n',
    }
    with shop(tmp_path_factory.mktemp('attacks'), files, {'README': ''}) as found:
        yield found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ('name', 'outcome', 'signature'),
    [
        ('test_writes_to_all_that_is_open', Outcome.ERROR, 'exit:0'),
        ('test_writes_to_all_that_is_open_and_fails', Outcome.FAIL, ...),
        ('test_writes_to_its_parents_channel', Outcome.ERROR, ...),
        ('test_reads_its_parents_memory', Outcome.ERROR, ...),
        ('test_exits', Outcome.ERROR, 'exit:0'),
        ('test_exits_from_a_thread', Outcome.ERROR, 'exit:0'),
        ('test_ends_the_session', Outcome.ERROR, 'exit:0'),
        ('test_is_interrupted', Outcome.ERROR, 'exit:0'),
        ('test_leaves_by_the_system', Outcome.ERROR, ...),
        ('test_crashes', Outcome.ERROR, 'exit:-11'),
        ('test_kills_its_parent', Outcome.ERROR, 'exit:137'),
        ('test_kills_all', Outcome.ERROR, ...),
        ('test_forks_one_that_goes_on', Outcome.ERROR, 'exit:0'),
        ('test_patches_reports', Outcome.FAIL, ...),
        ('test_patches_calls', Outcome.FAIL, ...),
        ('test_patches_the_hook_of_reports', Outcome.FAIL, ...),
        ('test_takes_memory', Outcome.ERROR, 'MemoryError@tests/test_till.py:test_takes_memory'),
    ],
)
def test_attack_does_not_make_a_failing_test_pass(
    place: Shop, name: str, outcome: Outcome, signature: object
) -> None:
    found = place.verdict(method(name))
    assert found.outcome is outcome, found
    assert signature is ... or found.signature == signature


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    'name',
    [
        'test_leaves_a_daemon',
        'test_leaves_a_thread',
        'test_fills_the_disk',
        'test_forks_without_end',
        'test_prints_without_end',
        'test_changes_all_that_it_can',
    ],
)
def test_leftovers_of_a_test_harm_no_later_test(place: Shop, name: str) -> None:
    start = time.monotonic()
    # Two gigabytes take a busy machine more than the seconds that the other attacks get.
    (verdict,) = place.run(method(name), conditions=RunConditions(cpu_limit=30.0)).verdicts
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS
    assert time.monotonic() - start < 300
    assert not [
        one for one in psutil.process_iter(['cmdline']) if one.info['cmdline'] == ['sleep', LEFT]
    ]
    assert place.verdict(method('test_is_well')).outcome is Outcome.PASS


def test_process_does_not_see_files_that_another_process_wrote(place: Shop) -> None:
    sees = method('test_sees_a_tree_of_its_own')
    assert [place.verdict(sees).outcome for _ in range(2)] == [Outcome.PASS] * 2


def test_exiting_test_leaves_the_next_test_without_a_verdict(place: Shop) -> None:
    first, second = place.run(method('test_exits'), method('test_is_well')).verdicts
    assert first is not None
    assert (first.outcome, first.signature, second) == (Outcome.ERROR, 'exit:0', None)


@pytest.mark.slow
def test_conftest_that_ends_the_process_breaks_the_tests_below_it(place: Shop) -> None:
    cell = place.cell(place.new, place.new)
    assert cell.broken == ('tests/ended/test_below.py',)
    below = method('test_below', file='tests/ended/test_below.py')
    found = place.built.find_compile_verdict(cell, below)
    assert found is not None
    assert (found.outcome, found.signature) == (Outcome.COMPILE_ERROR, 'loading:exit:0')
