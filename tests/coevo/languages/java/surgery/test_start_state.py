"""Start files as whole texts: what goes with a target, what comes with it, what stays."""

from __future__ import annotations

import re

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery.start_state import start_file
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.surgery import StartTarget
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
    start = start_file(new.encode(), before, targets, used_elsewhere=used)
    assert start is not None
    assert not parse(start).has_error
    return start.decode()


def update(old: str, new: str, *names: str, **renamed: str) -> str:
    pairs = {name: name for name in names} | renamed
    targets = [
        StartTarget(method=method(now), original=Original(method=method(was), source=old.encode()))
        for now, was in pairs.items()
    ]
    start = start_file(new.encode(), old.encode(), targets)
    assert start is not None
    return start.decode()


def test_a_removed_target_takes_its_comments_and_one_gap() -> None:
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


def test_imports_helpers_fields_and_types_of_targets_alone_go_with_them() -> None:
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


def test_what_others_use_or_the_framework_runs_stays() -> None:
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


def test_what_nobody_calls_stays_with_what_it_uses() -> None:
    rest = (
        '    private Shop another(int n) { return new Shop(n); }\n'
        '    private Shop forgotten() { return another(1); }\n'
        f'{SIBLING}'
    )
    new = java(f'{rest}    @Test public void sells() {{ another(2).sell(); }}\n')
    assert generation(new, 'sells') == java(rest)


def test_a_rule_and_a_named_source_go_with_the_target_that_uses_them() -> None:
    new = java(
        '    @Rule public TemporaryFolder folder = new TemporaryFolder();\n'
        f'{SIBLING}'
        '    @ParameterizedTest @MethodSource("numbers") public void sells(int n) { folder.root(n); }\n'
        '    static Stream<Integer> numbers() { return Stream.of(1); }\n',
        imports='import java.util.stream.Stream;\nimport org.junit.Rule;\n',
    )
    start = start_file(
        new.encode(),
        java(SIBLING).encode(),
        [StartTarget(method=method('sells', 'p.ShopTest', 'int'))],
    )
    assert start is not None
    assert start.decode() == java(SIBLING)


def test_a_field_of_two_names_goes_only_as_a_whole() -> None:
    new = java(
        '    private int a = 1, b = 2;\n'
        '    @Test public void first() { Shop.sell(a); }\n'
        '    @Test public void second() { Shop.sell(b); }\n'
    )
    assert 'private int a = 1, b = 2;' in generation(new, 'first', old=java(''))
    both = generation(new + '// end\n', 'first', 'second', old=java(''))
    assert both == java('', head=HEAD.replace('import org.junit.Test;\n', '')) + '// end\n'


def test_a_new_file_of_targets_alone_is_absent() -> None:
    new = java('    private int n;\n' + SIBLING)
    assert start_file(new.encode(), None, [StartTarget(method=method('sibling'))]) is None


def test_a_new_file_is_absent_though_it_holds_tests_that_are_no_targets() -> None:
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.sell(); }}\n')
    assert start_file(new.encode(), None, [StartTarget(method=method('sells'))]) is None


def test_junit_3_siblings_count_though_the_file_does_not_tell() -> None:
    new = (
        'class ShopTest extends Base {\n'
        '    public void testA() { a(); }\n'
        '    public void testB() { b(); }\n'
        '}\n'
    )
    targets = [StartTarget(method=method('testA', 'ShopTest'))]
    assert (
        start_file(new.encode(), b'class ShopTest extends Base { }', targets)
        == new.replace('    public void testA() { a(); }\n', '').encode()
    )


def test_a_new_nested_class_of_targets_alone_goes_as_a_whole() -> None:
    nested = (
        '\n'
        '    @Nested class Late {\n'
        '        private int hour = 23;\n'
        '        @Test void sells() { Shop.sell(hour); }\n'
        '    }\n'
    )
    targets = [StartTarget(method=method('sells', 'p.ShopTest$Late'))]
    new, old = java(SIBLING + nested), java(SIBLING)
    assert start_file(new.encode(), old.encode(), targets) == old.encode()
    with_other = new.replace(
        '        @Test void sells', '        @Test void other() { }\n        @Test void sells'
    )
    start = start_file(with_other.encode(), old.encode(), targets)
    assert start is not None
    assert '@Test void other() { }' in start.decode()
    assert 'sells' not in start.decode()


def test_a_reverted_target_brings_what_new_no_longer_has() -> None:
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


def test_what_both_versions_share_is_reverted_only_if_targets_alone_use_it() -> None:
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


def test_an_import_of_targets_alone_is_reverted_and_a_shared_one_is_not() -> None:
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


