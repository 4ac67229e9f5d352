"""Which literals of a test name a resource."""

from __future__ import annotations

import pytest

from coevo.languages.table import get_reading
from miners.diffs.resources import is_named_by_literal


@pytest.mark.parametrize(
    ('literal', 'is_name'),
    [
        ('rates/*.csv', True),
        ('rates.csv', True),
        ('*/*', False),
        ('**/*', False),
        ('****', False),
    ],
)
def test_literal_of_wildcards_alone_names_no_resource(literal: str, is_name: bool) -> None:
    path = 'src/test/resources/rates/rates.csv'
    assert is_named_by_literal(get_reading('java'), path, literal) is is_name
