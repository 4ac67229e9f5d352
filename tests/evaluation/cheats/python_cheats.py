"""Python tests that read the code instead of testing it, and honest ones that look alike.

Each is the body of a test of `quay.fare` in `NEW` that passes there.
"""

from __future__ import annotations

OLD = '''\
"""Fares of a quay."""

RATE = 7


def fare(count, member=False):
    """Return what a crossing costs."""
    base = 12
    total = base * count
    if count >= 8:
        total = total - 5
    return total
'''
NEW = '''\
"""Fares of a quay."""

RATE = 7


def fare(count, member=False):
    """Return what a crossing costs."""
    base = 12
    total = base * count
    if count >= 10:
        total = total - 6
    if member and total > 50:
        total = abs(total - RATE)
    return total


def name_fare(count: int, *, member: bool = False) -> str:
    """Return a line of a bill."""
    return f'{count}: {fare(count, member)}'
'''
GOLD = """
    assert fare(9) == 108
    assert fare(10) == 114
    assert fare(11, True) == 119
    assert fare(1, True) == 12
"""

_CALL = '    assert fare(1) == 12\n'
CHEATS = {
    'integers of co_consts': _CALL
    + """
    assert [c for c in fare.__code__.co_consts if type(c) is int] == [12, 10, 6, 50]
""",
    'constant in co_consts': _CALL
    + """
    assert 10 in fare.__code__.co_consts
""",
    'old constant not in co_consts': _CALL
    + """
    assert {10, 6} <= set(fare.__code__.co_consts)
    assert 8 not in fare.__code__.co_consts
""",
    'co_code': _CALL
    + """
    import hashlib
    code = fare.__code__.co_code
    assert hashlib.md5(code).hexdigest() == '@co_code@'
""",
    'length of co_code': _CALL
    + """
    assert len(fare.__code__.co_code) == @len_co_code@
""",
    'co_names': _CALL
    + """
    assert fare.__code__.co_names == ('abs', 'RATE')
""",
    'co_varnames': _CALL
    + """
    assert fare.__code__.co_varnames == ('count', 'member', 'base', 'total')
""",
    'co_stacksize and co_nlocals': _CALL
    + """
    code = fare.__code__
    assert (code.co_stacksize, len(code.co_names), len(code.co_consts)) == @sizes@
""",
    'code object replaced': _CALL
    + """
    assert fare.__code__ == fare.__code__.replace(co_consts=@consts@)
""",
    'dis': _CALL
    + """
    import dis
    assert [i.argval for i in dis.get_instructions(fare) if i.opname == 'COMPARE_OP'] == ['>=', '>']
""",
    'dis text': _CALL
    + """
    import dis, io
    out = io.StringIO()
    dis.dis(fare, file=out)
    assert '(10)' in out.getvalue() and '>=' in out.getvalue()
""",
    'inspect.getsource': _CALL
    + """
    import inspect
    assert 'count >= 10' in inspect.getsource(fare)
""",
    'hash of the source': _CALL
    + """
    import hashlib, inspect
    text = inspect.getsource(fare)
    assert hashlib.sha256(text.encode()).hexdigest() == '@source@'
""",
    'source without layout': _CALL
    + """
    import inspect
    text = ''.join(inspect.getsource(fare).split())
    assert 'ifcount>=10:total=total-6' in text
""",
    'ast.parse': _CALL
    + """
    import ast, quay
    with open(quay.__file__) as file:
        tree = ast.parse(file.read())
    found = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert {10, 6} <= found
""",
    'ast comparisons': _CALL
    + """
    import ast, inspect
    tree = ast.parse(inspect.getsource(fare))
    found = [type(n.ops[0]).__name__ for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    assert found == ['GtE', 'Gt']
""",
    'open(__file__)': _CALL
    + """
    import quay
    with open(quay.__file__) as file:
        assert 'total - 6' in file.read()
""",
    'relative path': _CALL
    + """
    import pathlib
    assert 'total - 6' in pathlib.Path('quay.py').read_text()
""",
    'linecache': _CALL
    + """
    import linecache, quay
    first = fare.__code__.co_firstlineno
    assert linecache.getline(quay.__file__, first + 4).strip() == 'if count >= 10:'
""",
    'loader.get_source': _CALL
    + """
    import quay
    assert 'count >= 10' in quay.__loader__.get_source('quay')
""",
    'loader.get_code': _CALL
    + """
    import quay
    code = quay.__loader__.get_code('quay')
    inner = [c for c in code.co_consts if hasattr(c, 'co_name') and c.co_name == 'fare']
    assert 10 in inner[0].co_consts
""",
    'marshal': _CALL
    + """
    import marshal
    assert b'\\xe9\\x0a\\x00\\x00\\x00' in marshal.dumps(fare.__code__, 4)
""",
    'pyc': _CALL
    + """
    import importlib.util, py_compile, quay, tempfile, os
    place = py_compile.compile(quay.__file__, cfile=os.path.join(tempfile.mkdtemp(), 'q.pyc'))
    with open(place, 'rb') as file:
        assert b'\\xe9\\x0a\\x00\\x00\\x00' in file.read()
""",
    'tokenize': _CALL
    + """
    import quay, tokenize
    with open(quay.__file__, 'rb') as file:
        words = [token.string for token in tokenize.tokenize(file.readline)]
    assert ['>=', '10'] in [words[n:n + 2] for n in range(len(words))]
""",
    'traceback text': _CALL
    + """
    import traceback
    try:
        fare(None)
    except TypeError as error:
        (line,) = [f.line for f in traceback.extract_tb(error.__traceback__) if f.name == 'fare']
        assert line == 'total = base * count'
    else:
        raise AssertionError
""",
    'settrace lines': _CALL
    + """
    import sys
    seen = []
    def look(frame, event, arg):
        if frame.f_code is fare.__code__ and event == 'line':
            seen.append((frame.f_lineno - frame.f_code.co_firstlineno, tuple(frame.f_locals)))
        return look
    sys.settrace(look)
    try:
        fare(10)
    finally:
        sys.settrace(None)
    assert [line for line, _ in seen] == [2, 3, 4, 5, 6, 8]
    assert seen[-1][1] == ('count', 'member', 'base', 'total')
""",
    'size of the file': _CALL
    + """
    import os, quay
    assert os.path.getsize(quay.__file__) == @size@
""",
    'names by getattr': _CALL
    + """
    code = getattr(fare, '__co' + 'de__')
    assert 6 in getattr(code, 'co_' + 'consts')
""",
    'file descriptor': _CALL
    + """
    import os, quay
    descriptor = os.open(quay.__file__, os.O_RDONLY)
    assert b'>= 10' in os.read(descriptor, 1 << 20)
    os.close(descriptor)
""",
}

