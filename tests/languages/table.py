"""The languages that the conformance suite is about, and the one of the tests put into the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coevo.languages import table
from coevo.languages.base import Language
from tests.languages import toy

TOY: Language = toy


@contextmanager
def known_toy() -> Iterator[None]:
    """The toy in the one table that names languages, beside those that are there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(table.LANGUAGES, toy.NAME, TOY)
        yield
