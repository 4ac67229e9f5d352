package jetty

import "testing"

func TestLabelsTheFirstRow(t *testing.T) {
	if Label(1, "A") != "1A" {
		t.Error(Label(1, "A"))
	}
}

func TestLabelsHighRows(t *testing.T) {
	if label := Label(30, "F"); label != "30F" {
		t.Fatal(label)
	}
}

func TestTheFirstColumnIsAtTheWindow(t *testing.T) {
	if !AtTheWindow("A") {
		t.Error("it is not")
	}
}
