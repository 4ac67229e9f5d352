package jetty

import "testing"

func TestSmallOnesFit(t *testing.T) {
	if !Fits(30, 20) {
		t.Error("it does not fit")
	}
}

func TestAdultsTakeTwentyKilos(t *testing.T) {
	if Allowance(2) != 40 {
		t.Error(Allowance(2))
	}
}
