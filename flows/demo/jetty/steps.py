"""The steps of the Go history."""

from __future__ import annotations

from flows.demo.steps import DemoStep, Edit


def edit_main(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'{name}.go', old=old, new=new)


def edit_test(name: str, old: str, new: str) -> Edit:
    return Edit(path=f'{name}_test.go', old=old, new=new)


ROOT = 'Sell tickets and papers'
DOCUMENT = 'Say what the jetty is'
COMMENT = 'Explain the tariff of boats'
TOOL = 'Draw the map by a tool'
CHARGE = 'Charge a basic fee for boats'
REFUND = 'Refund a part and count who comes in'
ROUND = 'Round to the nearest euro'
CENTS = 'Count in cents and tidy up'
RIGHT = 'Correct what is expected of distances'
PLACE = 'Name a seat by its place'
LANGUAGE = 'Take the language of 2024'
BREAK = 'Count dogs in baskets'
MEND = 'Count dogs without a package of theirs'
WINTER = 'Switch to winter'
OFFICE = 'Open an office'
HOURS = 'Close the office in the evening'
EXTRACT = 'Extract Christmas'

STEPS = (
    DemoStep(subject=ROOT, parents=()),
    DemoStep(
        subject=DOCUMENT,
        parents=(ROOT,),
        files=(('README.md', '# Jetty\n\nSells tickets and papers where boats land.\n'),),
    ),
    DemoStep(
        subject=COMMENT,
        parents=(DOCUMENT,),
        edits=(
            edit_main('tariff', 'func Fee', '// Fee is two an hour.\nfunc Fee'),
            edit_test('tariff', 'if Fee(3)%2 != 0 {', 'if Fee(3) % 2 != 0 { // no cents'),
        ),
    ),
    DemoStep(
        subject=TOOL,
        parents=(COMMENT,),
        files=(('_map.go', 'package main\n\nfunc main() {\n\tprintln("~~~")\n}\n'),),
    ),
    DemoStep(
        subject=CHARGE,
        parents=(TOOL,),
        edits=(
            edit_main('tariff', 'return 2 * hours', 'return 1 + 2*hours'),
            edit_test('tariff', 'if Fee(1) != 2 {', 'if Fee(1) != 3 {'),
            edit_test('tariff', 'fee != 20', 'fee != 21'),
            edit_test('tariff', 'if Fee(1) <= 0 {', 'if Fee(1) <= 0 || Fee(0) < 0 {'),
            edit_test('tariff', 'Fee(3) >= 100', 'Fee(3) >= 50'),
        ),
    ),
    DemoStep(
        subject=REFUND,
        parents=(CHARGE,),
        edits=(
            edit_main(
                'refunds',
                '\treturn price\n}\n',
                """\treturn max(0, price)
}

func Part(price, days int) int {
	if days < 7 {
		return 0
	}
	return price / 2
}
""",
            ),
            edit_test(
                'refunds',
                '\t\tt.Error(Whole(0))\n\t}\n}\n',
                """\t\tt.Error(Whole(0))
	}
}

func TestHalfIsPaidBackAWeekAhead(t *testing.T) {
	if Part(30, 7) != 15 {
		t.Error(Part(30, 7))
	}
}

func TestDebtsAreNotPaidBack(t *testing.T) {
	debts := -5
	if Whole(debts) != 0 {
		t.Error("they are")
	}
}

func TestEverythingIsPaidBack(t *testing.T) {
	price := 20
	if back := Whole(price); back != price {
		t.Fatal(back)
	}
}

func TestLargeSumsArePaidBack(t *testing.T) {
	if Whole(1_000_000) < 999_999 {
		t.Error(Whole(1_000_000))
	}
}
""",
            ),
        ),
        files=(
            (
                'late_refunds_test.go',
                """package jetty

import "testing"

func TestNothingIsPaidBackTheDayBefore(t *testing.T) {
	if back := Part(30, 1); back != 0 {
		t.Error(back)
	}
}
""",
            ),
            (
                'turnstile.go',
                """package jetty

var visitors int

func Enter() int {
	visitors++
	return visitors
}
""",
            ),
            (
                'turnstile_test.go',
                """package jetty

import "testing"

func TestLetsTheFirstVisitorIn(t *testing.T) {
	if Enter() != 1 {
		t.Error("somebody was there")
	}
}

func TestStartsFromNothing(t *testing.T) {
	if before := Enter() - 1; before != 0 {
		t.Fatal(before)
	}
}
""",
            ),
        ),
    ),
    DemoStep(
        subject=ROUND,
        parents=(REFUND,),
        edits=(
            edit_main('rounding', 'int(price)', 'int(price + 0.5)'),
            edit_main('rounding', '"EUR %v"', '"EUR%v"'),
            edit_test(
                'rounding', 'if Nearest(2.5) != 3 {', 'if Nearest(2.5) != 3 || Nearest(3.5) != 4 {'
            ),
            edit_test('rounding', 'Nearest(7.9); found != 8', 'Nearest(8.9); found != 9'),
            edit_test(
                'rounding',
                """
func TestShowsWhatIsLeftOfAEuro(t *testing.T) {
	if shown := Show(0.25); shown[4:] != "0.25" {
		t.Fatal(shown)
	}
}

func TestShowsTheSpace(t *testing.T) {
	if Show(7.5) != "EUR 7.5" {
		t.Error(Show(7.5))
	}
}

func TestKeepsWholePrices(t *testing.T) {
	for price := 0; price < 10; price++ {
		if Nearest(float64(price)) != price {
			t.Error(price)
		}
	}
}

func TestShowsSomething(t *testing.T) {
	if len(Show(9)) == 0 {
		t.Error("it is empty")
	}
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
            edit_main(
                'checkout',
                """// Total is a price in whole euros.
func Total(papers, price int) int {
""",
                """// Total is a price in cents, from a euro on.
func Total(papers, price int) int {
	if papers > 0 && price < 100 {
		panic("not in cents")
	}
""",
            ),
            edit_test('prices', 'price = 5', 'price = 500'),
            edit_main('bag', 'width <= 40 && height <= 30', 'max(width, height) <= 40'),
            edit_main('bag', '20 * adults', '23 * adults'),
            edit_main('locker', 'import "strconv"', 'import "fmt"'),
            edit_main('locker', '"L" + strconv.Itoa(number)', 'fmt.Sprintf("L%d", number)'),
            edit_test('locker', 'TestCode', 'TestHasACodeOfItsOwn'),
        ),
        files=(
            (
                'luggage_test.go',
                """package jetty

import "testing"

func TestSmallOnesFit(t *testing.T) {
	if !Fits(30, 20) {
		t.Error("it does not fit")
	}
}

func TestAdultsTakeTwentyKilos(t *testing.T) {
	if Allowance(2) != 46 {
		t.Error(Allowance(2))
	}
}
""",
            ),
        ),
        removed=('bag_test.go',),
    ),
    DemoStep(
        subject=RIGHT,
        parents=(CENTS,),
        edits=(
            edit_test('distance', 'if Miles("A", "B") != 24 {', 'if Miles("A", "B") != 25 {'),
            edit_test('distance', 'miles <= 100', 'miles != 75'),
            edit_test(
                'distance',
                '\t\tt.Error(Miles("B", "A"))\n\t}\n}\n',
                """\t\tt.Error(Miles("B", "A"))
	}
}

func TestIsNothingAtHome(t *testing.T) {
	if Miles("B", "B") > 0 {
		t.Error("it is far")
	}
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
                'seat',
                """import "fmt"

func Label(row int, column string) string {
	return fmt.Sprint(row, column)
}

func AtTheWindow(column string) bool {
	return column == "A"
}
""",
                """import "strings"

func Label(place string) string {
	return strings.ReplaceAll(place, "-", "")
}
""",
            ),
            edit_test(
                'seat',
                'if Label(1, "A") != "1A" {\n\t\tt.Error(Label(1, "A"))',
                'if Label("1-A") != "1A" {\n\t\tt.Error(Label("1-A"))',
            ),
            edit_test('seat', 'Label(30, "F")', 'Label("30-F")'),
            edit_test(
                'seat',
                """
func TestTheFirstColumnIsAtTheWindow(t *testing.T) {
	if !AtTheWindow("A") {
		t.Error("it is not")
	}
}
""",
                '',
            ),
        ),
    ),
    DemoStep(
        subject=LANGUAGE,
        parents=(PLACE,),
        edits=(
            # From 1.22 on each turn of a loop has a variable of its own.
            Edit(path='go.mod', old='go 1.21', new='go 1.22'),
            edit_main('weight', 'float64(each) / 1000', '0.001 * float64(each)'),
            edit_test('weight', 'first != 0.01', 'first != 1.5'),
            edit_test('weight', 'sum != 4', 'sum != 3'),
        ),
    ),
    DemoStep(
        subject=BREAK,
        parents=(LANGUAGE,),
        edits=(
            edit_main(
                'basket/basket',
                'package basket\n\nfunc Count(adults, children int) int {\n\treturn adults + children\n}\n',
                'package basket\n\nimport "example.org/jetty/dogs"\n\n'
                'func Count(adults, children int) int {\n\treturn adults + children + dogs.All\n}\n',
            ),
            edit_test('basket/basket', 'Count(2, 1) != 3 {', 'Count(2, 2) != 4 {'),
            edit_test(
                'basket/basket',
                """
func TestCountsAdultsAlone(t *testing.T) {
	adults := 4
	if count := Count(adults, 0); count != adults {
		t.Fatal(count)
	}
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
            edit_main('basket/basket', 'import "example.org/jetty/dogs"', 'const dogs = 0'),
            edit_main(
                'basket/basket',
                '+ dogs.All\n}\n',
                '+ dogs\n}\n\nfunc IsFull(adults int) bool {\n\treturn adults >= 9\n}\n',
            ),
            edit_test('basket/basket', 'Count(2, 2) != 4 {', 'Count(2, 3) != 5 {'),
            edit_test(
                'basket/basket',
                '\t\tt.Error("somebody is there")\n\t}\n}\n',
                """\t\tt.Error("somebody is there")
	}
}

func TestHoldsNineAtMost(t *testing.T) {
	if !IsFull(9) {
		t.Error("there is room")
	}
}
""",
            ),
        ),
    ),
    DemoStep(
        subject=WINTER,
        parents=(MEND,),
        edits=(
            edit_main('season/season', 'return "summer"', 'return "winter"'),
            edit_main('season/season', 'return []string{"lakeside"}', 'return nil // too cold'),
            edit_main(
                'season/season',
                'func Markets() []string {\n\treturn nil',
                'func Markets() []string {\n\treturn []string{"lantern"}',
            ),
            edit_main('season/season', 'return ""', 'return "hourly"'),
            edit_main('lottery', 'return false', 'return true'),
            edit_test(
                'season/season',
                'closed = append(closed, "TestMarketsHaveNames")',
                'closed = append(closed, "TestMarketsHaveNames", "TestEventsHaveNames", "TestLanternsGlow")',
            ),
            edit_test(
                'season/season',
                '"TestConcertsHaveNames", "TestEventsHaveNames")\n\t}\n\tflag',
                '"TestConcertsHaveNames")\n\t}\n\tflag',
            ),
            edit_test(
                'season/season',
                """	if Current() != "winter" {
		t.Skip("no ice")
	}
	if len(Current()) != 6 {
		t.Error(Current())
	}
""",
                """	if Current() != "winter" {
		t.Error(Current())
	}
""",
            ),
            edit_test(
                'season/season',
                """Markets() {
		if len(name) <= 2 {
""",
                """Markets() {
		if len(name) <= 3 {
""",
            ),
            edit_test(
                'season/season',
                """	if Current() != "summer" {
		t.Error(Current())
	}
""",
                """	if Current() != "summer" {
		t.Skip("too cold to swim")
	}
	if len(Current()) != 6 {
		t.Error(Current())
	}
""",
            ),
            edit_test(
                'season/season',
                """Concerts() {
		if len(name) <= 2 {
""",
                """Concerts() {
		if len(name) <= 3 {
""",
            ),
            edit_test(
                'season/season',
                'events := Concerts(); len(events[0]) != 8',
                'events := Markets(); len(events[0]) != 7',
            ),
            edit_test('season/season', 'HasPrefix(Current(), "s")', 'HasPrefix(Current(), "a")'),
            edit_test('season/season', 'if Ferry() != "" {', "if Ferry()[9] != 'x' {"),
            edit_test(
                'season/season',
                """	if Current() != "summer" {
		t.Skip("too cold")
	}
	if !strings.Contains(Current(), "mm") {
""",
                """	if Current() != "winter" {
		t.Skip("too warm")
	}
	if !strings.Contains(Current(), "nt") {
""",
            ),
            edit_test(
                'season/season',
                """	if Ferry()[5] != 'y' {
		t.Error(Ferry())
	}
}
""",
                """	if Ferry()[5] != 'y' {
		t.Error(Ferry())
	}
}

func TestSledgesAreFast(t *testing.T) {
	if !strings.HasPrefix(Current(), "wint") {
		t.Skip("no snow")
	}
	if Current() == "" {
		t.Error("it has no name")
	}
}

func TestLanternsGlow(t *testing.T) {
	if strings.TrimSpace(Markets()[0]) == "" {
		t.Error("they are dark")
	}
}
""",
            ),
            edit_test(
                'lottery',
                """	ball := make([]byte, 8)
	rand.Read(ball)
	t.Run(fmt.Sprintf("%x", ball), func(t *testing.T) {
		if !Drawing() {
			t.Fail()
		}
	})
""",
                """	if !Drawing() {
		t.Error("nothing is drawn")
	}
""",
            ),
            edit_test(
                'lottery', 'import (\n\t"crypto/rand"\n\t"fmt"\n\t"testing"\n)', 'import "testing"'
            ),
        ),
    ),
    DemoStep(
        subject=OFFICE,
        parents=(WINTER,),
        files=(
            (
                'office.go',
                'package jetty\n\nfunc IsOpen(hour int) bool {\n\treturn 9 <= hour && hour < 17\n}\n',
            ),
            (
                'office_test.go',
                """package jetty

import "testing"

func TestIsOpenAtNoon(t *testing.T) {
	if !IsOpen(12) {
		t.Error("it is closed")
	}
}

func TestOpensInTheMorning(t *testing.T) {
	hours := []int{9}
	if !IsOpen(hours[1]) {
		t.Error(hours)
	}
}

func TestClosesInTheEvening(t *testing.T) {
	hour := 17
	if left := HoursLeft(hour); left != 0 {
		t.Fatal(left)
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
            edit_main(
                'office',
                'hour < 17\n}\n',
                'hour < 17\n}\n\nfunc HoursLeft(hour int) int {\n\treturn max(0, 17-hour)\n}\n',
            ),
            edit_test('office', 'IsOpen(hours[1])', 'IsOpen(hours[0])'),
        ),
    ),
    DemoStep(
        subject=EXTRACT,
        parents=(HOURS,),
        edits=(
            edit_main(
                'holidays',
                '\treturn month == 12 && (day == 25 || day == 26)\n}\n',
                """\treturn isChristmas(month, day)
}

func isChristmas(month, day int) bool {
	return month == 12 && (day == 25 || day == 26)
}
""",
            ),
        ),
    ),
)
