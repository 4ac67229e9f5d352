from __future__ import annotations

from itertools import pairwise

import pytest

from coevo.languages.declarations import Member, SourceFile
from coevo.languages.python.reading.syntax import MOST_BYTES, parse


def read(source: str) -> SourceFile:
    return parse(source.encode(), 'src/pkg/mod.py')


def member(source: str, name: str) -> Member:
    file = parse(source.encode())
    return [m for type_ in file.types for m in type_.members if m.name == name][-1]


def test_module_type_holds_functions_and_nests_its_classes() -> None:
    file = read('X = 1\ndef f(): pass\nclass A(B, m.C[int]):\n  y: int = 2\n  class I: pass\n')
    module, outer, inner = file.types
    assert (module.name, module.kind, module.package) == ('pkg.mod', 'module', 'pkg')
    assert [(m.kind, m.name) for m in module.members] == [('field', 'X'), ('method', 'f')]
    assert (outer.name, outer.canonical_name, outer.enclosing_name) == (
        'pkg.mod$A',
        'pkg.mod.A',
        'pkg.mod',
    )
    assert (outer.superclass, outer.interfaces) == ('B', ('C',))
    assert [(m.kind, m.name) for m in outer.members] == [('field', 'y')]
    assert (inner.name, inner.around) == ('pkg.mod$A$I', ('mod', 'A'))


def test_module_without_a_path_has_no_name() -> None:
    assert [t.name for t in parse(b'class A:\n  class B: pass\n').types] == ['', '$A', '$A$B']


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('def f():\n    return 1\n', 'def f():  # why\n  # so\n\n  return 1\n'),
        ('def f():\n    return 1\n', 'def f():\n    """Says."""\n    return 1\n'),
        ('def f():\n    return 1\n', 'def f(): return (1)\n'),
        ('def f(a, b):\n    return a\n', 'def f(\n    a,\n    b,\n):\n    return a\n'),
        ('x = "a"\n', "x = 'a'\n"),
        ('x = "it\'s"\n', "x = 'it\\'s'\n"),
        ("x = u'a'\n", 'x = "a"\n'),
        ('x = "ab"\n', 'x = ("a"\n  "b")\n'),
        ('x = f"a{b}c"\n', "x = f'a{b}c'\n"),
        ('x = "\\x1B"\n', 'x = "\\x1b"\n'),
        ('x = lambda: a + b\n', 'x = lambda: (a + b)\n'),
        ('x = 0XAb\n', 'x = 0xaB\n'),
        ('x = 10L\n', 'x = 10l\n'),
        ('if a: b(); c()\n', 'if (a):\n    b()\n    c()\n'),
        ('for x in (1, 2): f()\n', 'for x in 1, 2:\n  f()\n'),
        ('class A(): pass\n', 'class A:\n    pass\n'),
        ('x = a + \\\n  b\n', 'x = a + b\n'),
        ('with open(a) as f, open(b): g()\n', 'with (\n  open(a) as f,\n  open(b),\n): g()\n'),
        ('import os\nimport sys\nf()\n', 'import sys\nimport os\nf()\n'),
        ('from a import b, c\n', 'from a import (\n  c,\n  b,\n)\n'),
        ('from a import b, c\n', 'from a import b\nfrom a import c\n'),
        ('f()\r\ng()\r\n', 'f()\ng()\n'),
        ('\ufefff()\n', 'f()\n'),
    ],
)
def test_layout_does_not_change_the_hash(one: str, other: str) -> None:
    assert read(one).hash == read(other).hash


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('if a:\n    b()\n    c()\n', 'if a:\n    b()\nc()\n'),
        ('if a:\n  if b:\n    c()\n  else: d()\n', 'if a:\n  if b:\n    c()\nelse: d()\n'),
        ('x = a\n(b).c()\n', 'x = a(b).c()\n'),
        ('x = (1,)\n', 'x = (1)\n'),
        ('x = a[1,]\n', 'x = a[1]\n'),
        ('x = (a + b) * c\n', 'x = a + b * c\n'),
        ('x = "a" "b"\n', 'x = "a", "b"\n'),
        ('x = "\\\\x1B"\n', 'x = "\\\\x1b"\n'),
        ('x = b"a"\n', 'x = "a"\n'),
        ('x = r"\\d"\n', 'x = "\\d"\n'),
        ('x = f"a{b}"\n', 'x = "a{b}"\n'),
        ('def f():\n    x = "Says."\n', 'def f():\n    """Says."""\n'),
        ('import a as b\n', 'import a\n'),
        ('import a.b\n', 'from a import b\n'),
        ('@p(1)\ndef f(): g()\n', '@p(2)\ndef f(): g()\n'),
        ('async def f(): g()\n', 'def f(): g()\n'),
    ],
)
def test_different_meaning_changes_the_hash(one: str, other: str) -> None:
    assert read(one).hash != read(other).hash


def test_return_annotation_none_of_a_test_does_not_change_its_hash() -> None:
    body = '    f = lambda: "->"\n    def g(): return None\n'
    plain = member(f'@a(b=1)\ndef test_a(x):\n{body}', 'test_a')
    hinted = member(f'@a(b=1)\ndef test_a(x) -> None:\n{body}', 'test_a')
    assert (plain.hash, plain.bare_hash) == (hinted.hash, hinted.bare_hash)
    assert plain.tokens == hinted.tokens


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('def test_a(): pass\n', 'def test_a() -> int: pass\n'),
        ('def test_a(x): pass\n', 'def test_a(x: None) -> None: pass\n'),
        ('def test_a():\n  def g(): pass\n', 'def test_a():\n  def g() -> None: pass\n'),
        ('def f(): pass\n', 'def f() -> None: pass\n'),
    ],
)
def test_other_annotations_change_the_hash(one: str, other: str) -> None:
    (found,), (others,) = (read(text).types[0].members for text in (one, other))
    assert found.hash != others.hash


