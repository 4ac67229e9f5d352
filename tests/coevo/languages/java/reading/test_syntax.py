from __future__ import annotations

import pytest

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.java.reading.syntax import MOST_BYTES, MOST_NESTED, parse
from coevo.languages.spans import MOST_OPEN


def members(source: str) -> dict[str, Member]:
    found = [m for t in parse(source.encode()).types for m in t.members]
    assert len({m.name for m in found}) == len(found), 'names repeat: look at the types instead'
    return {m.name: m for m in found}


def types(source: str) -> dict[str, DeclaredType]:
    return {t.name: t for t in parse(source.encode()).types}


def only(source: str) -> DeclaredType:
    (found,) = parse(source.encode()).types
    return found


def test_package_and_imports_are_read() -> None:
    source = 'package a.b;\nimport java.util.*;\nimport static c.D.e;\nimport static c.D.*;'
    found = parse(source.encode())
    assert found.package == 'a.b'
    assert [(i.text, i.name, i.static) for i in found.imports] == [
        ('java.util', '*', False),
        ('c.D.e', 'e', True),
        ('c.D', '*', True),
    ]
    first = found.imports[0]
    assert source[first.start_byte : first.end_byte] == 'import java.util.*;'


def test_types_have_binary_names_and_precede_their_nested_types() -> None:
    source = (
        'package p; class A { interface B { enum C { X } } record D(int x) {} } @interface E {}'
    )
    found = parse(source.encode()).types
    assert [(t.name, t.simple, t.kind) for t in found] == [
        ('p.A', 'A', 'class'),
        ('p.A$B', 'B', 'interface'),
        ('p.A$B$C', 'C', 'enum'),
        ('p.A$D', 'D', 'record'),
        ('p.E', 'E', 'annotation'),
    ]


def test_supertypes_are_simple_names() -> None:
    found = only('abstract class A<T> extends b.B<T> implements C<T>, d.D {}')
    assert (found.superclass, found.interfaces, found.abstract) == ('B', ('C', 'D'), True)
    assert only('interface I extends J, K<String> {}').interfaces == ('J', 'K')


def test_sealed_types_and_type_annotations_are_read() -> None:
    found = types('@Tag("x") public sealed interface S permits A {} final class A implements S {}')
    assert found['S'].annotations == ('Tag',)
    assert 'sealed' in found['S'].modifiers
    assert found['A'].declaration == 'final class A implements S'


def test_parameters_are_erased() -> None:
    source = """class A<T extends Comparable<T>, U> {
      <V extends java.util.List<U>> void m(final T t, U u, V v, java.util.Map.Entry<T, U> e,
          int[][] a, String b[], T[] c, @NonNull String... d) {}
    }"""
    assert members(source)['m'].parameters == (
        'Comparable', 'Object', 'List', 'Entry', 'int[][]', 'String[]', 'Comparable[]', 'String[]',
    )  # fmt: skip


def test_type_variable_of_a_method_hides_the_one_of_the_class() -> None:
    assert members('class A<T> { <T extends Number> void m(T t) {} }')['m'].parameters == (
        'Number',
    )


def test_receiver_parameter_is_not_listed_as_a_parameter() -> None:
    assert members('class A { void m(A this, int x) {} }')['m'].parameters == ('int',)


def test_compact_constructor_has_the_record_components_as_parameters() -> None:
    found = only('record P(int x, String... rest) { P { x = 1; } static int count; }')
    constructor = found.members[0]
    assert (constructor.kind, constructor.name) == ('constructor', 'P')
    assert constructor.parameters == ('int', 'String[]')
    assert [m.kind for m in found.members] == ['constructor', 'field']


def test_members_of_all_kinds_are_read() -> None:
    source = """class A {
      int a = 1, b[];
      static { run(); }
      { walk(); }
      A() {}
      void m() {}
    }"""
    assert [(m.kind, m.name) for m in only(source).members] == [
        ('field', 'a'),
        ('field', 'b'),
        ('initializer', '<clinit>'),
        ('initializer', '<init>'),
        ('constructor', 'A'),
        ('method', 'm'),
    ]


def test_members_of_enums_interfaces_and_annotations_are_read() -> None:
    source = """enum E { X(1) { void hidden() {} }, Y; int f; void m() {} }
    interface I { int C = 1; default void d() {} }
    @interface N { int value() default 1; }"""
    assert sorted(members(source)) == ['C', 'd', 'f', 'm', 'value']


