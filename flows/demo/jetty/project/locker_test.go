package jetty

import "testing"

func TestCode(t *testing.T) {
	if Code(7) != "L7" {
		t.Error(Code(7))
	}
}
