package jetty

import "testing"

func TestMeasuresOneLeg(t *testing.T) {
	if Miles("A", "B") != 24 {
		t.Error(Miles("A", "B"))
	}
}

func TestMeasuresALongWay(t *testing.T) {
	if miles := Miles("A", "D"); miles <= 100 {
		t.Fatal(miles)
	}
}

func TestGoesBothWays(t *testing.T) {
	if Miles("B", "A") != Miles("A", "B") {
		t.Error(Miles("B", "A"))
	}
}
