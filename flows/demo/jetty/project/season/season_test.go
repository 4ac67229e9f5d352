package season

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// TestMain leaves out what there is nothing for.
func TestMain(m *testing.M) {
	var closed []string
	if len(Markets()) == 0 {
		closed = append(closed, "TestMarketsHaveNames")
	}
	if len(Concerts()) == 0 {
		closed = append(closed, "TestConcertsHaveNames", "TestEventsHaveNames")
	}
	flag.Parse()
	flag.Set("test.skip", "^("+strings.Join(closed, "|")+")$")
	os.Exit(m.Run())
}

func TestSkatingStarts(t *testing.T) {
	if Current() != "winter" {
		t.Skip("no ice")
	}
	if len(Current()) != 6 {
		t.Error(Current())
	}
}

func TestMarketsHaveNames(t *testing.T) {
	for _, name := range Markets() {
		if len(name) <= 2 {
			t.Error(name)
		}
	}
}

func TestSwimmingStarts(t *testing.T) {
	if Current() != "summer" {
		t.Error(Current())
	}
}

func TestConcertsHaveNames(t *testing.T) {
	for _, name := range Concerts() {
		if len(name) <= 2 {
			t.Fatal(name)
		}
	}
}

func TestEventsHaveNames(t *testing.T) {
	if events := Concerts(); len(events[0]) != 8 {
		t.Error(events)
	}
}

func TestHasAName(t *testing.T) {
	if !strings.HasPrefix(Current(), "s") {
		t.Error("it has none")
	}
}

func TestFerryRuns(t *testing.T) {
	if Ferry() != "" {
		t.Error(Ferry())
	}
}

func TestHatsAreWorn(t *testing.T) {
	if Current() != "summer" {
		t.Skip("too cold")
	}
	if !strings.Contains(Current(), "mm") {
		t.Error(Current())
	}
}

func TestWinterHasCome(t *testing.T) {
	if season := Current(); season != "winter" {
		t.Fatal(season)
	}
}

func TestFerryIsHourly(t *testing.T) {
	if Ferry()[5] != 'y' {
		t.Error(Ferry())
	}
}
