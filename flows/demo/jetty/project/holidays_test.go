package jetty

import "testing"

func TestKnowsJanuary(t *testing.T) {
	if IsHoliday(1, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsFebruary(t *testing.T) {
	if IsHoliday(2, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsMarch(t *testing.T) {
	if IsHoliday(3, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsApril(t *testing.T) {
	if IsHoliday(4, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsMay(t *testing.T) {
	if IsHoliday(5, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsJune(t *testing.T) {
	if IsHoliday(6, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsJuly(t *testing.T) {
	if IsHoliday(7, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsAugust(t *testing.T) {
	if IsHoliday(8, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsSeptember(t *testing.T) {
	if IsHoliday(9, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsOctober(t *testing.T) {
	if IsHoliday(10, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsNovember(t *testing.T) {
	if IsHoliday(11, 25) {
		t.Error("it is a holiday")
	}
}

func TestKnowsDecember(t *testing.T) {
	if !IsHoliday(12, 25) {
		t.Error("it is no holiday")
	}
}
