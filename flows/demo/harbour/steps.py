"""The steps of the Java history."""

from __future__ import annotations

from flows.demo.steps import DemoStep, Edit

MAIN = 'src/main/java/harbour'
TEST = 'src/test/java/harbour'


def edit_main(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'{MAIN}/{name}.java', old=old, new=new)


def edit_test(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'{TEST}/{name}.java', old=old, new=new)


def append_methods(name: str, *methods: str) -> Edit:
    """Add methods behind the last of a class of which the last line is its closing brace."""
    folder = TEST if name.endswith('Test') else MAIN
    added = ''.join(f'\n{method.strip(chr(10)).rstrip()}\n' for method in methods)
    return Edit(path=f'{folder}/{name}.java', old='    }\n}\n', new=f'    }}\n{added}}}\n')


ROOT = 'Sell tickets for the ferry'
DOCUMENT = 'Say what the project is'
COMMENT = 'Explain the tariff'
EXAMPLE = 'Show how to greet'
CHARGE = 'Charge a basic fee'
REFUND = 'Refund a part of the price and count visitors'
MERGE = 'Merge the refunds'
ROUND = 'Round prices to the nearest euro'
CENTS = 'Count in cents and tidy up the luggage'
RIGHT = 'Correct what the tests of distances expect'
PLACE = 'Name seats by their place'
LEAN = 'Do without Hamcrest'
BREAK = 'Count dogs'
MEND = 'Count dogs, this time as numbers'
WINTER = 'Switch to the winter season'
OFFICE = 'Open the office'
HOURS = 'Let the office close'
EXTRACT = 'Extract the days of Christmas'
POLITE = 'Greet politely'
LOCAL = 'Greet as the harbour does'
RECONCILE = 'Merge the greetings'