def test_an_import_that_old_did_not_need_is_kept_if_the_old_code_needs_the_name() -> None:
    old = 'package q;\n\nclass ShopTest {\n    @Test void sells() { Basket.old(); }\n}\n'
    new = (
        'package p;\n\nimport q.Basket;\n\n'
        'class ShopTest {\n    @Test void sells() { Basket.fresh(); }\n}\n'
    )
    target = StartTarget(
        method=method('sells'),
        original=Original(method=method('sells', 'q.ShopTest'), source=old.encode()),
    )
    assert start_file(new.encode(), None, [target]) == new.replace('fresh', 'old').encode()


def test_a_wildcard_comes_for_a_name_that_nothing_else_explains() -> None:
    old = java(
        f'{SIBLING}    @Test public void sells() {{ Till.old(); }}\n', imports='import a.*;\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert update(old, new, 'sells') == old
    known = old.replace('Till.old()', 'Shop.open()')
    assert 'import a.*' not in update(known, new, 'sells')


def test_a_fixture_comes_with_the_field_that_it_sets() -> None:
    old = java(
        '    private Till till;\n'
        '\n'
        '    @Before public void setUp() { till = new Till(); }\n'
        '\n'
        '    @Test public void sells() { till.old(); }\n'
    )
    new = java('    @Test public void sells() { Shop.fresh(); }\n')
    assert update(old, new, 'sells') == old


def test_a_local_variable_brings_no_field_of_its_name() -> None:
    old = java(
        '    private Till till = new Till(0);\n'
        f'{SIBLING}'
        '    @Test public void sells() { Till till = new Till(1); till.old(); }\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert 'Till(0)' not in update(old, new, 'sells')


def test_a_renamed_target_carries_its_old_name() -> None:
    old = java(f'{SIBLING}    @Test public void sold() {{ Shop.old(); }}\n')
    new = java(f'{SIBLING}    @Test public void sells() {{ Shop.fresh(); }}\n')
    assert update(old, new, sells='sold') == old


def test_a_member_that_a_class_of_the_file_lost_comes_back_into_it() -> None:
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


def test_line_endings_and_the_lack_of_a_last_newline_are_kept() -> None:
    old = java(
        f'{SIBLING}    @Test public void sells() {{\n        help();\n    }}\n'
        '\n    private void help() { }\n'
    )
    new = java(f'{SIBLING}    @Test public void sells() {{\n        Shop.fresh();\n    }}\n')
    windows = new.replace('\n', '\r\n').removesuffix('\r\n')
    assert update(old, windows, 'sells') == old.replace('\n', '\r\n').removesuffix('\r\n')


def test_a_file_that_is_not_utf_8_keeps_its_bytes() -> None:
    new = java(f'    // caf\u00e9\n{SIBLING}    @Test public void sells() {{ Shop.sell(); }}\n')
    start = start_file(new.encode('latin-1'), b'', [StartTarget(method=method('sells'))])
    assert start == java(f'    // caf\u00e9\n{SIBLING}').encode('latin-1')


def test_a_name_that_new_gave_to_another_method_makes_no_start_state() -> None:
    old = java('    @Test public void a() { Shop.old(); }\n')
    new = java('    @Test public void b() { Shop.old(1); }\n    @Test public void a() { }\n')
    with pytest.raises(StartStateInvalid, match='declare the method a twice'):
        update(old, new, b='a')


def test_a_target_that_is_not_there_makes_no_start_state() -> None:
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


def test_names_may_begin_with_the_sign_that_nests_them() -> None:
    """A public repository's class has `$Outer` and in it `$Inner`: each run ended there."""
    old, new = java(DOLLARS % '1'), java(DOLLARS % '2')
    target = StartTarget(
        method=method('deep', 'p.ShopTest$$Outer'),
        original=Original(method=method('deep', 'p.ShopTest$$Outer'), source=old.encode()),
    )
    assert start_file(new.encode(), old.encode(), [target]) == old.encode()


def test_what_a_reverted_test_brings_may_have_such_names() -> None:
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
        original=Original(method=method('deep', 'p.ShopTest$$Outer'), source=old.encode()),
    )
    start = start_file(new.encode(), old.encode(), [target])
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
def test_a_type_knows_what_is_around_it(
    name: str, outer: str, outermost: str, canonical: str
) -> None:
    source = b'package p; class $Outer { class $Inner { class In$ner {} } } class A$B {} class $ {}'
    (type_,) = [one for one in parse(source).types if one.name == name]
    assert (type_.outer, type_.outermost, type_.canonical) == (outer, outermost, canonical)
