"""The test process: pytest with a plugin that selects test methods and reports their outcomes.

Its standard input is one line of JSON: a secret and the request. Its events go, prefixed with the
secret, through the pipe whose descriptor is its argument, to `controller.py`, which alone has the
channel. A pass needs a complete sequence of events: begin, its tests, end.

The request has:

    mode       `run`, `load` (import the files and report which fail), `trace`, `probe` (import
               packages of the code, which are listed as files), `rewrite` (compile the texts of
               test files without running them), `umpire` (run all tests as the project does)
    root       the tree; reported paths are relative to it
    folder     of the module, in which pytest runs
    files      test files, relative to the folder
    targets    [file, class, name], paths relative to the root, class '' for a function
    options    of pytest
    awaited    for `umpire`: tests as in `targets`; the run ends behind the last of them, and
               runs all tests if there are none
    whole      for `run`: whether to collect all tests of the files before selecting the targets
    absent     files whose missing names get stand-ins, with their packages
    traced     for `trace`: texts of the code files whose lines and branches are requested; in the
               tree these files may be withheld or replaced
    coverage   for `trace`: the folder with coverage.py; absent if `traced` is empty
    loads      for `trace`: whether to report lines that run while files are loaded, too
    observed   where the observer counts, added by the controller; empty if nothing is observed
    natives    files of the code that use C by themselves, which is no doubt about a test
    packages   the folder of libraries
    sources    for `rewrite`: [path, Base64 of a text]
    date       for `rewrite`: as in `rewriter.py`
"""

import inspect
import json
import os
import sys
import time

# Marks of plugins that are left out or blocked. They are registered here, as a project may allow
# registered marks only.
_MARKS = (
    'flaky: of pytest-rerunfailures and flaky',
    'no_cover: of pytest-cov',
    'xdist_group: of pytest-xdist',
)

# pytest-qt needs one of these, https://pytest-qt.readthedocs.io/en/latest/intro.html.
_QT = ('PySide6', 'PySide2', 'PyQt6', 'PyQt5')

# Outcomes from the worst to the best, in coevo's order.
_WORST = ('compile_error', 'error', 'fail', 'skipped', 'pass')


def _import_own_module(folder, name):
    """Import a module of these programs, whatever the project has under that name."""
    import importlib.util

    own = 'coevo_' + name
    spec = importlib.util.spec_from_file_location(own, os.path.join(folder, name + '.py'))
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    spec.loader.exec_module(module)
    return module


_failures = _import_own_module(os.path.dirname(os.path.abspath(__file__)), 'failures')
Failure, describe_import_error = _failures.Failure, _failures.describe_import_error
find_original_exception = _failures.find_original_exception
_origins = _import_own_module(os.path.dirname(os.path.abspath(__file__)), 'origins')


class EventWriter:
    """A writer of events: `tell` writes one. Its closure alone has the descriptor and secret."""

    def __init__(self, descriptor, secret):
        os.set_inheritable(descriptor, False)
        prefix, owner = secret.encode() + b'\t', os.getpid()

        def tell(event):
            """Write an event in full; do nothing in a forked child."""
            if os.getpid() == owner:  # a forked child is not the test process
                data = prefix + json.dumps(event).encode() + b'\n'
                while data:
                    data = data[os.write(descriptor, data) :]

        self.tell = tell


