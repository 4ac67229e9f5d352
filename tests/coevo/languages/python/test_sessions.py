"""What a test process finds that was forked from another one: nothing of the runs before it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.languages.cells import CellEdits
from coevo.languages.core import test_runs
from coevo.languages.python import inside
from coevo.languages.python.interpreters import OLDEST, find_interpreters
from coevo.languages.python.runner import LOADING_SECONDS
from coevo.languages.verdicts import PLAIN, MainSources, RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import SHORTLY, Shop, method, shop

CODE = 'NOTES = []\n'
TESTS = """\
    import ctypes
    import os
    import random
    import re
    import signal
    import socket
    import subprocess
    import sys
    import time
    import zlib

    import till


    def is_forked():
        return 'coevo_zygote' in sys.modules


    def test_is_forked():
        assert is_forked()


    def test_is_not_forked():
        assert not is_forked()


    def test_notes():
        till.NOTES.append(1)


    def test_writes():
        for place in ('/w/tree/till/left.py', '/w/tree/tests/left', '/w/left', '/tmp/home/left'):
            open(place, 'w').close()
        os.makedirs('/tmp/left/below')
        os.symlink('/w/tree', '/dev/shm/left')
        os.remove('/w/tree/pyproject.toml')
        with open('/w/tree/till/__init__.py', 'r+') as file:
            file.write('NOTES = 7 #')


    def test_forbids():
        os.makedirs('/tmp/left/below')
        os.chmod('/tmp/left', 0)


    def test_leaves_a_process():
        subprocess.Popen(['sleep', '1000'], start_new_session=True)


    def test_leaves_memory():
        assert ctypes.CDLL(None).shmget(4711, 4096, 0o1600) >= 0


    def test_leaves_a_port():
        with socket.create_server(('127.0.0.1', 4711)) as server:
            near = socket.create_connection(server.getsockname())
            far, _ = server.accept()
            far.close()  # who closes first keeps the port for a minute
            near.close()


    def test_kills_its_parent():
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


    def test_kills_all():
        os.kill(-1, signal.SIGKILL)


    def test_finds_nothing():
        assert till.NOTES == []
        assert sorted(os.listdir('/w')) == ['env', 'tree']
        assert sorted(os.listdir('/w/tree')) == ['pyproject.toml', 'tests', 'till']
        assert os.listdir('/tmp') == ['home'] and os.listdir('/tmp/home') == []
        assert os.listdir('/dev/shm') == []
        assert not os.path.exists('/w/tree/till/left.py')
        programs = []
        for name in filter(str.isdigit, os.listdir('/proc')):
            with open('/proc/%s/cmdline' % name) as file:
                programs.append(file.read())
        assert not any(program.startswith('sleep') for program in programs)
        with open('/proc/sysvipc/shm') as table:
            assert len(table.readlines()) == 1
        server = socket.socket()
        server.bind(('127.0.0.1', 4711))


    def test_draws():
        raise RuntimeError(random.random())


    def test_has_a_seed():
        raise RuntimeError(os.environ['PYTHONHASHSEED'])


    def test_is_asked_with_what_nobody_knows(request):
        import pytest

        with pytest.raises(pytest.UsageError) as caught:
            request.config._parser.parse(['--nobody-knows'])
        raise RuntimeError(str(caught.value)[-200:])


    def test_tells_of_pytest(request, capsys):
        import _pytest.config

        config = request.config
        manager = config.pluginmanager
        plugins = sorted(str(name) for name, _ in manager.list_name_plugin() if not name.isdigit())
        options = sorted(str(item) for item in vars(config.option).items() if item[0] != 'plugins')
        params = config.invocation_params
        told = [plugins, options, params.args, len(params.plugins), params.dir, os.getcwd(), config.rootdir]
        told += [config.args, sorted(manager._name2plugin), sorted(vars(config)), os.environ.get('COLUMNS')]
        told += [_pytest.config.get_config.__qualname__, sorted(config._parser._inidict), config.inipath]
        text = re.sub(r'0x[0-9a-f]+|\\d{9,}', '', repr([str(one) for one in told]))
        made = _pytest.config.get_config()
        assert made is not config and made.pluginmanager is not manager
        raise RuntimeError(zlib.crc32(text.encode()), len(text), text[:300])
