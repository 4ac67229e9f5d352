"""Start files as whole texts: what goes with a target, what comes with it, what stays."""

from __future__ import annotations

import re

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery import make_start_file
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod

SIBLING = '    @Test public void sibling() { assertTrue(Shop.open()); }\n'
HEAD = 'package p;\n\nimport org.junit.Test;\nimport static org.junit.Assert.assertTrue;\n'


def method(name: str, owner: str = 'p.ShopTest', *parameters: str) -> TestMethod:
    return TestMethod(
        module='.',
        test_file='src/test/java/p/ShopTest.java',
        test_class=owner,
        test_method=name,
        parameters=parameters,
    )


def java(body: str, *, imports: str = '', head: str = HEAD) -> str:
    return f'{head}{imports}\npublic class ShopTest {{\n{body}}}\n'


def generation(
    new: str, *names: str, old: str | None = '', used: frozenset[str] = frozenset()
) -> str:
    targets = [StartTarget(method=method(name)) for name in names]
    before = None if old is None else (old or java(SIBLING)).encode()
    start = make_start_file(new.encode(), before, targets, used_elsewhere=used)
    assert start is not None
    assert not parse(start).has_error
    return start.decode()


def update(old: str, new: str, *names: str, **renamed: str) -> str:
    pairs = {name: name for name in names} | renamed
    targets = [
        StartTarget(
            method=method(now), original=OriginalTest(method=method(was), source=old.encode())
        )
        for now, was in pairs.items()
    ]
    start = make_start_file(new.encode(), old.encode(), targets)
    assert start is not None
    return start.decode()


def test_removed_target_takes_its_comments_and_one_blank_line_along() -> None:
    new = java(
        f'{SIBLING}\n'
        '    /** What it sells. */\n'
        '    // since 2\n'
        '    @Test public void sells() { assertTrue(Shop.sells()); } // at last\n'
        '\n'
        '    @Test public void closes() { assertTrue(Shop.closed()); }\n'
    )
    assert generation(new, 'sells') == java(
        f'{SIBLING}\n    @Test public void closes() {{ assertTrue(Shop.closed()); }}\n'
    )
    assert generation(new, 'sells', 'closes') == java(SIBLING)


def test_removed_target_takes_members_and_imports_that_only_it_uses_along() -> None:
    new = java(
        '    private static final int LIMIT = 3;\n'
        '    private static final int SHARED = 4;\n'
        '\n'
        f'{SIBLING}'
        '    @Test public void shares() { assertTrue(Shop.open(SHARED)); }\n'
        '\n'
        '    @Test public void sells() { one(new Basket()); }\n'
        '\n'
        '    private void one(Basket basket) { two(basket, LIMIT + SHARED); }\n'
        '\n'
        '    private void two(Basket basket, int n) { if (n > 0) one(basket); }\n'
        '\n'
        '    private static class Basket { List<String> goods = new ArrayList<>(); }\n',
        imports='import java.util.ArrayList;\nimport java.util.List;\n',
    )
    assert generation(new, 'sells') == java(
        '    private static final int SHARED = 4;\n'
        '\n'
        f'{SIBLING}'
        '    @Test public void shares() { assertTrue(Shop.open(SHARED)); }\n'
    )


def test_members_used_elsewhere_or_run_by_the_framework_stay() -> None:
    new = java(
        '    private Shop shop;\n'
        '    @Before public void open() { shop = new Shop(LIMIT); }\n'
        '    static final int LIMIT = 3;\n'
        '    void help() { }\n'
        '    private int unused;\n'
        f'{SIBLING}'
        '    @Test public void sells() { help(); shop.sell(LIMIT); }\n'
    )
    kept = new.replace('    @Test public void sells() { help(); shop.sell(LIMIT); }\n', '')
    assert generation(new, 'sells', used=frozenset({'help'})) == kept
    assert generation(new, 'sells') == kept.replace('    void help() { }\n', '')


def test_unused_helper_stays_with_the_members_that_it_uses() -> None:
    rest = (
        '    private Shop another(int n) { return new Shop(n); }\n'
        '    private Shop forgotten() { return another(1); }\n'
        f'{SIBLING}'
    )
    new = java(f'{rest}    @Test public void sells() {{ another(2).sell(); }}\n')
    assert generation(new, 'sells') == java(rest)


