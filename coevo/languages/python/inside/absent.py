"""Stand-ins for names that a test file imports and the code lacks, so that its other tests can run.

This is the counterpart of Java's stubbing compiler. While files are loaded, a stand-in does
nothing: it can be called, or serve as a decorator, a base class or a member. Once tests run, any
use of it raises `CoevoMissing`. Stand-ins are put into the modules of the code, where `hasattr`
sees them, so they are used only for files that do not load without them.
"""

import ast
import functools
import importlib
import sys
import types

RUNNING = [False]


class CoevoMissing(BaseException):
    """Raised when a test uses a name that the code lacks; `except Exception` does not catch it."""


def _raise_if_running(name):
    if RUNNING[0]:
        raise CoevoMissing(name)


def _get_full_name(owner):
    return type.__getattribute__(owner, '__dict__').get('_coevo_name', 'a stand-in')


class _StandInType(type):
    """The metaclass of stand-ins: a stand-in is a class, so that it can be used as one."""

    def __call__(cls, *args, **kwargs):
        name = _get_full_name(cls)
        _raise_if_running(name)
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
            return _make_raising_function(args[0], name)
        return cls

    def __getattr__(cls, member):
        if member.startswith('__') and member.endswith('__'):
            raise AttributeError(member)
        name = _get_full_name(cls)
        _raise_if_running(name)
        return make_stand_in('%s.%s' % (name, member))

    def _return_stand_in(cls, *args):
        _raise_if_running(_get_full_name(cls))
        return cls

    def _return_false(cls, other=None):
        _raise_if_running(_get_full_name(cls))
        return False

    def __repr__(cls):
        _raise_if_running(_get_full_name(cls))
        return '<%s, which is not there>' % _get_full_name(cls)

    def __iter__(cls):
        _raise_if_running(_get_full_name(cls))
        return iter(())

    __getitem__ = __or__ = __ror__ = __and__ = __add__ = __radd__ = __sub__ = __mul__ = (
        _return_stand_in
    )
    __instancecheck__ = __subclasscheck__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = (
        _return_false
    )
    __enter__ = _return_stand_in
    __exit__ = _return_stand_in

    def __bool__(cls):
        _raise_if_running(_get_full_name(cls))
        return True

    def __len__(cls):
        _raise_if_running(_get_full_name(cls))
        return 0


def _make_raising_function(function, name):
    @functools.wraps(function)
    def raise_missing(*args, **kwargs):
        """Raise CoevoMissing in place of the decorated function."""
        raise CoevoMissing(name)

    del raise_missing.__wrapped__
    raise_missing.__signature__ = __import__('inspect').Signature()
    return raise_missing


def make_stand_in(name):
    """Return a class that stands in for a name that the code lacks.

    It is an exception class if the name ends in Error, Exception or Warning.
    """
    last = name.rpartition('.')[2]
    base = Exception if last.endswith(('Error', 'Exception', 'Warning')) else object
    return _StandInType(last, (base,), {'_coevo_name': name, '__module__': 'coevo_absent'})


class _StandInModule(types.ModuleType):
    """A stand-in for a missing module; any name can be imported from it."""

    def __getattr__(self, member):
        if member.startswith('__') and member.endswith('__'):
            raise AttributeError(member)
        return make_stand_in('%s.%s' % (self.__name__, member))