def test_last_method_of_a_class_hashes_like_any_other() -> None:
    """What closes the class must not belong to it."""
    alone = member('class A:\n    def f(self):\n        g()\n', 'f')
    first = member('class A:\n    def f(self):\n        g()\n    def h(self): pass\n', 'f')
    assert (alone.hash, alone.body_hash) == (first.hash, first.body_hash)


def test_bare_hash_ignores_the_names_of_the_function_and_its_class() -> None:
    one = member('class A:\n    def test_a(self): A().test_a()\n', 'test_a')
    other = member('class B:\n    def test_b(self): B().test_a()\n', 'test_b')
    assert one.hash != other.hash
    assert one.bare_hash == other.bare_hash


def test_decorators_and_comments_belong_to_a_function() -> None:
    source = '# far\n\n# near\n@a.b.mark(1)\n@c\nasync def f(x, y: int = 2) -> str:\n    return x\n'
    found = member(source, 'f')
    assert source[found.full_start_byte :].startswith('# near')
    assert (found.start_line, found.end_line) == (4, 7)
    assert found.annotations == ('mark', 'c')
    assert found.modifiers == {'async'}
    assert found.declaration == 'async def f(x, y: int = 2) -> str'
    assert found.parameters == ()


def test_calls_include_parameters_passed_functions_and_properties() -> None:
    """A fixture by its parameter, a function handed over, a property; no local variable."""
    source = 'def f(client, n=1, *a):\n    r = make(key=helper)\n    return r, obj.prop, n\n'
    found = member(source, 'f')
    assert found.calls == {'client', 'make', 'helper', 'obj', 'prop'}
    assert found.names == {'client', 'n', 'a', 'r', 'make', 'key', 'helper', 'obj', 'prop', 'f'}


def test_import_alias_is_resolved_to_the_imported_name() -> None:
    found = member('import a.b as x\nfrom c import d as e\ndef f(): x.g(e())\n', 'f')
    assert {'b', 'd', 'g'} <= found.calls


def test_conditional_functions_are_members_and_earlier_namesakes_are_marked() -> None:
    file = read('if A:\n    def f(): a()\n    K = 1\nelse:\n    def f(): b()\n')
    found = [(m.kind, m.name, m.parameters) for m in file.types[0].members]
    assert found == [('method', 'f', ('1',)), ('field', 'K', ()), ('method', 'f', ())]


def test_setter_is_distinguished_from_its_getter() -> None:
    source = 'class A:\n @property\n def p(self): x\n @p.setter\n def p(self, v): y\n'
    assert [m.parameters for m in read(source).types[1].members] == [(), ('setter',)]


def test_constructor_has_the_name_of_its_class() -> None:
    found = read('class A:\n    def __init__(self): pass\ndef __init__(): pass\n')
    assert [(m.kind, m.name) for t in found.types for m in t.members] == [
        ('method', '__init__'),
        ('constructor', 'A'),
    ]


def test_each_assigned_variable_name_is_a_field() -> None:
    source = 'a, (b, *c) = d = f()\ntry:\n    import j\nexcept E:\n    j = k = None\nx.y = 1\n'
    found = [(m.kind, m.name) for m in read(source).types[0].members]
    assert found == [
        *[('field', name) for name in 'abcdjk'],
        ('initializer', '<init>'),
    ]


def test_import_forms_are_read_with_their_text_and_name() -> None:
    source = 'import os.path as p\nfrom ..a import B as b, c\nfrom . import d\nfrom e import *\n'
    found = [(one.text, one.name, one.static) for one in read(source).imports]
    assert found == [
        ('os.path', 'path', False),
        ('..a.B', 'B', False),
        ('..a.c', 'c', True),
        ('.d', 'd', True),
        ('e', '*', True),
    ]


def test_nested_imports_are_read() -> None:
    source = 'def f():\n    from a import b\ntry:\n    import c\nexcept E: pass\n'
    assert [one.text for one in read(source).imports] == ['a.b', 'c']


def test_too_large_source_is_unreadable() -> None:
    assert parse(b'x = 1\n' * (MOST_BYTES // 6 + 1)).unreadable
    assert parse(b'if a:\n' + b'\n'.join(b' ' * n + b'if a:' for n in range(1, 99))).has_error


def test_members_are_read_even_if_the_parser_makes_no_module() -> None:
    """As one into which a merge has put two texts of the same place."""
    file = parse(b'def known():\n    return 1\n\n\nx=e if p if p if e(h if g if not l')
    assert file.has_error
    assert [member.name for type_ in file.types for member in type_.members] == ['known']


def test_functions_after_a_syntax_error_are_read() -> None:
    file = read('def f(:\n    pass\n\ndef g():\n    return 1\n')
    assert file.has_error
    assert 'g' in {m.name for m in file.types[0].members}


def test_spans_of_members_do_not_overlap() -> None:
    source = 'x = 1\n\n\n@d\ndef f():\n    pass\n# c\nclass A:\n    pass\n'
    file = read(source)
    spans = sorted((m.start_byte, m.end_byte) for m in file.types[0].members)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert file.types[0].end_byte == len(source)