def test_rule_and_method_source_are_removed_with_their_target() -> None:
    new = java(
        '    @Rule public TemporaryFolder folder = new TemporaryFolder();\n'
        f'{SIBLING}'
        '    @ParameterizedTest @MethodSource("numbers") public void sells(int n) { folder.root(n); }\n'
        '    static Stream<Integer> numbers() { return Stream.of(1); }\n',
        imports='import java.util.stream.Stream;\nimport org.junit.Rule;\n',
    )
    start = make_start_file(
        new.encode(),
        java(SIBLING).encode(),
        [StartTarget(method=method('sells', 'p.ShopTest', 'int'))],
    )
    assert start is not None
    assert start.decode() == java(SIBLING)


@pytest.mark.parametrize(
    ('annotation', 'arguments'),
    [
        ('MethodSource', 'static Stream<Integer> sells() { return Stream.of(1); }'),
        ('FieldSource', 'static final Stream<Integer> sells = Stream.of(1);'),
    ],
)
def test_arguments_that_are_named_after_the_target_are_removed_with_it(
    annotation: str, arguments: str
) -> None:
    new = java(
        f'{SIBLING}'
        f'    @ParameterizedTest @{annotation} public void sells(int n) {{ Shop.sell(n); }}\n'
        f'    {arguments}\n',
        imports='import java.util.stream.Stream;\n',
    )
    start = make_start_file(
        new.encode(),
        java(SIBLING).encode(),
        [StartTarget(method=method('sells', 'p.ShopTest', 'int'))],
    )
    assert start is not None
    assert start.decode() == java(SIBLING)


def test_field_declaration_of_two_names_is_removed_only_as_a_whole() -> None:
    new = java(
        '    private int a = 1, b = 2;\n'
        '    @Test public void first() { Shop.sell(a); }\n'
        '    @Test public void second() { Shop.sell(b); }\n'
    )
    assert 'private int a = 1, b = 2;' in generation(new, 'first', old=java(''))
    both = generation(new + '// end\n', 'first', 'second', old=java(''))
    assert both == java('', head=HEAD.replace('import org.junit.Test;\n', '')) + '// end\n'


def test_new_file_of_only_targets_is_absent_from_the_start_state() -> None:
    new = java('    private int n;\n' + SIBLING)
    assert make_start_file(new.encode(), None, [StartTarget(method=method('sibling'))]) is None


def test_new_file_is_absent_even_if_it_holds_other_tests() -> None:
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.sell(); }}\n')
    assert make_start_file(new.encode(), None, [StartTarget(method=method('sells'))]) is None


def test_junit_3_tests_stay_though_the_base_class_is_unknown() -> None:
    new = (
        'class ShopTest extends Base {\n'
        '    public void testA() { a(); }\n'
        '    public void testB() { b(); }\n'
        '}\n'
    )
    targets = [StartTarget(method=method('testA', 'ShopTest'))]
    assert (
        make_start_file(new.encode(), b'class ShopTest extends Base { }', targets)
        == new.replace('    public void testA() { a(); }\n', '').encode()
    )


def test_new_nested_class_of_only_targets_is_removed_as_a_whole() -> None:
    nested = (
        '\n'
        '    @Nested class Late {\n'
        '        private int hour = 23;\n'
        '        @Test void sells() { Shop.sell(hour); }\n'
        '    }\n'
    )
    targets = [StartTarget(method=method('sells', 'p.ShopTest$Late'))]
    new, old = java(SIBLING + nested), java(SIBLING)
    assert make_start_file(new.encode(), old.encode(), targets) == old.encode()
    with_other = new.replace(
        '        @Test void sells', '        @Test void other() { }\n        @Test void sells'
    )
    start = make_start_file(with_other.encode(), old.encode(), targets)
    assert start is not None
    assert '@Test void other() { }' in start.decode()
    assert 'sells' not in start.decode()