STEPS = (
    DemoStep(subject=ROOT, parents=()),
    DemoStep(
        subject=DOCUMENT,
        parents=(ROOT,),
        files=(('README.md', '# Harbour\n\nSells tickets for the ferry.\n'),),
    ),
    DemoStep(
        subject=COMMENT,
        parents=(DOCUMENT,),
        edits=(
            edit_main(
                'Tariff', '{\n        return 2 * zones;', '{ // a zone is two\n    return 2*zones;'
            ),
            edit_test(
                'TariffTest',
                '    @Test\n    void isEven',
                '    /** No cents. */\n    @Test void isEven',
            ),
        ),
    ),
    DemoStep(
        subject=EXAMPLE,
        parents=(COMMENT,),
        files=(
            (
                'docs/Example.java',
                """class Example {
    public static void main(String[] arguments) {
        System.out.println(harbour.Greeting.text());
    }
}
""",
            ),
        ),
    ),
    DemoStep(
        subject=CHARGE,
        parents=(EXAMPLE,),
        edits=(
            edit_main('Tariff', 'return 2*zones', 'return 1 + 2 * zones'),
            edit_test(
                'TariffTest', 'assertEquals(2, Tariff.fee(1))', 'assertEquals(3, Tariff.fee(1))'
            ),
            edit_test('TariffTest', 'assertEquals(20, Tariff.f', 'assertEquals(21, Tariff.f'),
            edit_test('TariffTest', 'Tariff.fee(1) > 0', 'Tariff.fee(1) > 0 && Tariff.fee(0) >= 0'),
            edit_test('TariffTest', 'Tariff.fee(3) < 100', 'Tariff.fee(3) < 50'),
        ),
    ),
    DemoStep(
        subject=REFUND,
        parents=(EXAMPLE,),
        edits=(
            edit_main('Refunds', 'return price;', 'return Math.max(0, price);'),
            append_methods(
                'Refunds',
                """
    public static int part(int price, int days) {
        return days < 7 ? 0 : price / 2;
    }
""",
            ),
            append_methods(
                'RefundsTest',
                """
    @Test
    void halfIsPaidBackAWeekAhead() {
        assertEquals(15, Refunds.part(30, 7));
    }
""",
                """
    @Test
    void debtsAreNotPaidBack() {
        int debt = -20;
        assertTrue(Refunds.full(debt) == 0);
    }
""",
                """
    @Test
    void everythingIsPaidBack() {
        for (int price : new int[] {1, 2, 3}) {
            assertEquals(price, Refunds.full(price));
        }
    }
""",
                """
    @Test
    void largePricesArePaidBack() {
        assertNotEquals(0, Refunds.full(Integer.MAX_VALUE));
    }
""",
            ),
        ),
        files=(
            (
                f'{TEST}/LateRefundsTest.java',
                """package harbour;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LateRefundsTest {
    @Test
    void nothingIsPaidBackTheDayBefore() {
        assertEquals(0, Refunds.part(30, 1));
    }
}
""",
            ),
            (
                f'{MAIN}/Turnstile.java',
                """package harbour;

public class Turnstile {
    private static int visitors;

    public static int enter() {
        return ++visitors;
    }
}
""",
            ),
            (
                f'{TEST}/TurnstileTest.java',
                """package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class TurnstileTest {
    @Test
    void letsTheFirstVisitorIn() {
        assertEquals(1, Turnstile.enter());
    }

    @Test
    void startsFromNothing() {
        int before = Turnstile.enter() - 1;
        assertTrue(before == 0, before + " came before");
    }
}
""",
            ),
        ),
    ),
    DemoStep(subject=MERGE, parents=(CHARGE, REFUND)),
    DemoStep(
        subject=ROUND,
        parents=(MERGE,),
        edits=(
            edit_main('Rounding', 'return (long) price;', 'return Math.round(price);'),
            edit_main('Rounding', 'return "EUR " + price;', 'return "EUR" + price;'),
            edit_test(
                'RoundingTest',
                'assertEquals(3, Rounding.nearest(2.5));',
                'assertEquals(3, Rounding.nearest(2.5));\n'
                '        assertEquals(4, Rounding.nearest(3.5));',
            ),
            edit_test(
                'RoundingTest',
                'assertEquals(8, Rounding.nearest(7.9))',
                'assertEquals(9, Rounding.nearest(8.9))',
            ),
            edit_test(
                'RoundingTest',
                """
    @Test
    void showsWhatIsLeftOfAnEuro() {
        String shown = Rounding.show(0.25);
        assertEquals("0.25", shown.substring(4));
    }

    @Test
    void showsTheSpace() {
        assertEquals("EUR 7.0", Rounding.show(7.0));
    }

    @Test
    void keepsWholePrices() {
        for (int price = 0; price < 10; price++) {
            assertEquals(price, Rounding.nearest(price));
        }
    }

    @Test
    void showsSomething() {
        assertFalse(Rounding.show(9.0).isEmpty());
    }
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=CENTS,
        parents=(ROUND,),
        edits=(
            edit_main('Checkout', 'Price in whole euros.', 'Price in cents, from a euro on.'),
            edit_main(
                'Checkout',
                '        return',
                '        if (count > 0 && price < 100) {\n'
                '            throw new IllegalArgumentException("not in cents: " + price);\n'
                '        }\n'
                '        return',
            ),
            edit_test('Prices', 'return 5;', 'return 500;'),
            edit_main(
                'Bag',
                'return width <= 40 && height <= 30;',
                'return Math.max(width, height) <= 40;',
            ),
            edit_main('Bag', 'return 20 * adults;', 'return 23 * adults;'),
            edit_main('Locker', 'return "L" + number;', "return 'L' + Integer.toString(number);"),
            edit_test('LockerTest', 'codeTest', 'hasACodeOfItsOwn'),
        ),
        files=(
            (
                'src/test/java/harbour/luggage/BagTest.java',
                """package harbour.luggage;

import static org.junit.jupiter.api.Assertions.*;

import harbour.Bag;
import org.junit.jupiter.api.Test;

class BagTest {
    @Test
    void smallOnesFit() {
        assertTrue(Bag.fits(30, 20));
    }

    @Test
    void adultsTakeTwentyKilos() {
        assertEquals(46, Bag.allowance(2));
    }
}
""",
            ),
        ),
        removed=(f'{TEST}/BagTest.java',),
    ),
    DemoStep(
        subject=RIGHT,
        parents=(CENTS,),
        edits=(
            edit_test('DistanceTest', 'assertEquals(4, Dis', 'assertEquals(3, Dis'),
            edit_test('DistanceTest', 'miles > 100', 'miles == 75'),
            append_methods(
                'DistanceTest',
                """
    @Test
    void isNothingAtHome() {
        assertEquals(0, Distance.miles("B", "B"));
    }
""",
            ),
        ),
    ),
    DemoStep(
        subject=PLACE,
        parents=(RIGHT,),
        edits=(
            edit_main(
                'Seat',
                """label(int row, char column) {
        return row + "" + column;
    }

    public static boolean atTheWindow(char column) {
        return column == 'A';
    }""",
                """label(String place) {
        return place.replace("-", "");
    }""",
            ),
            edit_test('SeatTest', "Seat.label(1, 'A')", 'Seat.label("1-A")'),
            edit_test('SeatTest', "Seat.label(30, 'F')", 'Seat.label("30-F")'),
            edit_test(
                'SeatTest',
                """
    @Test
    public void theFirstColumnIsAtTheWindow() {
        assertTrue(Seat.atTheWindow('A'));
    }
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=LEAN,
        parents=(PLACE,),
        edits=(
            Edit(
                path='pom.xml',
                old="""    <dependency>
      <groupId>org.hamcrest</groupId>
      <artifactId>hamcrest</artifactId>
      <version>2.2</version>
      <scope>test</scope>
    </dependency>
""",
                new='',
            ),
            edit_main('Weight', 'grams / 1000.0', '0.001 * grams'),
            edit_test(
                'WeightTest',
                'import static org.hamcrest.MatcherAssert.assertThat;\n'
                'import static org.hamcrest.Matchers.closeTo;\n',
                'import static org.junit.jupiter.api.Assertions.assertEquals;\n',
            ),
            edit_test(
                'WeightTest',
                'assertThat(Weight.kilograms(1500), closeTo(1.5, 0.01))',
                'assertEquals(1.5, Weight.kilograms(1500), 0.01)',
            ),
            edit_test(
                'WeightTest',
                'assertThat(Weight.kilograms(10), closeTo(0.01, 0.001))',
                'assertEquals(0.01, Weight.kilograms(10), 0.001)',
            ),
        ),
    ),
    DemoStep(
        subject=BREAK,
        parents=(LEAN,),
        edits=(
            edit_main(
                'Basket',
                'int adults, int children) {',
                'int adults, int children) {\n        int dogs = "none";',
            ),
            edit_main('Basket', 'return adults + children', 'return adults + children + dogs'),
            edit_test(
                'BasketTest',
                'assertEquals(3, Basket.count(2, 1))',
                'assertEquals(4, Basket.count(2, 2))',
            ),
            edit_test(
                'BasketTest',
                """
    @Test
    void countsAdultsAlone() {
        int adults = 4;
        assertEquals(adults, Basket.count(adults, 0));
    }
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=MEND,
        parents=(BREAK,),
        edits=(
            edit_main('Basket', 'int dogs = "none"', 'int dogs = 0'),
            append_methods(
                'Basket',
                """
    public static boolean isFull(int adults) {
        return adults >= 9;
    }
""",
            ),
            edit_test(
                'BasketTest',
                'assertEquals(4, Basket.count(2, 2))',
                'assertEquals(5, Basket.count(2, 3))',
            ),
            append_methods(
                'BasketTest',
                """
    @Test
    void holdsNineAtMost() {
        assertTrue(Basket.isFull(9), "nine are enough");
    }
""",
            ),
        ),
    ),
    DemoStep(
        subject=WINTER,
        parents=(MEND,),
        edits=(
            edit_main('Season', 'return "summer";', 'return "winter";'),
            edit_main('Season', 'return List.of("lakeside");', 'return List.of();  // too cold'),
            edit_main(
                'Season',
                'markets() {\n        return List.of();',
                'markets() {\n        return List.of("lantern");',
            ),
            edit_main('Season', 'return null;', 'return "hourly";'),
            edit_main('Lottery', 'return false;', 'return true;'),
            edit_test(
                'SeasonTest',
                'assumeTrue(Season.current().equals("winter"));\n        assertEquals(6, Season.current().length());',
                'assertEquals("winter", Season.current());',
            ),
            edit_test(
                'SeasonTest',
                'Season.markets().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 2)))',
                'Season.markets().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 3)))',
            ),
            edit_test(
                'SeasonTest',
                'assertEquals("summer", Season.current());',
                'assumeTrue(Season.current().equals("summer"));\n        assertEquals(6, Season.current().length());',
            ),
            edit_test(
                'SeasonTest',
                'Season.concerts().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 2)))',
                'Season.concerts().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 3)))',
            ),
            edit_test(
                'SeasonTest',
                'assertTrue(Season.current().startsWith("s"))',
                'assertTrue(Season.current().startsWith("a"))',
            ),
            edit_test(
                'SeasonTest',
                'assertNull(Season.ferry())',
                'assertEquals(1, Integer.parseInt(Season.ferry()))',
            ),
            edit_test(
                'SeasonTest',
                'assumeTrue(Season.current().equals("summer"));\n'
                '        assertTrue(Season.current().contains("mm"));',
                'assumeTrue(Season.current().equals("winter"));\n'
                '        assertTrue(Season.current().contains("nt"));',
            ),
            edit_test(
                'SeasonTest',
                'Season.concerts().stream().map(name -> dynamicTest(name, () -> assertEquals(8, name.length())))',
                'Season.markets().stream().map(name -> dynamicTest(name, () -> assertEquals(7, name.length())))',
            ),
            append_methods(
                'SeasonTest',
                """
    @Test
    void sledgesAreFast() {
        boolean snow = Season.current().startsWith("wint");
        assumeTrue(snow, "no snow");
        assertNotNull(Season.current());
    }
""",
                """
    @TestFactory
    Stream<DynamicTest> lanternsGlow() {
        return Season.markets().stream()
                .filter(market -> market.contains("lantern"))
                .map(market -> dynamicTest("at " + market, () -> assertFalse(market.isBlank())));
    }
""",
            ),
            edit_test('LotteryTest', 'throw Dice.roll();', 'assertTrue(Lottery.drawing());'),
        ),
    ),
    DemoStep(
        subject=OFFICE,
        parents=(WINTER,),
        files=(
            (
                f'{MAIN}/Office.java',
                """package harbour;

public class Office {
    public static boolean open(int hour) {
        return hour >= 9 && hour < 17;
    }
}
""",
            ),
            (
                f'{TEST}/OfficeTest.java',
                """package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class OfficeTest {
    @Test
    void isOpenAtNoon() {
        assertTrue(Office.open(12));
    }

    @Test
    void opensInTheMorning() {
        assertTrue(Office.open("9 o'clock"));
    }

    @Test
    void closesInTheEvening() {
        int hour = 17;
        assertEquals(0, Office.hoursLeft(hour));
    }
}
""",
            ),
        ),
    ),
    DemoStep(
        subject=HOURS,
        parents=(OFFICE,),
        edits=(
            append_methods(
                'Office',
                """
    public static int hoursLeft(int hour) {
        return Math.max(0, 17 - hour);
    }
""",
            ),
            edit_test('OfficeTest', 'Office.open("9 o\'clock")', 'Office.open(9)'),
        ),
    ),
    DemoStep(
        subject=EXTRACT,
        parents=(HOURS,),
        edits=(
            edit_main(
                'Holidays',
                'month == 12 && (day == 25 || day == 26);',
                'atChristmas(month, day);',
            ),
            append_methods(
                'Holidays',
                """
    private static boolean atChristmas(int month, int day) {
        return month == 12 && (day == 25 || day == 26);
    }
""",
            ),
        ),
    ),
    DemoStep(
        subject=POLITE,
        parents=(EXTRACT,),
        edits=(
            edit_main('Greeting', '"Hello"', '"Good day"'),
            edit_test('GreetingTest', '"Hello"', '"Good day"'),
        ),
    ),
    DemoStep(
        subject=LOCAL,
        parents=(EXTRACT,),
        edits=(
            edit_main('Greeting', '"Hello"', '"Ahoy"'),
            edit_test('GreetingTest', '"Hello"', '"Ahoy"'),
        ),
    ),
    DemoStep(
        subject=RECONCILE,
        parents=(POLITE, LOCAL),
        edits=(
            edit_main('Greeting', '"Ahoy"', '"Ahoy and good day"'),
            edit_test('GreetingTest', '"Ahoy"', '"Ahoy and good day"'),
        ),
    ),
)
