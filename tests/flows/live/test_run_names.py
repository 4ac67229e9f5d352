"""Names of flow runs, as Prefect's page lists them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from flows.live.run_names import describe_run

PRESENT = datetime(2026, 8, 3, 12, tzinfo=UTC)
MANY = [f'ada/r{number}' for number in range(1, 9)]


@pytest.mark.parametrize(
    ('flow', 'parameters', 'name'),
    [
        ('mine', {'repositories': ['ada/r1'], 'month': None}, 'mine ada/r1'),
        (
            'mine',
            {'repositories': MANY, 'month': '2026-07'},
            'mine ada/r1 and 7 more until 2026-07',
        ),
        ('validate', {'repositories': MANY}, 'validate ada/r1 and 7 more'),
        ('validate', {'repositories': []}, 'validate nothing'),
        ('release', {'month': None, 'name': None}, 'release 2026-07'),
        ('release', {'month': '2026-05', 'name': None}, 'release 2026-05'),
        ('crawl', {'profile': 'testevo'}, 'crawl testevo'),
        ('crawl', {'profile': ['testevo', 'testevo-go']}, 'crawl testevo, testevo-go'),
        ('spread', {'verb': 'mine'}, 'spread mine'),
        ('measure', {'repository': None}, 'measure all repositories'),
        ('reverify', {'repository': 'ada/r1'}, 'reverify ada/r1'),
        (
            'evaluate-part',
            {'number': 2, 'parts': 4, 'predictions': 'gold', 'snapshot': '/s/2026-07'},
            'evaluate-part 2 of 4, gold on /s/2026-07',
        ),
        ('another', {}, 'another'),
    ],
)
def test_run_is_named_by_its_subject(flow: str, parameters: dict[str, Any], name: str) -> None:
    assert describe_run(flow, parameters, PRESENT) == name


def test_name_of_a_run_shows_no_credentials() -> None:
    parameters = {'repositories': ['https://ada:secret@example.org/a/b.git'], 'month': None}
    assert 'secret' not in describe_run('mine', parameters, PRESENT)
