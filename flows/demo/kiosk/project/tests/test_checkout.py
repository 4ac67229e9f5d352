from kiosk.checkout import total


def test_adds_up_papers(price):
    assert total(3, price) == 3 * price


def test_one_paper_costs_its_price(price):
    assert total(1, price) == price


def test_an_empty_basket_is_free(price):
    assert total(0, price) == 0


def test_nobody_pays_for_nothing(price):
    papers = 0
    assert not total(papers, price)
