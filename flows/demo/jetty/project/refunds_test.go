package jetty

import "testing"

func TestNothingComesOfNothing(t *testing.T) {
	if Whole(0) != 0 {
		t.Error(Whole(0))
	}
}
