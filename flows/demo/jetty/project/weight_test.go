package jetty

import "testing"

func TestWeighsTheFirstBag(t *testing.T) {
	if first := Scales([]int{1500, 10})[0](); first != 0.01 {
		t.Error(first)
	}
}

func TestWeighsEachBag(t *testing.T) {
	sum := 0.0
	for _, weight := range Scales([]int{1000, 2000}) {
		sum += weight()
	}
	if sum != 4 {
		t.Fatal(sum)
	}
}
