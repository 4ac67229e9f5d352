from pier.fares import luggage, price


def test_each_zone_has_its_price():
    assert price(1) == 2
    assert price(2) == 4


def test_a_longer_way_costs_more():
    assert price(3) > price(2)


def test_luggage_is_counted_by_five_kilos():
    assert luggage(5) == 1
    assert luggage(10) == 2


def test_kilos_that_are_begun_count():
    assert luggage(11) == 2