def test_reverted_target_restores_members_that_the_new_file_lacks() -> None:
    old = java(
        '    private static final int LIMIT = 3;\n'
        f'{SIBLING}\n'
        '    /** Sells from a list. */\n'
        '    @Test public void sells() { sell(new Basket(), LIMIT); }\n'
        '\n'
        '    private void sell(Basket basket, int n) { Shop.sell(basket.goods, n); }\n'
        '\n'
        '    private static class Basket { List<String> goods = new ArrayList<>(); }\n',
        imports='import java.util.ArrayList;\nimport java.util.List;\n',
    )
    new = java(
        f'{SIBLING}\n'
        '    @Test public void sells() { Set<String> goods = set(); Shop.sell(goods); }\n'
        '\n'
        '    private Set<String> set() { return new HashSet<>(); }\n',
        imports='import java.util.HashSet;\nimport java.util.Set;\n',
    )
    assert update(old, new, 'sells') == old


def test_shared_helper_is_reverted_only_if_only_targets_use_it() -> None:
    old = java(
        '    @Test public void a() { help(1); }\n'
        '    @Test public void b() { twice(1); }\n'
        '    private void help(int n) { Shop.old(n); }\n'
        '    private void twice(int n) { Shop.old(n); }\n'
        '    @Test public void c() { twice(2); }\n'
    )
    new = old.replace('(1)', '(10)').replace('Shop.old', 'Shop.fresh')
    start = update(old, new, 'a', 'b')
    assert 'help(int n) { Shop.old(n); }' in start
    assert 'twice(int n) { Shop.fresh(n); }' in start
    assert re.findall(r'\((1|10)\)', start) == ['1', '1']


def test_import_is_reverted_only_if_only_targets_use_it() -> None:
    old = java(
        f'{SIBLING}    @Test public void sells() {{ Basket.old(); Till.old(); }}\n',
        imports='import a.Basket;\nimport a.Till;\n',
    )
    new = java(
        f'{SIBLING}    @Test public void sells() {{ Basket.fresh(); }}\n'
        '    @Test public void other() { Till.fresh(); }\n',
        imports='import b.Basket;\nimport b.Till;\n',
    )
    start = update(old, new, 'sells')
    assert 'import a.Basket;\nimport b.Till;\n' in start
    assert 'b.Basket' not in start


def test_new_import_is_kept_if_the_reverted_code_uses_its_name() -> None:
    old = 'package q;\n\nclass ShopTest {\n    @Test void sells() { Basket.old(); }\n}\n'
    new = (
        'package p;\n\nimport q.Basket;\n\n'
        'class ShopTest {\n    @Test void sells() { Basket.fresh(); }\n}\n'
    )
    target = StartTarget(
        method=method('sells'),
        original=OriginalTest(method=method('sells', 'q.ShopTest'), source=old.encode()),
    )
    assert make_start_file(new.encode(), None, [target]) == new.replace('fresh', 'old').encode()