class Plugin:
    """The pytest plugin of one session: it selects and orders tests, and reports their outcomes."""

    def __init__(self, request, teller, pytest):
        self.request, self.tell, self.pytest = request, teller.tell, pytest
        self.root = os.path.realpath(request['root'])
        self.targets = {}
        for index, (file, owner, name) in enumerate(request['targets']):
            self.targets[file, owner, name] = index
        self.names = {name for _, _, name in request['targets']}
        self.counts = [0] * len(request['targets'])
        self.origins = _origins.Origins(self.root)
        self.raised, self.reported, self.called = {}, set(), False
        self.worst, self.cpu = None, 0.0
        self.tracer = None

    # Fixtures and settings

    def worker_id(self):
        """Return the value of pytest-xdist's fixture for a run that is not distributed.

        pytest-xdist itself is left out.
        """
        return 'master'

    def testrun_uid(self):
        """Return a constant for pytest-xdist's fixture."""
        return '0' * 32

    def pytest_load_initial_conftests(self, early_config):
        """Register marks and drop warning filters that pytest cannot read, before it does."""
        for line in _MARKS:
            early_config.addinivalue_line('markers', line)
        filters = early_config.getini('filterwarnings')
        filters[:] = [line for line in filters if not self.is_filter_of_missing_package(line)]
        if hasattr(self.pytest, 'PytestConfigWarning'):  # options of plugins that are not installed
            filters.append('ignore:Unknown config:pytest.PytestConfigWarning')
        yield

    def is_filter_of_missing_package(self, line):
        """Return whether a warning filter names a class of a package that is not installed.

        pytest would refuse to run at all with such a filter.
        """
        import importlib.util

        module = line.split(':')[2].strip().rpartition('.')[0] if line.count(':') > 1 else ''
        top = module.partition('.')[0]
        if not top or top in self.request['tops'] or top in sys.modules:
            return False
        return importlib.util.find_spec(top) is None

    # Collection

    def pytest_pycollect_makeitem(self, collector, name, obj):
        """Collect nothing for a function that is no target: parameters may be thousands.

        Classes without targets are skipped too: to find the line of a class, an old pytest parses
        the whole file once more. None leaves the collection to pytest.
        """
        if self.request['mode'] == 'load' or self.request.get('whole') or name in self.names:
            return None
        if _origins.find_original_name(obj) in self.names:
            return None
        if inspect.isclass(obj):
            return None if self.may_have_targets(obj) else []
        return [] if inspect.isfunction(obj) or hasattr(obj, '__wrapped__') else None

    def may_have_targets(self, owner):
        """Return whether a class has a method named like a target, or nested classes.

        Nested classes of a unittest class do not count.
        """
        kinds = [vars(kind) for kind in owner.__mro__]
        if any(name in kind for kind in kinds for name in self.names):
            return True
        values = [value for kind in kinds for value in list(kind.values())]
        if any(_origins.find_original_name(value) in self.names for value in values):
            return True
        case = getattr(sys.modules.get('unittest'), 'TestCase', None)
        if isinstance(case, type) and issubclass(owner, case):
            return False
        return any(inspect.isclass(value) for kind in kinds for value in list(kind.values()))

    def pytest_make_collect_report(self, collector):
        """Report each file that fails to load or is skipped as a whole."""
        outcome = yield
        report = outcome.get_result()
        if report.outcome == 'passed':
            return
        path = str(getattr(collector, 'fspath', '') or getattr(collector, 'path', ''))
        call = getattr(report, 'call', None)
        value = call.excinfo.value if call is not None and call.excinfo else None
        self.report_load_failure(path, value, skipped=report.outcome == 'skipped')

    def report_load_failure(self, path, value, skipped=False):
        """Report that a file could not be loaded, or was skipped, with the original exception.

        path  of the file; '' for all files
        """
        file = os.path.relpath(os.path.realpath(path), self.root) if path else '*'
        value = find_original_exception(value)
        failure = Failure(value if value is not None else Exception('unknown'), self.root)
        event = failure.make_event(e='file', file=file, detail=describe_import_error(value))
        event['outcome'] = 'skipped' if skipped else 'compile_error'
        event['syntax'] = isinstance(value, SyntaxError)
        self.tell(event)

    def pytest_collection_modifyitems(self, session, config, items):
        """Keep only the targets, in the requested order; report missing ones as without tests.

        In the mode `load` no item is kept. In all others any use of a stand-in from here on raises
        an error.
        """
        yield
        _make_hypothesis_deterministic(self.request)
        if self.request['mode'] == 'load':
            items[:] = []
            return
        indexed_items = [
            (self.find_target_index(item), position) for position, item in enumerate(items)
        ]
        chosen = sorted(pair for pair in indexed_items if pair[0] is not None)
        items[:] = [items[position] for _, position in chosen]
        present = {index for index, _ in chosen}
        for index in range(len(self.counts)):
            if index not in present:
                self.tell({'e': 'begin', 't': index})
                self.tell({'e': 'end', 't': index, 'tests': 0, 'cpu_ms': 0})
        from_absent = sys.modules.get('coevo_absent')
        if from_absent is not None:
            from_absent.RUNNING[0] = True
        if self.tracer is not None:
            self.tracer.start()

    def find_target_index(self, item):
        """Return the index of the target that an item belongs to; None if it belongs to none."""
        return self.targets.get(self.origins.find_identity(item))

    # Execution

    def pytest_runtest_protocol(self, item, nextitem):
        """Report the begin of each target before its first item, and its end after its last."""
        index = self.find_target_index(item)
        if self.worst is None:
            self.worst, self.cpu = [], time.process_time()
            self.tell({'e': 'begin', 't': index})
            if self.tracer is not None:
                self.tracer.begin()
        self.current = index
        self.outcomes, self.phases = [], set()
        ended = yield
        if ended.excinfo is not None or 'teardown' not in self.phases:
            return  # the item ended the session without completing
        self.report_test_outcome(index)
        if nextitem is None or self.find_target_index(nextitem) != index:
            if self.tracer is not None:
                for event in self.tracer.end():
                    self.tell(dict(event, e='trace', t=index))
            spent = int((time.process_time() - self.cpu) * 1000)
            self.worst = None
            count = self.counts[index]
            self.tell({'e': 'end', 't': index, 'tests': count, 'cpu_ms': spent})

    def report_test_outcome(self, index):
        """Report the worst outcome of an item; nothing if it passed but was not called."""
        if not self.outcomes:
            return
        if self.phases == {'setup', 'teardown'} and all(
            phase_outcome == 'pass' for phase_outcome, _ in self.outcomes
        ):
            return
        outcome, failure = min(self.outcomes, key=lambda one: _WORST.index(one[0]))
        event = failure.make_event() if failure is not None else {}
        event.update(e='test', t=index, outcome=outcome)
        self.counts[index] += 1
        self.tell(event)

    def pytest_runtest_call(self, item):
        """Set `called` while the item is called: its own report of the phase comes afterwards."""
        self.called = True
        yield
        self.called = False

    def pytest_pyfunc_call(self, pyfuncitem):
        """Record which exception the test function raised, or None."""
        outcome = yield
        info = outcome.excinfo
        self.raised[pyfuncitem.nodeid] = info[1] if info else None

    def pytest_runtest_makereport(self, item, call):
        """Record the outcome of each phase.

        A report that is made while the item is still called is one of its parts (a subtest). A part
        can break the item; whether the item passes is up to the report of the phase.
        """
        outcome = yield
        report = outcome.get_result()
        self.reported.add(id(report))
        if self.called:
            if report.outcome == 'failed' and call.excinfo is not None:
                self.outcomes.append(self.classify_failure(call.excinfo.value, call.when))
            return
        self.phases.add(call.when)
        self.outcomes.append(self.classify_phase(item, call, report))

    def classify_phase(self, item, call, report):
        """Return the outcome of one phase (set-up, call, tear-down) and its failure, None if none.

        A report that says `passed` although the test raised, or was not called, counts as that
        failure.
        """
        value = call.excinfo.value if call.excinfo is not None else None
        xfail = hasattr(report, 'wasxfail')
        if report.outcome == 'skipped':
            return 'skipped', None
        if report.outcome == 'passed':
            if value is None and call.when == 'call' and not _is_unittest(item):
                value = self.raised.get(item.nodeid, _NEVER)
            if value is None or xfail:
                return 'pass', None
            if value is _NEVER:
                value = RuntimeError('the test was reported to pass and was not called')
        if value is None:
            return 'fail', Failure(AssertionError('XPASS(strict)'), self.root)
        return self.classify_failure(value, call.when)

    def classify_failure(self, value, when):
        """Return the outcome that an exception means in a phase, and its description."""
        return self.classify_exception(value, when), Failure(value, self.root)

    def classify_exception(self, value, when):
        """Return the outcome that an exception means in a phase.

        It is `compile_error` for a name that the code lacks, `fail` for a failed assertion in the
        call, and `error` for anything else.
        """
        if type(value).__name__ == 'CoevoMissing':
            return 'compile_error'
        failed = isinstance(value, (AssertionError, self.pytest.fail.Exception))
        return 'fail' if failed and when == 'call' else 'error'

    def pytest_runtest_logreport(self, report):
        """Record failures of subtests, whose reports `pytest_runtest_makereport` did not see."""
        if report.outcome == 'failed' and id(report) not in self.reported:
            crash = getattr(report.longrepr, 'reprcrash', None)
            text = getattr(crash, 'message', None) or str(report.longrepr)
            self.outcomes.append(('fail', Failure(AssertionError(text), self.root)))


