package jetty

import (
	"strings"
	"testing"
)

func TestRoundsHalvesUp(t *testing.T) {
	if Nearest(2.5) != 3 {
		t.Error(Nearest(2.5))
	}
}

func TestRoundsNinesUp(t *testing.T) {
	if found := Nearest(7.9); found != 8 {
		t.Fatal(found)
	}
}

func TestShowsTheCurrencyFirst(t *testing.T) {
	if !strings.HasPrefix(Show(5), "EUR") {
		t.Error(Show(5))
	}
}

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
