from __future__ import annotations

import pytest

from coevo.languages.java.smells import JavaSmell, find_smells
from coevo.model.records import TestMethod
from tests.coevo.languages.java.smells.classes import (
    FLUENT,
    JUNIT3,
    JUNIT4,
    JUNIT5,
    TESTNG,
    of_body,
    smells_in,
)

# Per smell: the frame, a body that has it, and its nearest neighbour that has not.
BODIES = {
    JavaSmell.ASSERTION_ROULETTE: [
        (JUNIT3, 'assertEquals(1, x); assertTrue(y);', 'assertEquals("a", 1, x); assertTrue("b", y);'),
        (JUNIT4, 'assertEquals(1, x); assertTrue("y", y);', 'assertEquals(1, x);'),
        (JUNIT4, 'assertEquals(1.0, x, 0.1); assertTrue("y", y);', 'assertEquals("m", 1.0, x, 0.1); fail("m");'),
        (JUNIT5, 'assertEquals(1, x); assertTrue(y, "y");', 'assertEquals(1, x, "x"); assertTrue(y, () -> "y");'),
        (JUNIT5, 'assertNull(a, "m"); assertEquals(1.0, x, 0.1);', 'assertNull(a, "m"); assertEquals(1.0, x, 0.1, "x");'),
        (JUNIT5, 'assertNull(a, "m"); assertEquals(x, y, a < b ? 0.1 : 1);', 'assertNull(a, "m"); assertEquals(x, y, m);'),
        (JUNIT5, 'assertNull(a); assertThrows(X.class, () -> f());', 'assertThrows(X.class, () -> f());'),
        (JUNIT5, 'assertAll(() -> assertNull(a)); assertNull(b);', 'assertAll(() -> assertNull(a), () -> assertNull(b));'),
        (TESTNG, 'assertEquals(x, 1); assertTrue(y);', 'assertEquals(x, 1, "x"); assertTrue(y, "y");'),
        (FLUENT, 'assertThat(x).isNull(); assertThat(y).isNull();', 'assertThat(x).as("x").isNull(); assertWithMessage("y").that(y).isNull();'),
        (FLUENT, 'assertThat(x).isNull(); assertThat(y).isNull();', 'assertThat(x).isNotNull().isEqualTo(z);'),
    ],
    JavaSmell.CONDITIONAL_TEST_LOGIC: [
        (JUNIT4, 'if (a) { fail(); }', 'assertTrue(a);'),
        (JUNIT4, 'assertEquals(a ? b : c, d);', 'new Runnable() { public void run() { if (a) b(); } };'),
        (JUNIT5, 'for (int i : all) { assertTrue(f(i)); }', 'all.forEach(i -> assertTrue(f(i)));'),
        (JUNIT5, 'assertEquals(1, switch (a) { default -> 1; });', 'assertEquals(1, f(a));'),
        (JUNIT5, 'do { a(); } while (b());', 'a();'),
        (JUNIT5, 'while (b()) { a(); }', '{ a(); }'),
    ],
    JavaSmell.DUPLICATE_ASSERT: [
        (JUNIT4, 'assertTrue(a()); b(); assertTrue( a() );', 'assertTrue(a()); b(); assertFalse(a());'),
        (JUNIT4, 'assertEquals("m", 1, x); assertEquals("m", 2, y);', 'assertEquals(1.0, x, 0.1); assertEquals(1.0, y, 0.1);'),
        (JUNIT5, 'assertTrue(a, "m"); assertTrue(b, "m");', 'assertTrue(a, "m"); assertTrue(b, "n");'),
        (FLUENT, 'assertThat(x).isNull(); assertThat(x).isNull();', 'assertThat(x).isNotNull(); assertThat(x).isEmpty();'),
    ],
    JavaSmell.EAGER_TEST: [
        (JUNIT4, 'Cart c = new Cart(); c.add("a"); assertEquals(1, c.total());', 'Cart c = new Cart(); assertEquals(c.total(), c.total());'),
        (JUNIT5, 'var c = new Cart(); c.add("a"); assertThrows(X.class, () -> c.total());', 'String c = make(); c.add("a"); c.total();'),
        (JUNIT5, 'Cart c = make(); c.add("a"); c.add("a", 2);', 'List<String> c = make(); c.add("a"); c.add("a", 2);'),
        (JUNIT5, 'Cart c = make(); c.hidden(); c.total();', 'f(c).hidden(); new Cart().total();'),
        (JUNIT5, 'BigCart c = make(); c.add("a"); c.total();', 'BigCart.add("a"); new Cart().total();'),
        (JUNIT5, 'f(c).add("a"); new Cart().total();', 'add("a"); total();'),
    ],
    JavaSmell.EMPTY_TEST: [
        (JUNIT3, '', 'a();'),
        (JUNIT4, '// later', 'a();'),
        (JUNIT5, '/* later */', '{ }'),
    ],
    JavaSmell.EXCEPTION_HANDLING: [
        (JUNIT4, 'try { a(); fail(); } catch (X e) { }', 'try { a(); } finally { b(); }'),
        (JUNIT5, 'throw new X();', 'assertThrows(X.class, () -> a());'),
    ],
    JavaSmell.MAGIC_NUMBER_TEST: [
        (JUNIT3, 'assertEquals("m", -1, x);', 'assertEquals("m", one, x);'),
        (JUNIT4, 'assertEquals(new Money(5), x);', 'assertTrue(x > 5);'),
        (JUNIT4, 'assertThat(x, is(5L));', 'assertThat(x, is(five));'),
        (JUNIT5, 'assertEquals(0x1F, x);', 'int y = 31; assertEquals(y, x);'),
        (JUNIT5, 'assertNotEquals(1, x);', 'assertNotEquals("1", x);'),
        (FLUENT, 'assertThat(x).isEqualTo(5);', 'assertThat(x).isEqualTo(five);'),
    ],
    JavaSmell.MYSTERY_GUEST: [
        (JUNIT3, 'File f = find();', 'Reader f = find();'),
        (JUNIT4, 'File f = find();', '@Mock File f = find();'),
        (JUNIT5, 'var f = new File("a");', 'File f = mock(File.class);'),
        (JUNIT5, 'a(File.createTempFile("a", "b"));', 'a(File.separator);'),
    ],
    JavaSmell.REDUNDANT_ASSERTION: [
        (JUNIT3, 'assertTrue("m", true);', 'assertTrue("m", a);'),
        (JUNIT4, 'assertEquals("m", a, a);', 'assertEquals(a, b, a);'),
        (JUNIT4, 'assertThat(a, is(equalTo(a)));', 'assertThat(a, is(equalTo(b)));'),
        (JUNIT5, 'assertEquals(a, a, "m");', 'assertEquals("m", a, a);'),
        (JUNIT5, 'assertNull(null);', 'assertNull(a, "null");'),
        (FLUENT, 'assertThat(a).isEqualTo(a);', 'assertThat(a).isEqualTo(b);'),
        (FLUENT, 'assertThat(true).isTrue();', 'assertThat(a).isEqualTo(true);'),
    ],
    JavaSmell.REDUNDANT_PRINT: [
        (JUNIT4, 'System.out.println(a);', 'log.println(a);'),
        (JUNIT5, 'System.err.printf("%s", a);', 'System.out.flush();'),
    ],
    JavaSmell.RESOURCE_OPTIMISM: [
        (JUNIT4, 'File f = find(); read(f);', 'File f = find(); assertTrue(f.exists()); read(f);'),
        (JUNIT4, 'read(new File("a"));', 'assertTrue(new File("a").exists());'),
        (JUNIT5, 'File f = new File("a"), g = new File("b"); f.isFile();', 'File f = new File("a"); f.isFile();'),
    ],
    JavaSmell.SENSITIVE_EQUALITY: [
        (JUNIT4, 'assertEquals("a", x.toString());', 'String s = x.toString(); assertEquals("a", s);'),
        (JUNIT5, 'assertEquals("a", f(x.toString()));', 'assertEquals("toString", x);'),
        (FLUENT, 'assertThat(x.toString()).isNull();', 'assertThat(x).isEqualTo(y);'),
        (FLUENT, 'assertThat(x).hasToString("a");', 'assertThat(x).hasSize(one);'),
    ],
    JavaSmell.SLEEPY_TEST: [
        (JUNIT4, 'Thread.sleep(5);', 'child.sleep(5);'),
        (JUNIT5, 'TimeUnit.SECONDS.sleep(5);', 'TimeUnit.SECONDS.toMillis(5);'),
    ],
    JavaSmell.UNKNOWN_TEST: [
        (JUNIT3, 'a();', 'fail();'),
        (JUNIT4, 'a();', 'assertIsFine(a());'),
        (JUNIT4, 'a();', 'thrown.expect(X.class); a();'),
        (JUNIT4, 'a();', 'assert a();'),
        (JUNIT5, 'a();', 'assertThrows(X.class, () -> a());'),
        (JUNIT5, 'a();', 'verify(b).a();'),
        (JUNIT5, 'a();', 'run(new Task() { public void run() { assertNull(a); } });'),
        (JUNIT5, 'a();', 'all.forEach(Assertions::assertNotNull);'),
        (FLUENT, 'then();', 'then(x).isNull();'),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ('smell', 'frame', 'smelly', 'clean'),
    [(smell, *case) for smell, cases in BODIES.items() for case in cases],
)
def test_smell_is_found_in_a_smelly_body_and_not_in_a_similar_clean_body(
    smell: JavaSmell, frame: str, smelly: str, clean: str
) -> None:
    assert (smell in of_body(frame, smelly), smell in of_body(frame, clean)) == (True, False)


IT = '@Test public void testIt() { assertNull(a); }'
# Per smell: the frame, what stands before the class, its members, and the neighbour's.
CLASSES = {
    JavaSmell.CONSTRUCTOR_INITIALIZATION: [
        (JUNIT3, ('', 'CartTest(String n) { super(n); } public void testIt() { }'), ('', 'public void testIt() { }')),
        (JUNIT4, ('', f'CartTest() {{ c = new Cart(); }} {IT}'), ('', IT)),
        (JUNIT4, ('', f'CartTest(int x) {{ }} {IT}'), ('@RunWith(Parameterized.class) ', f'CartTest(int x) {{ }} {IT}')),
        (JUNIT5, ('', f'CartTest() {{ }} {IT}'), ('', f'CartTest(TestInfo info) {{ }} {IT}')),
        (JUNIT5, ('', f'CartTest() {{ }} @Nested class A {{ {IT} }}'), ('', f'static class B {{ B() {{ }} }} @Nested class A {{ {IT} }}')),
    ],
    JavaSmell.GENERAL_FIXTURE: [
        (JUNIT3, ('', 'Cart c; Cart d; public void setUp() { c = new Cart(); d = c; } public void testIt() { d.a(); }'), ('', 'Cart c; Cart d; public void setUp() { c = new Cart(); } public void testIt() { c.a(); }')),
        (JUNIT4, ('', f'Cart c; @Before public void make() {{ this.c = new Cart(); }} {IT}'), ('', f'static Cart c; @BeforeClass public static void make() {{ c = new Cart(); }} {IT}')),
        (JUNIT5, ('', f'Cart c; @BeforeEach void make() {{ c = new Cart(); }} {IT}'), ('', 'Cart c; @BeforeEach void make() { c = new Cart(); } @Test void testIt() { check(); } void check() { assertNull(c.a()); }')),
        (TESTNG, ('', f'Cart c; @BeforeMethod void make() {{ c = new Cart(); }} {IT}'), ('', f'Cart c; @BeforeMethod void make() {{ int a = 1; }} {IT}')),
    ],
    JavaSmell.IGNORED_TEST: [
        (JUNIT4, ('', f'@Ignore {IT}'), ('', IT)),
        (JUNIT4, ('@Ignore("slow") ', IT), ('', IT)),
        (JUNIT5, ('', f'@Disabled {IT}'), ('', f'@DisabledOnOs(WINDOWS) {IT}')),
        (JUNIT5, ('@Disabled ', f'@Nested class A {{ {IT} }}'), ('', f'@Nested @Disabled class B {{ }} @Nested class A {{ {IT} }}')),
        (TESTNG, ('', '@Test(enabled = false) public void testIt() { }'), ('', '@Test(enabled = true) public void testIt() { }')),
    ],
    JavaSmell.LAZY_TEST: [
        (JUNIT4, ('', '@Test public void testIt() { new Cart().total(); } @Test public void b() { new Cart().total(); }'), ('', '@Test public void testIt() { new Cart().total(); new Cart().total(); } public void b() { new Cart().total(); }')),
        (JUNIT5, ('', 'Cart c; @Test void testIt() { c.add("a"); } @ParameterizedTest void b(String s) { c.add(s); }'), ('', 'Cart c; @Test void testIt() { c.add("a"); } @RepeatedTest(2) void b() { c.add("a", 2); }')),
        (JUNIT5, ('', 'Cart c; @Test void testIt() { c.total(); } @Nested class A { @Test void b() { c.total(); } }'), ('', 'Cart c; @Test void testIt() { c.total(); } @Nested class A { void b() { c.total(); } }')),
    ],
    JavaSmell.EMPTY_TEST: [
        (JUNIT5, ('', '@RepeatedTest(2) void testIt() { }'), ('', '@ParameterizedTest void testIt(int a) { f(a); }')),
    ],
    JavaSmell.CONDITIONAL_TEST_LOGIC: [
        (JUNIT5, ('', '@TestFactory List<DynamicTest> testIt() { return List.of(dynamicTest("a", () -> { if (a) f(); })); }'), ('', '@TestFactory List<DynamicTest> testIt() { for (int i : all) { l.add(dynamicTest("a", () -> f(i))); } return l; }')),
    ],
    JavaSmell.UNKNOWN_TEST: [
        (JUNIT4, ('', '@Test(timeout = 5) public void testIt() { a(); }'), ('', '@Test(expected = X.class) public void testIt() { a(); }')),
        (TESTNG, ('', '@Test(groups = "a") public void testIt() { a(); }'), ('', '@Test(expectedExceptions = X.class) public void testIt() { a(); }')),
        (JUNIT5, ('', '@TestFactory Stream<DynamicTest> testIt() { return all.map(i -> dynamicTest("a", () -> f(i))); }'), ('', '@TestFactory Stream<DynamicTest> testIt() { return all.map(i -> dynamicTest("a", () -> assertTrue(i))); }')),
    ],
    JavaSmell.MYSTERY_GUEST: [
        (JUNIT5, ('', '@Test void testIt(@TempDir File d) { File f = new File(d, "a"); }'), ('', '@Test void testIt(@TempDir File d) { f(d); }')),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ('smell', 'frame', 'smelly', 'clean'),
    [(smell, *case) for smell, cases in CLASSES.items() for case in cases],
)
def test_smell_is_found_in_a_smelly_class_and_not_in_a_similar_clean_class(
    smell: JavaSmell, frame: str, smelly: tuple[str, str], clean: tuple[str, str]
) -> None:
    found = [smell in smells_in(frame, body, before=head) for head, body in (smelly, clean)]
    assert found == [True, False]


@pytest.mark.parametrize('frame', [JUNIT4, JUNIT5])
def test_default_test_smell_depends_on_the_class_name(frame: str) -> None:
    named = frame.replace('CartTest', 'ExampleUnitTest')
    assert JavaSmell.DEFAULT_TEST in smells_in(named, IT)
    assert JavaSmell.DEFAULT_TEST not in smells_in(frame, IT)


def test_file_type_of_another_package_is_not_a_resource() -> None:
    own = JUNIT5.replace('java.io.File', 'shop.File')
    assert {JavaSmell.MYSTERY_GUEST, JavaSmell.RESOURCE_OPTIMISM} <= of_body(
        JUNIT5, 'File f = find();'
    )
    assert not {JavaSmell.MYSTERY_GUEST, JavaSmell.RESOURCE_OPTIMISM} & of_body(
        own, 'File f = find();'
    )


def test_every_smell_has_a_case_for_junit_4_and_5() -> None:
    cases = {smell: {case[0] for case in BODIES.get(smell, [])} for smell in JavaSmell}
    for smell, more in CLASSES.items():
        cases[smell] |= {case[0] for case in more}
    del cases[JavaSmell.DEFAULT_TEST]  # has a test of its own
    assert [smell for smell, frames in cases.items() if not {JUNIT4, JUNIT5} <= frames] == []


METHOD = TestMethod(module='.', test_file='T.java', test_class='T', test_method='m')


def test_smells_are_sorted_and_call_smells_need_a_class_under_test() -> None:
    source = b'class T { Cart c; @Test void m() { c.add(1); c.total(); System.out.print(1); } }'
    assert find_smells(source, METHOD) == (JavaSmell.REDUNDANT_PRINT, JavaSmell.UNKNOWN_TEST)


def test_smells_of_an_undeclared_method_raise_an_error() -> None:
    with pytest.raises(LookupError, match=r'T\.java declares no T#m'):
        find_smells(b'class T { @Test void m(int x) { } }', METHOD)