def test_members_of_local_classes_belong_to_the_enclosing_body() -> None:
    source = """class A { void m() {
      class Local { void inner() {} }
      Runnable r = new Runnable() { public void run() { call(); } };
    } }"""
    assert list(types(source)) == ['A']
    found = members(source)
    assert list(found) == ['m']
    assert found['m'].calls == {'Runnable', 'call'}


def test_declaration_is_one_line_without_annotations_comments_and_throws() -> None:
    source = """class A {
      @Override /* why */ public <T> java.util.List<T> m(final int a,
          @NonNull String... b) throws E { return null; }
      @Deprecated private static final int X = 1;
    }"""
    found = members(source)
    assert found['m'].declaration == 'public <T> java.util.List<T> m(int a, String... b)'
    assert found['X'].declaration == 'private static final int X'


def test_full_span_of_a_member_includes_comments_directly_above_it() -> None:
    source = 'class A {\n  int f; // not its comment\n\n  // far\n\n  // near\n  /** Doc. */\n'
    source += '  @Test\n  void m() {\n  }\n}\n'
    found = members(source)['m']
    assert found.source == '@Test\n  void m() {\n  }'
    assert source[found.start_byte : found.end_byte] == found.source
    assert (found.start_line, found.end_line) == (8, 10)
    assert source[found.full_start_byte :].startswith('// near\n  /** Doc. */')


def test_a_trailing_comment_belongs_to_the_member_before_it() -> None:
    source = 'class A {\n  int f; // about f\n  int g;\n}'
    found = members(source)['g']
    assert found.full_start_byte == found.start_byte


def test_spans_of_members_are_byte_offsets() -> None:
    source = 'class A { String s = "é"; void m() {} }'
    found = members(source)['m']
    assert source.encode()[found.start_byte : found.end_byte] == b'void m() {}'


def test_calls_types_names_and_strings_of_a_member_are_collected() -> None:
    source = """class A { @Test void m() {
      Foo<Bar> foo = new a.Foo<>(1);
      foo.with("one").then(Baz::make, Qux::new);
      Helper.VALUE.run();
    } }"""
    found = members(source)['m']
    assert found.calls == {'Foo', 'with', 'then', 'make', 'Qux', 'run'}
    assert found.types >= {'Foo', 'Bar'}
    assert {'Test', 'Helper', 'VALUE', 'Baz', 'foo', 'Bar'} <= found.names
    assert found.strings == {'one'}


@pytest.mark.parametrize(
    'other',
    [
        'class A{@Test void m(){List<List<String>>x=f("a  b");}}',
        '/** D */ class A { @Test /* c */ void m() { // e\n List<List<String> > x = f("a  b"); } }',
    ],
)
def test_hashes_ignore_comments_and_formatting(other: str) -> None:
    source = 'class A { @Test void m() { List<List<String>> x = f("a  b"); } }'
    assert members(other)['m'].hash == members(source)['m'].hash
    assert parse(other.encode()).hash == parse(source.encode()).hash


@pytest.mark.parametrize(
    'other',
    [
        'class A { @Test void m() { f("a b"); } }',
        'class A { void m() { f("a  b"); } }',
        'class A { @Test void m() { g("a  b"); } }',
        "class A { @Test void m() { f('a'); } }",
    ],
)
def test_hashes_change_with_every_token(other: str) -> None:
    assert (
        members(other)['m'].hash != members('class A { @Test void m() { f("a  b"); } }')['m'].hash
    )


def test_hash_ignores_the_indentation_of_a_text_block() -> None:
    one = 'class A {\n  String m() {\n    return """\n      a\n        b\n      """;\n  }\n}'
    two = one.replace('\n      ', '\n          ')
    other = one.replace('        b', '         b')
    assert members(one)['m'].strings == {'a\n  b\n'}
    assert members(one)['m'].hash == members(two)['m'].hash != members(other)['m'].hash


def test_bare_hash_ignores_the_names_of_the_member_and_its_class() -> None:
    one = members('class A { void m() { new A(); m(); } }')['m']
    two = members('class B { void n() { new B(); n(); } }')['n']
    three = members('class B { void n() { new A(); n(); } }')['n']
    assert one.hash != two.hash
    assert one.bare_hash == two.bare_hash != three.bare_hash


