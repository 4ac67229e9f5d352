"""Assertions per test and per line of the target tests of a snapshot, by language.

The reader of assertions of each language counts them in the text of a test at new. Assertions in
helpers that a test calls do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.languages.table import LANGUAGES

if TYPE_CHECKING:
    import duckdb


COLUMNS = ('language', 'tests', 'assertions', 'lines', 'per_test', 'per_line', 'without')

_TARGETS = """
SELECT DISTINCT language, method_id, new_source
FROM methods
WHERE new_source <> '' AND method_id IN (SELECT unnest(method_ids) FROM tasks)
ORDER BY ALL"""


def list_assertion_densities_by_language(
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[tuple[str, int, int, int, float, float, int]]:
    """Yield a row of `COLUMNS` for each language, sorted; nothing where texts are withheld.

    `lines` are lines that are not blank; `without` is the number of tests without an assertion. A
    language without a reader of assertions has no row.
    """
    texts: dict[str, list[str]] = {}
    for language, _, text in connection.execute(_TARGETS).fetchall():
        texts.setdefault(language, []).append(text)
    for language, sources in texts.items():
        reader = LANGUAGES[language].MEASURES.assertions if language in LANGUAGES else None
        if reader is not None:
            counts = [len(reader.list_assertions(source)) for source in sources]
            lines = sum(bool(line.strip()) for source in sources for line in source.splitlines())
            total = sum(counts)
            per_line = round(total / max(lines, 1), 4)
            yield (
                language,
                len(sources),
                total,
                lines,
                round(total / len(sources), 2),
                per_line,
                counts.count(0),
            )
