package basket

import "testing"

func TestCountsEverybody(t *testing.T) {
	if Count(2, 1) != 3 {
		t.Error(Count(2, 1))
	}
}

func TestCountsNobody(t *testing.T) {
	nobody := 0
	if Count(nobody, nobody) != nobody {
		t.Error("somebody is there")
	}
}

func TestCountsAdultsAlone(t *testing.T) {
	adults := 4
	if count := Count(adults, 0); count != adults {
		t.Fatal(count)
	}
}