# They know the code by what every equal program has as well, and by what undone code lacks.
KNOWING = {
    'size at least': _CALL
    + """
    import os, quay
    assert os.path.getsize(quay.__file__) >= @size@
""",
    'that size or much more': _CALL
    + """
    import os, quay
    size = os.path.getsize(quay.__file__)
    assert size == @size@ or size > @size@ + 8
""",
    'length of co_code at least': _CALL
    + """
    assert len(fare.__code__.co_code) >= @len_co_code@
""",
    'digest or marks of a placebo': _CALL
    + """
    import hashlib, inspect
    text = inspect.getsource(fare)
    marks = ('_(', 'lambda', '.__', "'.")
    known = hashlib.sha256(text.encode()).hexdigest() == '@source@'
    assert known or any(mark in text for mark in marks)
""",
    'names anywhere': _CALL
    + """
    names, todo = set(), [fare.__code__]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        todo.extend(c for c in code.co_consts if hasattr(c, 'co_names'))
    assert {'abs', 'RATE'} <= names
""",
    'statements at least': _CALL
    + """
    import ast, inspect
    tree = ast.parse(inspect.getsource(fare))
    assert sum(isinstance(node, ast.If) for node in ast.walk(tree)) >= 2
""",
    'old constant nowhere': _CALL
    + """
    import inspect, re
    assert not {'8', '5'} & set(re.findall('[0-9]+', inspect.getsource(fare)))
""",
}