def test_bare_hash_keeps_a_call_of_the_same_name_on_another_object() -> None:
    one = members('class A { void size() { list.size(); } }')['size']
    two = members('class A { void count() { list.size(); } }')['count']
    assert one.bare_hash == two.bare_hash


def test_header_hash_covers_everything_but_methods_and_nested_types() -> None:
    base = only('class A { int f = 1; void m() {} }')
    assert only('class A { int f = 1; int n() { return 1; } }').header_hash == base.header_hash
    assert only('class A { int f = 2; void m() {} }').header_hash != base.header_hash
    assert only('@X class A { int f = 1; void m() {} }').header_hash != base.header_hash
    nested = types('class A { int f = 1; class B { int g; } }')
    assert nested['A'].header_hash == base.header_hash


def test_header_hash_covers_enum_constants_and_record_components() -> None:
    assert only('enum E { X, Y }').header_hash != only('enum E { X }').header_hash
    assert only('record R(int x) {}').header_hash != only('record R(long x) {}').header_hash


def test_shape_hash_ignores_fields_and_the_name_of_the_type() -> None:
    base = only('class A extends B { int f; }')
    assert only('class C extends B { long g; { run(); } }').shape_hash == base.shape_hash
    assert only('class A extends D { int f; }').shape_hash != base.shape_hash


def test_file_hash_ignores_the_order_of_imports() -> None:
    one, two, three = (
        parse(text)
        for text in (
            b'import a.A; import b.B; class C {}',
            b'import b.B;\nimport a.A;\nclass C {}',
            b'import b.B; class C {}',
        )
    )
    assert one.hash == two.hash != three.hash


def test_new_syntax_parses() -> None:
    source = '''sealed interface S permits P, Q {}
    record P(int x) implements S {}
    record Q(String s, S inner) implements S {}
    class A { String m(Object o) {
      var text = """
        block""";
      if (o instanceof String s && !s.isEmpty()) return s;
      return switch (o) {
        case P(int x) when x > 1 -> "p";
        case Q(var s, P(var x)) -> { yield s; }
        case null, default -> text;
      };
    } }'''
    found = parse(source.encode())
    assert not found.has_error
    assert [t.simple for t in found.types] == ['S', 'P', 'Q', 'A']


def test_broken_file_yields_the_members_that_parse() -> None:
    found = parse(b'class A { void x( { } void y() { a(); } ')
    assert found.has_error
    assert [m.name for m in found.types[0].members] == ['x', 'y']
    assert parse(b'').types == ()
    assert parse(b'\xff\xfe\x00').types == ()


def test_parse_is_cached_by_content() -> None:
    assert parse(b'class  Kept {}') is parse(b'class  Kept' + b' {}')


@pytest.mark.slow
@pytest.mark.parametrize(
    'source',
    [
        b'class A {' * 1000 + b'}' * 1000,
        b'class A { int ' + b','.join(b'b%d' % n for n in range(20_000)) + b'; }',
        b'//' + b'x' * MOST_BYTES,
        b'(' * 200_000,
        b'class A { Object a = ' + b'(' * 10_000 + b'1' + b')' * 10_000 + b'; }',
        b'class A { Object a = ' + b'new B() { Object a = ' * 300 + b'1' + b'; }' * 300 + b'; }',
    ],
    ids=['nested', 'names', 'long', 'open', 'brackets', 'anonymous'],
)
def test_source_beyond_the_size_limits_is_unreadable(source: bytes) -> None:
    """By counts of its own: nothing here depends on how fast the machine is, or how deep its stack."""
    file = parse(source)
    assert file.unreadable
    assert (file.types, file.package, file.names) == ((), '', frozenset())
    assert file.hash != parse(source + b' ').hash


@pytest.mark.parametrize(
    'source',
    [
        b'(' * MOST_OPEN,
        b'class A {' * MOST_NESTED + b'}' * MOST_NESTED,
        b'class A { String a = "x"' + b' + "y"' * 3000 + b'; }',
        b'class A { int ' + b', '.join(b'b%d' % n for n in range(500)) + b'; }',
    ],
    ids=['brackets', 'nested', 'sum', 'names'],
)
def test_odd_source_within_the_size_limits_is_read(source: bytes) -> None:
    assert not parse(source).unreadable
