"""Old bodies behind new signatures, and plain values, in Python."""

from __future__ import annotations

import ast

import pytest

from coevo.languages.python.surgery import undo
from coevo.model.dependencies import Revised
from tests.languages.located import located

PATH = 'till.py'
NEW = '''\
import contextlib

LIMIT = 5
NAMES = make()


class Till:
    def __init__(self, fee):
        super().__init__()
        self.fee = fee

    def price(self, n, rate=2):  # in cents
        """Doc."""
        return n * rate

    @property
    def name(self): return 'x' + self.fee

    def is_open(self, hour) -> bool:
        return hour > self.fee

    def coins(self):
        for coin in self.fee:
            yield coin

    @contextlib.contextmanager
    def opened(self):
        yield self

    def close(self):
        self.fee = None

    def itself(self):
        return self


def find(text, *others):
    found = []
    return found


def load(text: 'str | None') -> Shop:
    return unknown(text)
'''
OLD = """\
import math
import sys


class Till:
    def price(self, count):
        if count:
            return (count
                * math.pi)
        return 0

    def is_open(self, hour, day):
        return day

    def close(self):
        self.gone()

    def gone(self):
        pass


def find(text):
    return helper(text)


def load(text):
    return sys.path


def helper(text):
    pass
"""


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('Till.price', [": return ''", ': return n', ': return 0']),
        ('Till.name', [": return ''", ": return '?'"]),
        ('Till.is_open', [': return False', ': return hour', ': return True']),
        ('Till.coins', [': if False: yield']),
        ('Till.opened', [': yield None']),
        ('Till.close', [': return None']),
        ('Till.itself', [': return self']),
        ('Till.Till', [': super().__init__(); self.fee = None']),
        ('find', [': return []', ': return text']),
        ('load', [": return ''", ': return 0']),
        ('LIMIT', [' = 0', ' = 1']),
        ('NAMES', []),
    ],
)
def test_plain_values_are_of_the_type_that_is_returned(name: str, expected: list[str]) -> None:
    versions = undo.list_versions_with_plain_values(located('python', PATH, NEW, name))

    assert [version.written for version in versions] == expected
    for version in versions:
        ast.parse(version.source)


def test_plain_body_keeps_docstring_and_head() -> None:
    first = undo.list_versions_with_plain_values(located('python', PATH, NEW, 'Till.price'))[0]

    body = '        """Doc."""\n        return n * rate\n'
    assert first.source.decode() == NEW.replace(body, body.replace('n * rate', "''"))


def test_old_body_stands_behind_the_new_signature_with_its_imports() -> None:
    made = undo.restore_body_under_new_signature(
        *(located('python', PATH, text, 'Till.price') for text in (OLD, NEW))
    )

    assert made is not None
    text = made.decode()
    assert 'import math\n' in text
    assert 'def price(self, n, rate=2):  # in cents\n        count = n\n        if count:' in text
    ast.parse(text)


@pytest.mark.parametrize('name', ['Till.is_open', 'Till.close', 'find'])
def test_old_body_that_would_only_raise_is_left_out(name: str) -> None:
    """A parameter, an attribute or a helper of it is gone."""
    old, new = (located('python', PATH, text, name) for text in (OLD, NEW))

    assert undo.restore_body_under_new_signature(old, new) is None
    assert undo.undo_member(Revised.MODIFIED, old, new) is None
