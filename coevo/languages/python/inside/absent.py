"""Names that a test file imports and the code lacks, stood in for, so that its other tests can run.

The counterpart of Java's stubbing compiler. What stands in does nothing while files are loaded: it can be
called, be a decorator, a base class, a member. Once tests run, any use of it raises `CoevoMissing`.
It is put into the code's modules, where `hasattr` sees it: only files that do not load get it.
"""

import ast
import functools
import importlib
import sys
import types

RUNNING = [False]


class CoevoMissing(BaseException):
    """What a test needs and the code lacks; no `except Exception` swallows it."""


def _used(name):
    if RUNNING[0]:
        raise CoevoMissing(name)


def _full_name(owner):
    return type.__getattribute__(owner, '__dict__').get('_coevo_name', 'a stand-in')


class _Absent(type):
    """The type of what stands in, so that it passes where a class is wanted."""

    def __call__(cls, *args, **kwargs):
        name = _full_name(cls)
        _used(name)
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
            return _raising(args[0], name)
        return cls

    def __getattr__(cls, member):
        if member.startswith('__') and member.endswith('__'):
            raise AttributeError(member)
        name = _full_name(cls)
        _used(name)
        return stand_in('%s.%s' % (name, member))

    def _use(cls, *args):
        _used(_full_name(cls))
        return cls

    def _ask(cls, other=None):
        _used(_full_name(cls))
        return False

    def __repr__(cls):
        _used(_full_name(cls))
        return '<%s, which is not there>' % _full_name(cls)

    def __iter__(cls):
        _used(_full_name(cls))
        return iter(())

    __getitem__ = __or__ = __ror__ = __and__ = __add__ = __radd__ = __sub__ = __mul__ = _use
    __instancecheck__ = __subclasscheck__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = _ask
    __enter__ = _use
    __exit__ = _use

    def __bool__(cls):
        _used(_full_name(cls))
        return True

    def __len__(cls):
        _used(_full_name(cls))
        return 0


def _raising(function, name):
    @functools.wraps(function)
    def instead(*args, **kwargs):
        raise CoevoMissing(name)

    del instead.__wrapped__
    instead.__signature__ = __import__('inspect').Signature()
    return instead


def stand_in(name):
    last = name.rpartition('.')[2]
    base = Exception if last.endswith(('Error', 'Exception', 'Warning')) else object
    return _Absent(last, (base,), {'_coevo_name': name, '__module__': 'coevo_absent'})


class _AbsentModule(types.ModuleType):
    """A module that is not there; `from` it anything can be had."""

    def __getattr__(self, member):
        if member.startswith('__') and member.endswith('__'):
            raise AttributeError(member)
        return stand_in('%s.%s' % (self.__name__, member))


def place(file, package, tops):
    """Let the imports of a file find something; modules of `tops` alone, which are the code's.

    Its functions that name what is not there: class, function, the name.
    """
    try:
        with open(file, 'rb') as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return []
    names = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if isinstance(_module(alias.name, tops), _AbsentModule):
                    names[alias.asname or alias.name.partition('.')[0]] = alias.name
        elif isinstance(node, ast.ImportFrom):
            name = ('.' * node.level) + (node.module or '')
            if node.level:
                if not package:
                    continue
                parts = package.split('.')
                if len(parts) < node.level:
                    continue
                head = '.'.join(parts[: len(parts) - node.level + 1])
                name = '.'.join(filter(None, (head, node.module)))
            found = _module(name, tops)
            for alias in node.names if found is not None else ():
                if _member(found, alias.name):
                    names[alias.asname or alias.name] = '%s.%s' % (name, alias.name)
    return list(_users(tree.body, '', names))


def _users(nodes, owner, names):
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            inner = owner + '.' + node.name if owner else node.name
            for user in _users(node.body, inner, names):
                yield user
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            for name in sorted(used.intersection(names))[:1]:
                yield owner, node.name, names[name]


def _module(name, tops):
    """The module, or what stands in for it; None for what is not the code's, or breaks itself."""
    if name.partition('.')[0] not in tops:
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + '.').startswith(error.name + '.'):
            return None
    except BaseException:
        return None
    parts = name.split('.')
    for end in range(1, len(parts) + 1):
        here = '.'.join(parts[:end])
        if here not in sys.modules:
            sys.modules[here] = _AbsentModule(here)
            sys.modules[here].__path__ = []
            if end > 1:
                setattr(sys.modules['.'.join(parts[: end - 1])], parts[end - 1], sys.modules[here])
    return sys.modules[name]


def _member(module, name):
    """Whether a module lacks something, which has a stand-in now."""
    if isinstance(module, _AbsentModule):
        return True
    if name == '*' or hasattr(module, name):
        return isinstance(getattr(module, name, None), _Absent)
    try:
        importlib.import_module('%s.%s' % (module.__name__, name))
    except BaseException:
        setattr(module, name, stand_in('%s.%s' % (module.__name__, name)))
        return True
    return False
