package jetty

import "testing"

func TestAddsUpPapers(t *testing.T) {
	if Total(3, price) != 3*price {
		t.Error(Total(3, price))
	}
}

func TestOnePaperCostsItsPrice(t *testing.T) {
	if total := Total(1, price); total != price {
		t.Fatal(total)
	}
}

func TestAnEmptyBasketIsFree(t *testing.T) {
	if Total(0, price) != 0 {
		t.Error("it costs something")
	}
}

func TestNobodyPaysForNothing(t *testing.T) {
	papers := 0
	if total := Total(papers, price); total > 0 {
		t.Fatal(total)
	}
}