_NEVER = object()


def _is_unittest(item):
    return type(item).__name__ == 'TestCaseFunction'


def _make_hypothesis_deterministic(request):
    """Make hypothesis use the same examples in each run, without deadline and database.

    Otherwise its tests are flaky under load.
    """
    if 'hypothesis' not in sys.modules:
        return
    settings = sys.modules['hypothesis'].settings
    settings.register_profile(
        'coevo', settings.default, derandomize=True, database=None, deadline=None
    )
    settings.load_profile('coevo')


def _mark_hooks(pytest):
    """Mark hooks and fixtures in a way that all versions of pytest from 3.2 on understand."""
    for name in (
        'pytest_load_initial_conftests',
        'pytest_make_collect_report',
        'pytest_collection_modifyitems',
        'pytest_runtest_protocol',
        'pytest_runtest_call',
        'pytest_runtest_makereport',
        'pytest_pyfunc_call',
    ):
        function = getattr(Plugin, name)
        pytest.hookimpl(hookwrapper=True, tryfirst=True)(function)
    pytest.hookimpl(tryfirst=True)(Plugin.pytest_pycollect_makeitem)
    for name in ('worker_id', 'testrun_uid'):
        setattr(Plugin, name, pytest.fixture(scope='session')(getattr(Plugin, name)))


