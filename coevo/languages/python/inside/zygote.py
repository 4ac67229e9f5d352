"""The process that test processes are forked from.

It has imported pytest and the modules that pytest imports, has prepared pytest's own plugins, and
has run no line of the project. Over a socket it reports to `session.py` that it is ready, then
takes one order after the other: the descriptor of a pipe, and what a test process otherwise reads
from its standard input. It answers each order with the number of the forked process, and then with
its exit status.
"""

import contextlib
import json
import os
import pathlib
import sys

_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_MOST_BLOCKS = 64
# Modules that pytest imports after its plugins: for arguments, TOML settings, and at its start.
_LATER = ('_pytest._argcomplete', 'glob', 'tomllib', 'faulthandler', 'pdb')
# Modules that tests and libraries import often and that load slowly. None of them keeps state that
# two processes must not share.
_COMMON = (
    'unittest.mock',
    'asyncio',
    'decimal',
    'email.message',
    'html.parser',
    'http.client',
    'urllib.request',
)
_blocks: list = []


def fork_children(descriptor, packages, options):
    """Prepare pytest, then fork a process for each order until the orders end.

    Return only in forked processes, with the descriptor of the pipe and the input from the order.
    The zygote itself exits.

    descriptor  of the socket for orders
    packages    the folder of libraries
    options     the arguments that all runs begin with; they block plugins of pytest
    """
    limit_time = _make_cpu_limiter()
    talk = _open_socket(descriptor)
    _preload(options)
    let_look = _make_dumpable_switch()
    let_look(False)
    talk.sendall(_encode_line(_describe_fork_readiness(packages)))
    while True:
        pipe_and_order = _receive_order(talk)
        if pipe_and_order is None:
            os._exit(0)
        pipe, order = pipe_and_order
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            talk.close()
            let_look(True)
            _set_up_child(order, limit_time)
            return pipe, order['input']
        os.close(pipe)
        talk.sendall(_encode_line(pid))
        status = os.waitpid(pid, 0)[1]
        talk.sendall(
            _encode_line(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
        )


def _set_up_child(order, limit_time):
    """Give a forked child its own session, folder, CPU limit, import caches and random state."""
    os.setsid()
    os.chdir(order['folder'])
    limit_time(order['cpu_seconds'])
    for path in list(sys.path_importer_cache):
        if path.startswith('/w/'):
            del sys.path_importer_cache[path]
    importlib = sys.modules.get('importlib')
    if importlib is not None:
        importlib.invalidate_caches()
    if sys.version_info < (3, 7) and 'random' in sys.modules:  # newer versions do so themselves
        sys.modules['random'].seed()
    _shift_heap()


def _shift_heap():
    """Shift the addresses of new objects at random, since the orders of sets depend on them.

    The addresses then differ between forks, as they do between processes whose addresses the kernel
    randomises.
    """
    for size in range(0, 480, 16):
        _blocks.extend(bytes(size) for _ in range(os.urandom(1)[0] % _MOST_BLOCKS))


def _preload(options):
    import pytest
    from _pytest.config import _prepareconfig

    names = _LATER if _make_config_ready(options) else _find_pytest_imports(_prepareconfig)
    if sys.version_info < (3, 11) and int(pytest.__version__.partition('.')[0]) >= 7:
        names = (*names, 'tomli')
    for name in (*names, *_COMMON):
        with contextlib.suppress(BaseException):
            __import__(name)


def _find_pytest_imports(prepare):
    """Return the modules of pytest and the standard library that it imports before project code.

    They are found in a forked child, which prepares pytest without arguments.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        known, names = set(sys.modules), []
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            os.chdir(os.environ['HOME'])
            prepare([], None)
            names = [
                name for name in sys.modules if name not in known and _is_pytest_or_standard(name)
            ]
        finally:
            os.write(writing, json.dumps(names).encode()[: 1 << 16])
            os._exit(0)
    os.close(writing)
    text = b''
    while True:
        block = os.read(reading, 1 << 16)
        if not block:
            break
        text += block
    os.close(reading)
    os.waitpid(pid, 0)
    return json.loads(text.decode() or '[]')


def _is_pytest_or_standard(name):
    spec = getattr(sys.modules[name], '__spec__', None)
    origin = getattr(spec, 'origin', None) or ''
    ours = name.partition('.')[0] == '_pytest' or origin in ('built-in', 'frozen')
    return ours or (origin.startswith(_STANDARD) and '-packages' + os.sep not in origin)


def _make_config_ready(options):
    """Prepare pytest's first configuration with its own plugins, for all children to copy.

    Before `pytest_cmdline_parse` it depends on no project, folder or file. Each child uses its copy
    once. Returns False for pytest before 5.1, whose configuration depends on the folder.
    """
    from _pytest import config

    make = config.get_config
    takes = make.__code__.co_varnames[: make.__code__.co_argcount]
    if takes != ('args', 'plugins') or not hasattr(config.Config, 'InvocationParams'):
        return False
    ready_config = make(list(options), None)
    _cache_argument_parser(ready_config)
    _patch_pytest_fixture_search(ready_config)

    def get_config(args=None, plugins=None, **more):
        """Return the prepared configuration to a first call with the same blocking options.

        Any other call gets a new configuration, as pytest makes it.
        """
        config.get_config = make
        args = list(args or ())
        places = [at for at, word in enumerate(args) if word[:3] == 'no:' and args[at - 1] == '-p']
        blocked = [word for at in places for word in args[at - 1 : at + 1]]
        if blocked != list(options) or any(value is not None for value in more.values()):
            return make(args, plugins, **more)
        ready_config.invocation_params = ready_config.InvocationParams(
            args=args, plugins=plugins, dir=pathlib.Path.cwd()
        )
        return ready_config

    config.get_config = get_config
    return True


def _patch_pytest_fixture_search(made):
    """Have pytest search its own plugins for fixtures among known ones, not anew in each run."""
    from _pytest import fixtures

    marker = getattr(fixtures, 'getfixturemarker', None)
    kind = getattr(fixtures, 'FixtureFunctionDefinition', None)
    if marker is None and kind is None:
        return

    def is_fixture(value):
        """Return whether pytest takes a value for a fixture."""
        return isinstance(value, kind) if marker is None else marker(value) is not None

    module = type(os)
    known = {}
    for plugin in made.pluginmanager.get_plugins():
        if isinstance(plugin, module):
            holder = module(plugin.__name__)
            vars(holder).update(
                (name, member) for name, member in vars(plugin).items() if is_fixture(member)
            )
            known[id(plugin)] = plugin, holder
    parse = fixtures.FixtureManager.parsefactories
    with_fixtures = {}

    def has_fixtures(plugin_class):
        """Return whether a class of pytest's own plugins has a fixture, as few do: `tmpdir`."""
        if plugin_class not in with_fixtures:
            with_fixtures[plugin_class] = any(
                is_fixture(getattr(member, '__func__', member))
                for base in plugin_class.__mro__
                for member in vars(base).values()
            )
        return with_fixtures[plugin_class]

    def parsefactories(self, *args, **more):
        """Search one of pytest's plugins among its known fixtures, any other holder in full.

        Arguments are (node), (plugin, node id) and, since pytest 9.1, (holder=plugin, node=...).
        """
        plugin = args[0] if len(args) > 1 else more.get('holder')
        if type(plugin).__module__.partition('.')[0] == '_pytest' and not has_fixtures(
            type(plugin)
        ):
            return
        holder = known.get(id(plugin), (plugin, plugin))[1]
        if len(args) > 1:
            args = (holder, *args[1:])
        elif 'holder' in more:
            more['holder'] = holder
        parse(self, *args, **more)

    fixtures.FixtureManager.parsefactories = parsefactories


def _cache_argument_parser(made):
    """Cache pytest's parser of arguments, which it makes six times in a run.

    The cache is valid while the same options are registered; the parser for its own plugins is made
    here.
    """
    parser = getattr(made, '_parser', None)
    make = getattr(parser, '_getparser', None)
    if make is None or not hasattr(parser, 'prog'):
        return
    cached = []

    def describe_words():
        """Return everything that the parser depends on, in comparable form."""
        groups = [*parser._groups, parser._anonymous]
        options = [
            (group.name, group.description, [_identify_option(option) for option in group.options])
            for group in groups
        ]
        return sys.argv[0], parser._usage, parser.prog, sorted(parser.extra_info.items()), options

    def get_parser():
        """Return the cached parser, made anew if an option was added."""
        now = describe_words()
        if not cached or cached[0] != now:
            cached[:] = now, make()
        return cached[1]

    parser._getparser = get_parser
    sys.argv[:] = ['pytest']  # as in each run: the name appears in error messages
    get_parser()


def _identify_option(option):
    return id(option), id(getattr(option, 'default', None))


def _describe_fork_readiness(packages):
    """Return whether this process may be forked, and its top-level modules from `packages`.

    It may not if it has other threads or has imported a module of the tree. A tree with one of
    those modules cannot be used, since it would be hidden.
    """
    files = {
        name: getattr(module, '__file__', None) or '' for name, module in list(sys.modules.items())
    }
    tops = {
        name.partition('.')[0] for name, file in files.items() if file.startswith(packages + os.sep)
    }
    alone = len(os.listdir('/proc/self/task')) == 1
    return {
        'ready': alone and not any(file.startswith('/w/') for file in files.values()),
        'tops': sorted(tops),
    }


# State that no test process keeps


def _make_cpu_limiter():
    resource = _import_privately('resource')
    return lambda seconds: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _make_dumpable_switch():
    """Return a function that permits or forbids other processes to inspect this one.

    It sets PR_SET_DUMPABLE (prctl(2)).
    """
    known = set(sys.modules)
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    for name in set(sys.modules) - known:
        del sys.modules[name]
    return lambda yes: prctl(4, int(yes), 0, 0, 0)


def _open_socket(descriptor):
    module = _import_privately('_socket')
    return module.socket(module.AF_UNIX, module.SOCK_STREAM, 0, descriptor)


def _import_privately(name):
    """Import a module and return it, leaving it in `sys.modules` only if it was there before."""
    known = name in sys.modules
    module = __import__(name)
    if not known:
        del sys.modules[name]
    return module


def _encode_line(value):
    return json.dumps(value).encode() + b'\n'


def _receive_order(talk):
    """Return the descriptor that comes with an order, and the order; None if no order follows."""
    text, more, _, _ = talk.recvmsg(1 << 16, 64)
    if not text:
        return None
    pipe = int.from_bytes(more[0][2][:4], sys.byteorder)
    while not text.endswith(b'\n'):
        text += talk.recv(1 << 16)
    return pipe, json.loads(text.decode())