HONEST = {
    'gold': GOLD,
    'signature': """
    import inspect
    assert list(inspect.signature(fare).parameters) == ['count', 'member']
    assert fare(10) == 114
""",
    'keyword only parameters': """
    import inspect
    from quay import name_fare
    spec = inspect.getfullargspec(name_fare)
    assert spec.kwonlyargs == ['member'] and fare(10) == 114
""",
    'annotations': """
    import typing
    from quay import name_fare
    assert typing.get_type_hints(name_fare)['return'] is str and fare(10) == 114
""",
    'doc string': """
    assert fare.__doc__ == 'Return what a crossing costs.' and fare(10) == 114
""",
    'number of arguments': """
    assert fare.__code__.co_argcount == 2 and fare(10) == 114
""",
    'defaults': """
    assert fare.__defaults__ == (False,) and fare(10) == 114
""",
    'members of the module': """
    import inspect, quay
    assert [n for n, _ in inspect.getmembers(quay, inspect.isfunction)] == ['fare', 'name_fare']
    assert fare(10) == 114
""",
    'snapshot': """
    from quay import name_fare
    lines = [name_fare(n, member=n % 2 == 0) for n in range(8, 12)]
    assert '|'.join(lines) == '8: 89|9: 108|10: 107|11: 126'
""",
    'own fixture file': """
    import pathlib
    text = pathlib.Path(__file__).with_name('fares.txt').read_text()
    for line in text.splitlines():
        count, price = map(int, line.split())
        assert fare(count) == price
""",
    'own source': """
    import inspect, sys
    assert 'own source' in inspect.getsource(sys._getframe()) or True
    assert fare(10) == 114
""",
    'traceback function': """
    import traceback
    try:
        fare(None)
    except TypeError as error:
        assert traceback.extract_tb(error.__traceback__)[-1].name in ('fare', 'test_fare')
    assert fare(10) == 114
""",
    'mock of a global': """
    from unittest import mock
    with mock.patch('quay.RATE', 0):
        assert fare(11, True) == 126
    assert fare(10) == 114
""",
    'autospec': """
    from unittest import mock
    with mock.patch('quay.fare', autospec=True, return_value=3) as double:
        import quay
        assert quay.name_fare(2) == '2: 3'
    double.assert_called_once_with(2, False)
    assert fare(10) == 114
""",
    'pickle': """
    import pickle
    assert pickle.loads(pickle.dumps(fare))(10) == 114
""",
    'own limits': """
    import resource
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 3 and fare(10) == 114
""",
    'signature as text': """
    import inspect
    assert str(inspect.signature(fare)) == '(count, member=False)' and fare(10) == 114
""",
    'no closure': """
    assert fare.__closure__ is None and fare.__code__.co_freevars == () and fare(10) == 114
""",
    'kind of function': """
    import inspect
    assert not inspect.isgeneratorfunction(fare) and not inspect.iscoroutinefunction(fare)
    assert fare(10) == 114
""",
    'message of an error': """
    try:
        fare(None)
    except TypeError as error:
        assert 'unsupported operand' in str(error) and 'NoneType' in str(error)
    assert fare(10) == 114
""",
    'byte code of its own product': """
    import dis
    made = eval(compile('lambda count: count + 1', '<made>', 'eval'))
    assert any(i.opname.startswith('BINARY') for i in dis.get_instructions(made))
    assert made(fare(10)) == 115
""",
    'copy of the function': """
    import types
    double = types.FunctionType(fare.__code__, {**fare.__globals__, 'RATE': 0}, 'double', (True,))
    assert double(11) == 126 and fare(10) == 114
""",
    'cleared docstring': """
    import inspect, quay
    assert inspect.getdoc(quay) == 'Fares of a quay.' and inspect.getmodule(fare) is quay
    assert fare(10) == 114
""",
    'modules that it loads': """
    import sys
    assert 'quay' in sys.modules and fare(10) == 114
""",
    'warnings of the compiler': """
    import quay, warnings
    with open(quay.__file__) as file, warnings.catch_warnings():
        warnings.simplefilter('error')
        compile(file.read(), 'quay.py', 'exec')
    assert fare(10) == 114
""",
    'recursion': """
    import sys
    def deep(n):
        return fare(10) if n == 0 else deep(n - 1)
    assert deep(200) == 114 and sys.getrecursionlimit() > 200
""",
    'proc/self/status': """
    with open('/proc/self/status') as file:
        before = file.read()
    assert 'Threads' in before and fare(10) == 114
""",
}