def test_wildcard_import_is_restored_only_for_an_unresolved_name() -> None:
    old = java(
        f'{SIBLING}    @Test public void sells() {{ Till.old(); }}\n', imports='import a.*;\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert update(old, new, 'sells') == old
    known = old.replace('Till.old()', 'Shop.open()')
    assert 'import a.*' not in update(known, new, 'sells')


def test_fixture_is_restored_with_the_field_that_it_sets() -> None:
    old = java(
        '    private Till till;\n'
        '\n'
        '    @Before public void setUp() { till = new Till(); }\n'
        '\n'
        '    @Test public void sells() { till.old(); }\n'
    )
    new = java('    @Test public void sells() { Shop.fresh(); }\n')
    assert update(old, new, 'sells') == old


def test_local_variable_does_not_restore_a_field_of_the_same_name() -> None:
    old = java(
        '    private Till till = new Till(0);\n'
        f'{SIBLING}'
        '    @Test public void sells() { Till till = new Till(1); till.old(); }\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert 'Till(0)' not in update(old, new, 'sells')


def test_renamed_target_has_its_old_name_in_the_start_state() -> None:
    old = java(f'{SIBLING}    @Test public void sold() {{ Shop.old(); }}\n')
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert update(old, new, sells='sold') == old


def test_member_lost_by_a_helper_class_is_restored_in_that_class() -> None:
    old = java(
        '    @Test public void sells() { new Stub().old(); }\n'
        '    @Test public void other() { new Stub().both(); }\n'
        '    static class Stub {\n'
        '        void both() { }\n'
        '        void old() { }\n'
        '    }\n'
    )
    new = java(
        '    @Test public void sells() { new Stub().both(); }\n'
        '    @Test public void other() { new Stub().both(); }\n'
        '    static class Stub {\n'
        '        void both() { }\n'
        '    }\n'
    )
    assert update(old, new, 'sells') == old


def test_line_endings_and_a_missing_last_newline_are_kept() -> None:
    old = java(
        f'{SIBLING}    @Test public void sells() {{\n        help();\n    }}\n'
        '\n    private void help() { }\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{\n        Shop.fresh();\n    }}\n')
    windows = new.replace('\n', '\r\n').removesuffix('\r\n')
    assert update(old, windows, 'sells') == old.replace('\n', '\r\n').removesuffix('\r\n')


def test_a_file_that_is_not_utf_8_keeps_its_bytes() -> None:
    new = java(f'    // caf\u00e9\n{SIBLING}    @Test public void sells() {{ Shop.sell(); }}\n')
    start = make_start_file(new.encode('latin-1'), b'', [StartTarget(method=method('sells'))])
    assert start == java(f'    // caf\u00e9\n{SIBLING}').encode('latin-1')


def test_old_name_taken_by_another_new_method_gives_no_start_state() -> None:
    old = java('    @Test public void a() { Shop.old(); }\n')
    new = java('    @Test public void b() { Shop.old(1); }\n    @Test public void a() { }\n')
    with pytest.raises(StartStateInvalid, match='declare the method a twice'):
        update(old, new, b='a')


def test_missing_target_gives_no_start_state() -> None:
    with pytest.raises(StartStateInvalid, match=r'ShopTest#gone is not in the file at new'):
        generation(java(SIBLING), 'gone')


DOLLARS = """\
    @Test public void sibling() { assertTrue(Shop.open()); }
    public static class $Outer {
        private static class $Inner { int value = 1; }
        @Test public void deep() { assertTrue(new $Inner().value == %s); }
    }
    public static class A$B { static int c() { return 1; } }
"""


def test_target_in_a_class_named_with_a_dollar_sign_is_reverted() -> None:
    """A public repository's class has `$Outer` and in it `$Inner`: each run ended there."""
    old, new = java(DOLLARS % '1'), java(DOLLARS % '2')
    target = StartTarget(
        method=method('deep', 'p.ShopTest$$Outer'),
        original=OriginalTest(method=method('deep', 'p.ShopTest$$Outer'), source=old.encode()),
    )
    assert make_start_file(new.encode(), old.encode(), [target]) == old.encode()


def test_restored_helper_class_may_be_named_with_a_dollar_sign() -> None:
    helper = '        static class $Help { static class $In { static int one() { return 1; } } }\n'
    body = (
        f'{SIBLING}'
        '    public static class $Outer {\n%s'
        '        @Test public void deep() { assertTrue(%s); }\n    }\n'
    )
    old = java(body % (helper, '$Help.$In.one() == 1'))
    new = java(body % ('', 'true'))
    target = StartTarget(
        method=method('deep', 'p.ShopTest$$Outer'),
        original=OriginalTest(method=method('deep', 'p.ShopTest$$Outer'), source=old.encode()),
    )
    start = make_start_file(new.encode(), old.encode(), [target])
    assert start is not None
    assert '$Help.$In.one() == 1' in start.decode()
    assert 'class $Help' in start.decode()


@pytest.mark.parametrize(
    ('name', 'outer', 'outermost', 'canonical'),
    [
        ('p.$Outer', '', '$Outer', 'p.$Outer'),
        ('p.$Outer$$Inner', 'p.$Outer', '$Outer', 'p.$Outer.$Inner'),
        ('p.$Outer$$Inner$In$ner', 'p.$Outer$$Inner', '$Outer', 'p.$Outer.$Inner.In$ner'),
        ('p.A$B', '', 'A$B', 'p.A$B'),
        ('p.$', '', '$', 'p.$'),
    ],
)
def test_type_with_dollar_signs_has_the_right_outer_types(
    name: str, outer: str, outermost: str, canonical: str
) -> None:
    source = b'package p; class $Outer { class $Inner { class In$ner {} } } class A$B {} class $ {}'
    (type_,) = [one for one in parse(source).types if one.name == name]
    assert (type_.enclosing_name, type_.outermost_simple_name, type_.canonical_name) == (
        outer,
        outermost,
        canonical,
    )
