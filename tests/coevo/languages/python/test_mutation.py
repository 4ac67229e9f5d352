"""Mutants of Python are of what is run: none are of the texts and comments beside it."""

from __future__ import annotations

from coevo.languages.python.assertions import MUTATION

SOURCE = b'''\
"""A till, and what it takes."""

RATE = 7  # percent, or so


def price(each, count):
    """The price of some, and of one.

    True or False, 1 + 1 == 2
    """
    # each and every one
    text = """each and
    count"""
    if count > 10 and text: "on one line or two"
    return each * count
'''


def test_documenting_lines_are_found() -> None:
    assert MUTATION.find_documenting_lines(SOURCE) == {1, *range(7, 12)}


def test_documenting_lines_are_not_mutated() -> None:
    found = MUTATION.make_mutants(SOURCE, range(1, 17))
    assert {one.line for one in found} == {3, 6, 12, 13, 14, 15}
    assert MUTATION.find_documenting_lines(b'def broken(:\n    "or"\n\xff') == {2}


def test_comment_markers_of_other_languages_hide_no_mutants() -> None:
    source = b"accept = '*/*'\nsigns = {-1: 'no', 1: 'yes'}\n# @BEGIN_TEST_CODE\ntotal = 1 + 2\n"
    assert {one.line for one in MUTATION.make_mutants(source, range(1, 5))} == {4}
