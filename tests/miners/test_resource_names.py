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


@pytest.mark.parametrize(
    'literal',
    [
        *('./testdata', '../testdata/in/', '../../testdata/in/a1.txt', './a1.txt'),
        *('testdata/in/%s.txt', '%03d.txt', 'in/{}.txt', 'in/{name}.txt'),
        *('in/a?.txt', 'testdata/**/*.txt', 'testdata/in/**/a?.txt'),
    ],
)
def test_way_to_a_resource_and_places_for_values_do_not_hide_its_name(literal: str) -> None:
    assert is_named_by_literal(get_reading('go'), 'a/b/testdata/in/a1.txt', literal)


@pytest.mark.parametrize(
    'literal', ['../..', './.', '%s', '%s/%d', '{}/{}', 'in/%s.json', '50% off', 'a.txt?', '../out']
)
def test_value_without_a_name_and_another_path_name_no_resource(literal: str) -> None:
    assert not is_named_by_literal(get_reading('go'), 'a/b/testdata/in/a1.txt', literal)
