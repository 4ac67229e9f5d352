from __future__ import annotations

import pytest

from coevo.model import licences


@pytest.mark.parametrize(
    ('expression', 'good'),
    [
        ('MIT', True),
        ('GPL-3.0-only', True),
        ('CC0-1.0', False),  # free, and not approved
        ('WTFPL', False),
        ('MIT OR WTFPL', True),
        ('MIT AND WTFPL', False),
        ('WTFPL AND MIT OR EPL-2.0', True),
        ('', False),
    ],
)
def test_a_licence_expression_is_approved_if_the_osi_approves_it(
    expression: str, good: bool
) -> None:
    assert licences.is_approved(expression) is good


def test_an_additionally_accepted_licence_is_approved() -> None:
    assert licences.is_approved('CC0-1.0', ['CC0-1.0'])
    assert not licences.is_approved('CC0-1.0 AND WTFPL', ['CC0-1.0'])


@pytest.mark.parametrize(
    ('name', 'id'),
    [
        ('Apache License, Version 2.0', 'Apache-2.0'),
        ('The Apache License 2', 'Apache-2.0'),
        ('apache-2.0', 'Apache-2.0'),
        ('The MIT License (MIT)', 'MIT'),
        ('Eclipse Public License - v 2.0', 'EPL-2.0'),
        ('GNU Lesser General Public License v2.1', 'LGPL-2.1'),
        ('GNU General Public License, Version 3', 'GPL-3.0'),
        ('LGPL-3.0-or-later', 'LGPL-3.0-or-later'),
        ('BSD', None),  # which of them?
        ('GPL', None),
        ('Proprietary', None),
        ('', None),
    ],
)
def test_common_licence_names_map_to_spdx_ids(name: str, id: str | None) -> None:
    assert licences.find_id_by_name(name) == id


def test_every_id_in_the_licence_name_table_is_spelled_as_in_spdx() -> None:
    """A typing error would make an approved licence look like none."""
    table = licences._load_table()
    ids = {*table.names.values(), *(item.id for item in table.sentences)}
    assert ids - table.osi == {'CC0-1.0', 'CC-BY-4.0', 'WTFPL'}
    assert all(licences.normalise_name(name) == name for name in table.names)
