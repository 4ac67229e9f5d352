import six

from kiosk.weight import kilograms


def test_converts_grams():
    assert [six.text_type(kilograms(grams)) for grams in (1500,)] == ['1.5']


def test_converts_few_grams():
    assert six.text_type(kilograms(10)) == '0.01'
