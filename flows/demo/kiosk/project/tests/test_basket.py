from kiosk import basket


def test_counts_everybody():
    assert basket.count(2, 1) == 3


def test_counts_nobody():
    nobody = 0
    assert basket.count(nobody, nobody) == nobody


def test_counts_adults_alone():
    adults = 4
    assert basket.count(adults, 0) == adults