"""
LEAVING = (
    'test_notes',
    'test_writes',
    'test_forbids',
    'test_leaves_a_process',
    'test_leaves_memory',
    'test_leaves_a_port',
)
FORKED = method('test_is_forked')
EDIT = CellEdits(tests=(('tests/data.txt', b''),))


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    files = {'till/__init__.py': CODE, 'tests/test_till.py': TESTS}
    hiding = {'iniconfig.py': 'read_config = IniConfig = ParseError = SectionWrapper = None\n'}
    with shop(tmp_path_factory.mktemp('sessions'), {**files, **hiding}, _without(hiding)) as found:
        yield found


def _without(files: dict[str, str]) -> dict[str, str | None]:
    return dict.fromkeys(files)


def test_runs_of_an_unedited_revision_are_forked(place: Shop) -> None:
    assert place.verdict(FORKED).outcome is Outcome.PASS
    together = place.run(FORKED, method('test_notes')).verdicts
    assert [one and one.outcome for one in together] == [Outcome.PASS, Outcome.PASS]


def test_runs_of_a_patch_and_observed_runs_are_not_forked(place: Shop) -> None:
    edited = place.cell(place.new, place.new, EDIT)
    assert place.verdict(FORKED, edited).outcome is Outcome.FAIL
    watched = place.run(FORKED, conditions=RunConditions(observed=True)).verdicts
    assert [one and one.outcome for one in watched] == [Outcome.FAIL]


def test_runs_of_edits_outside_submissions_are_forked(tmp_path: Path) -> None:
    files = {'till/__init__.py': CODE, 'tests/test_till.py': TESTS}
    mutant = CellEdits(code=(('till/__init__.py', b'NOTES = None'),))
    withheld = replace(SHORTLY, sources=MainSources())
    with shop(tmp_path, files, {'tests/more.txt': ''}, own_edits=True) as found:
        edited, mutated = (found.cell(found.new, found.new, one) for one in (EDIT, mutant))
        assert found.verdict(FORKED, edited).outcome is Outcome.PASS
        told = found.run(FORKED, method('test_notes'), cell=mutated, conditions=withheld).verdicts
        assert [one and one.outcome for one in told] == [Outcome.PASS, Outcome.ERROR]
        assert found.verdict(method('test_finds_nothing')).outcome is Outcome.PASS


@pytest.mark.slow
def test_mutant_that_never_ends_while_loading_has_a_limit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_runs, '_LEAST_LOADING', 3.0)
    files = {'till/__init__.py': CODE, 'tests/test_till.py': TESTS}
    endless = CellEdits(code=(('till/__init__.py', b'while True:\n    pass\n'),))
    with shop(tmp_path, files, {'tests/more.txt': ''}, own_edits=True) as found:
        assert found.verdict(FORKED).outcome is Outcome.PASS
        cell = found.cell(found.new, found.new, endless)
        limited = replace(SHORTLY, sources=MainSources(), cpu_limit=2.0)
        batch = found.run(FORKED, cell=cell, conditions=limited)
        assert [verdict and verdict.outcome for verdict in batch.verdicts] == [Outcome.ERROR]
        assert batch.cpu_seconds < LOADING_SECONDS / 4


def test_tree_that_shadows_an_import_of_pytest_is_not_forked(place: Shop) -> None:
    hiding = place.cell(place.new, place.old)
    assert hiding.unit_ok is False or place.verdict(FORKED, hiding).outcome is not Outcome.PASS


@pytest.mark.slow
def test_files_that_shadow_no_import_do_not_prevent_forking(tmp_path: Path) -> None:
    files = {'till/__init__.py': CODE, 'tests/test_till.py': TESTS}
    settings = {'pytest.ini': '[pytest]\n', 'pluggy-1.0.egg-info/PKG-INFO': ''}
    with shop(tmp_path, {**files, **settings}, {'more.txt': ''}) as found:
        assert found.verdict(FORKED).outcome is Outcome.PASS


@pytest.mark.slow
@pytest.mark.parametrize('name', LEAVING)
def test_next_run_finds_no_leftovers_of_a_run(place: Shop, name: str) -> None:
    for test in (name, 'test_finds_nothing'):
        told = place.verdict(method(test))
        assert told.outcome is Outcome.PASS, told.message


@pytest.mark.sampled(1)
@pytest.mark.parametrize('name', ['test_kills_its_parent', 'test_kills_all'])
def test_killing_other_processes_is_an_error_of_the_killing_test_only(
    place: Shop, name: str
) -> None:
    assert place.verdict(method(name)).outcome is Outcome.ERROR
    assert place.verdict(method('test_finds_nothing')).outcome is Outcome.PASS
    assert place.verdict(FORKED).outcome is Outcome.PASS


@pytest.mark.slow
def test_forked_pytest_has_the_same_state_as_an_unforked_pytest(place: Shop) -> None:
    test = method('test_tells_of_pytest')
    forked = place.verdict(test)
    edits = CellEdits(tests=(('tests/other.txt', b'a'),))
    alone = place.verdict(test, place.cell(place.new, place.new, edits))
    assert (forked.outcome, forked.exceptions[0]) == (Outcome.ERROR, 'RuntimeError')
    assert forked.message == alone.message


def test_forked_pytest_reports_the_same_usage_error_as_an_unforked_pytest(place: Shop) -> None:
    test = method('test_is_asked_with_what_nobody_knows')
    edits = CellEdits(tests=(('tests/other.txt', b'a'),))
    alone = place.verdict(test, place.cell(place.new, place.new, edits))
    assert 'pytest: error: unrecognized arguments: --nobody-knows' in alone.message
    assert place.verdict(test).message == alone.message


@pytest.mark.parametrize(
    ('conditions', 'seed'), [(PLAIN, '1'), (RunConditions(together=True), '0')]
)
def test_single_method_gets_the_hash_seed_of_its_conditions(
    place: Shop, conditions: RunConditions, seed: str
) -> None:
    (told,) = place.run(method('test_has_a_seed'), conditions=conditions).verdicts
    assert told is not None
    assert told.message == seed


def test_each_run_draws_its_own_random_numbers(place: Shop) -> None:
    drawn = {place.verdict(method('test_draws')).message for _ in range(3)}
    assert len(drawn) == 3


def test_runs_in_another_sandbox_than_bubblewrap_are_not_forked(
    place: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('coevo.languages.core.test_runs.BUBBLEWRAP', 'another')
    assert place.verdict(method('test_is_not_forked')).outcome is Outcome.PASS


def test_code_run_in_the_sandbox_parses_on_the_oldest_interpreter() -> None:
    """`session.py` was not, so that runs of 3.6 and 3.7 had a sandbox each, and nobody noticed."""
    here = find_interpreters()
    ask = 'import ast, sys; [ast.parse(open(one).read()) for one in sys.argv[1:]]'
    files = sorted(Path(str(inside.__file__)).parent.glob('*.py'))
    assert len(files) > 10
    subprocess.run([here[0].program, '-I', '-S', '-c', ask, *files], check=True)
    for file in files:
        ast.parse(file.read_text(), feature_version=OLDEST)
        assert '_ns(' not in file.read_text()  # functions of 3.7
