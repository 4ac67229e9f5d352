package jetty

import "testing"

func TestChargesForOneHour(t *testing.T) {
	if Fee(1) != 2 {
		t.Error(Fee(1))
	}
}

func TestChargesForManyHours(t *testing.T) {
	if fee := Fee(10); fee != 20 {
		t.Fatal(fee)
	}
}

func TestIsNeverFree(t *testing.T) {
	if Fee(1) <= 0 {
		t.Error("it is free")
	}
}

func TestIsAffordable(t *testing.T) {
	if Fee(3) >= 100 {
		t.Error("who pays that?")
	}
}

func TestGrowsWithTheHours(t *testing.T) {
	if Fee(2) <= Fee(1) {
		t.Error(Fee(2))
	}
}

func TestIsTheSameEveryTime(t *testing.T) {
	if one, two := Fee(5), Fee(5); one != two {
		t.Error(one, two)
	}
}

func TestIsEven(t *testing.T) {
	if Fee(3)%2 != 0 {
		t.Error("it is odd")
	}
}

func TestIsProportional(t *testing.T) {
	if Fee(4) != 2*Fee(2) {
		t.Error(Fee(4))
	}
}
