"""Answers of queries in the formats that `coevo query` prints."""

from __future__ import annotations

import json

import duckdb
import pytest

from coevo.display import presentation
from coevo.display.presentation import FORMATS, render_answer
from coevo.model.errors import Fatal


@pytest.mark.parametrize('format', list(FORMATS))
def test_an_answer_beyond_the_limit_is_refused_before_it_is_held(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand million rows would take all memory: no more than the first of them are fetched."""
    monkeypatch.setattr(presentation, 'MOST_BYTES', 1 << 20)
    with pytest.raises(Fatal, match='larger than 1 MiB; add a condition or a LIMIT'):
        render_answer(duckdb.sql('FROM range(1000000000)'), format)


def test_an_answer_without_rows_keeps_its_columns() -> None:
    nothing = "SELECT 1 AS number, 'a' AS text WHERE false"
    assert render_answer(duckdb.sql(nothing), 'csv') == b'number,text\n'
    assert json.loads(render_answer(duckdb.sql(nothing), 'json')) == []


def test_times_and_missing_values_are_written_as_text() -> None:
    rows = "SELECT TIMESTAMPTZ '2026-06-01 12:00:00+00' AS at, NULL AS missing, [1, 2] AS several"
    assert render_answer(duckdb.sql(rows), 'csv') == (
        b'at,missing,several\n2026-06-01T12:00:00Z,,"[1, 2]"\n'
    )