def run(request, teller):
    """Handle a request by its mode, in most modes by running pytest; report events to `teller`."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or '.') != here]
    sys.argv[:] = ['pytest']
    if request['mode'] == 'probe':
        return probe_imports(request, teller)
    if request['mode'] == 'rewrite':
        rewriter = _import_own_module(here, 'rewriter')
        return rewriter.rewrite_all(request, teller)
    if request.get('observed'):
        _import_own_module(here, 'observing').start_observer(request, here, [request['packages']])
        sys.modules.pop('coevo_observing')
    tracer = _make_tracer(request, here) if request['mode'] == 'trace' else None
    if request['absent']:  # importing the stand-ins imports the code
        absent = _import_own_module(here, 'absent')
        for file, package in request['absent']:
            users = absent.add_stand_ins(file, package, set(request['tops']))
            if request['mode'] == 'load' and users:
                path = os.path.relpath(os.path.realpath(file), os.path.realpath(request['root']))
                teller.tell({'e': 'absent', 'file': path, 'users': users})
    import pytest
    from _pytest.config import _prepareconfig

    _mark_hooks(pytest)
    if request['mode'] == 'umpire':
        plugin = _import_own_module(here, 'umpiring').make_project_run_plugin(
            Plugin, request, teller, pytest
        )
    else:
        plugin = Plugin(request, teller, pytest)
    plugin.tracer = tracer
    arguments = [*request['options'], *_make_plugin_blocking_options(), *request['files']]
    try:
        config = _prepareconfig(arguments, [plugin])
    except BaseException as error:
        plugin.report_load_failure(str(getattr(error, 'path', '') or ''), error)
        return None
    try:
        config.hook.pytest_cmdline_main(config=config)
        teller.tell({'e': 'loaded'})
    finally:
        config._ensure_unconfigure()


def _make_plugin_blocking_options():
    """Return options that block plugins whose prerequisites are not installed.

    pytest-qt refuses to start without a Qt binding.
    """
    import importlib.util

    def is_there(name):
        """Return whether a package is installed."""
        return importlib.util.find_spec(name) is not None

    idle = is_there('pytestqt') and not any(map(is_there, _QT))
    return ['-p', 'no:pytest-qt'] if idle else []


def _make_tracer(request, here):
    root, counter = os.path.realpath(request['root']), None
    if request['traced']:
        covering = _import_own_module(here, 'covering')
        counter = covering.Counter(request['coverage'], root, request['traced'])
    tracer = _import_own_module(here, 'tracer').make_tracer(request, counter)
    if request.get('loads'):
        tracer.begin_loading_trace()
    return tracer


def probe_imports(request, teller):
    """Import the packages named in `files`; report each that fails, with the reason."""
    root = os.path.realpath(request['root'])
    for name in request['files']:
        try:
            __import__(name)
        except BaseException as error:
            detail = describe_import_error(error)
            event = Failure(error, root).make_event(e='file', file=name, detail=detail)
            teller.tell(dict(event, outcome='compile_error'))
    teller.tell({'e': 'loaded'})


def main():
    """Read a request, from standard input or as a child of the zygote, and handle it."""
    here = os.path.dirname(os.path.abspath(__file__))
    forked = len(sys.argv) > 2
    if forked:
        descriptor, line = _import_own_module(here, 'zygote').fork_children(
            int(sys.argv[1]), sys.argv[2], sys.argv[3:]
        )
    else:
        descriptor, line = int(sys.argv[1]), sys.stdin.buffer.readline()
    secret, request = json.loads(line)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    teller = EventWriter(descriptor, secret)
    try:
        run(request, teller)
    finally:
        teller.tell('bye')
    if forked:  # all is reported: the clean-up of the interpreter would be of no use
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


if __name__ == '__main__':
    main()