def add_stand_ins(file, package, tops):
    """Import what a file imports from the modules `tops`, and add stand-ins for what is missing.

    The stand-ins are put into the modules and classes of the code, or are modules. Return (class,
    function, missing name) for each function of the file that uses one; [] if the file cannot be
    parsed.

    file     its path
    package  the package from which its relative imports start
    tops     the top-level modules of the code
    """
    try:
        with open(file, 'rb') as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return []
    names, bound = {}, {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = _import_or_stand_in(alias.name, tops)
                if module is None:
                    continue
                if isinstance(module, _StandInModule):
                    names[alias.asname or alias.name] = alias.name
                top = alias.name.partition('.')[0]
                local, full = (alias.asname, alias.name) if alias.asname else (top, top)
                bound[local] = (sys.modules[full], full)
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
            module = _import_or_stand_in(name, tops)
            for alias in node.names if module is not None else ():
                local, full = alias.asname or alias.name, '%s.%s' % (name, alias.name)
                if _add_missing_member(module, alias.name):
                    names[local] = full
                elif alias.name != '*':
                    bound[local] = (getattr(module, alias.name, sys.modules.get(full)), full)
    for node in tree.body:
        for chain in _find_chains_read_at_import(node):
            first, _, rest = chain.partition('.')
            if first in bound and rest:
                value, full = bound[first]
                missing = _add_missing_attribute(value, rest.split('.'), full, tops)
                if missing is not None:
                    names[first + missing[len(full) :]] = missing
    return list(_find_functions_using_names(tree.body, '', names))


def _find_functions_using_names(nodes, owner, names):
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            inner = owner + '.' + node.name if owner else node.name
            for user in _find_functions_using_names(node.body, inner, names):
                yield user
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            used = {_format_chain(part) for part in ast.walk(node)}
            for name in sorted(used.intersection(names))[:1]:
                yield owner, node.name, names[name]


def _format_chain(node):
    """Return the text of a name, or of attributes of a name: `a.b.c`; '' for any other node."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return '.'.join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else ''


def _find_chains_read_at_import(node):
    """Yield the attributes of names that a statement reads whenever its file is imported.

    The bodies of functions run later, and those of conditions and `try` may not run at all.
    """
    if isinstance(node, (ast.If, ast.Try, ast.Lambda, ast.IfExp)):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        defaults = node.args.defaults + [default for default in node.args.kw_defaults if default]
        inner = node.decorator_list + defaults
    else:
        inner = ast.iter_child_nodes(node)
    chain = _format_chain(node) if isinstance(node, ast.Attribute) else ''
    if chain:
        yield chain
    for child in () if chain else inner:
        for found in _find_chains_read_at_import(child):
            yield found


def _add_missing_attribute(value, parts, full, tops):
    """Return the full name of the first attribute that is missing, with a stand-in for it now.

    None if none is missing, or if it would be one of a value that is neither a module nor a class
    of the code.

    value  the module or member that is bound, `full` its full name
    parts  the attributes that are read from it, one of the other
    """
    for part in parts:
        full = '%s.%s' % (full, part)
        owner = _get_module_name(value)
        if owner is None or owner.partition('.')[0] not in tops:
            return None
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                setattr(value, part, make_stand_in(full))
            except (AttributeError, TypeError):  # a type of an extension
                return None
            return full
        if isinstance(value, _StandInType):  # of an earlier use
            return full
    return None


def _get_module_name(value):
    """Return the name of a module, or of the module of a class; None for any other value."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    is_class = isinstance(value, type) and not isinstance(value, _StandInType)
    return value.__module__ if is_class else None


def _import_or_stand_in(name, tops):
    """Return a module of the code, imported, or a stand-in if it is missing.

    None if it is not the code's, or exists and fails to load.
    """
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
            sys.modules[here] = _StandInModule(here)
            sys.modules[here].__path__ = []
            if end > 1:
                setattr(sys.modules['.'.join(parts[: end - 1])], parts[end - 1], sys.modules[here])
    return sys.modules[name]


def _add_missing_member(module, name):
    """Return whether the module lacks a name, adding a stand-in for it if there is none yet."""
    if isinstance(module, _StandInModule):
        return True
    if name == '*' or hasattr(module, name):
        return isinstance(getattr(module, name, None), _StandInType)
    try:
        importlib.import_module('%s.%s' % (module.__name__, name))
    except BaseException:
        setattr(module, name, make_stand_in('%s.%s' % (module.__name__, name)))
        return True
    return False
