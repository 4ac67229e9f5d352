from __future__ import annotations

import pytest

from coevo.languages.java.assertions import list_assertions


def texts(body: str) -> list[str]:
    return list(list_assertions(f'@Test void m() {{ {body} }}'))


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ('assertEquals( 1 , x ); // one', ['assertEquals(1,x)']),
        ('Assert.assertEquals("m", 1, x);', ['assertEquals(1,x)']),
        ('Assertions.assertEquals(1, x, "m");', ['assertEquals(1,x)']),
        ('assertEquals("a", x, "b");', ['assertEquals("a",x,"b")']),
        ('assertEquals("a b", x);', ['assertEquals("a b",x)']),
        ('assertEquals(1.0, x, 0.1);', ['assertEquals(1.0,x,0.1)']),
        ('assertTrue("is " + y, a instanceof B);', ['assertTrue(a instanceof B)']),
        ('assertTrue(y, () -> "m");', ['assertTrue(y)']),
        ('assertTrue("m", a == "b");', ['assertTrue(a=="b")']),
        ('assertThrows(X.class, () -> a());', ['assertThrows(X.class,()->a())']),
        ('assertAll("h", () -> assertNull(a), () -> fail());', ['assertNull(a)', 'fail()']),
        (
            'assertThat(x).as("m").isNotNull().hasSize(2);',
            ['assertThat(x).isNotNull()', 'assertThat(x).hasSize(2)'],
        ),
        (
            'assertThat(x).first().isNull();',
            ['assertThat(x).first().isNull()'],
        ),
        ('assertWithMessage("m").that(x).isEqualTo(3);', ['assertThat(x).isEqualTo(3)']),
        ('assertThat("m", x, is(5));', ['assertThat(x,is(5))']),
        ('softly.assertThat(x).isTrue();', ['softly.assertThat(x).isTrue()']),
        ('verify(mock, times(1)).send(2);', ['verify(mock,times(1)).send(2)']),
        ('mvc.perform(a).andExpect(b);', ['mvc.perform(a).andExpect(b)']),
        ('assert x > 1 : "m";', ['assert x>1']),
        ('all.forEach(Assertions::assertNotNull);', ['Assertions::assertNotNull']),
        ('run(new R() { public void run() { assertNull(a); } });', ['assertNull(a)']),
        ('checkout(cart);', []),
    ],
)
def test_assertion_texts_omit_layout_and_messages(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


def test_assertion_of_three_thousand_operands_is_read() -> None:
    """Trees of sums are as deep as the sums are long."""
    lines = ' + '.join(['"a"'] * 3000)
    assert len(texts(f'assertEquals({lines}, x);')) == 1
    assert texts(f'assertTrue({lines}, x);') == ['assertTrue(x)']


def test_an_expected_exception_is_an_assertion() -> None:
    assert list_assertions('@Test(expected = X.class) public void m() { a(); }') == (
        '@Test(expected=X.class)',
    )
