"""TAM-Eval's Table I from its published samples: mean coverage and mutation score of the starts.

One row of it has two denominators: scores of languages leave out unknown ones and empty starts, the score of all takes
an unknown one as 0.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

from benchmarks.tam_eval.samples import FOLDER
from coevo.git.repository import Repository

LANGUAGES = ('Python', 'Java', 'Go')
EXPECTED = {
    'coverage': ('50.40', '32.45', '31.70', '37.32'),
    'mutation': ('52.27', '27.50', '43.24', '17.81'),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Percent; `mutation` is None where it is unknown. `is_empty`: whether all of the file is to be written."""

    language: str
    is_empty: bool
    coverage: float
    mutation: float | None


def starts(data: Repository) -> Iterator[Start]:
    tree = data.tree(data.get_commit('HEAD').rev)
    for path in sorted(tree):
        if path.startswith(FOLDER) and path.endswith('.toml'):
            raw = tomllib.loads(data.blob(tree[path].oid).decode())
            rate = raw['coverage']['mutation_kill_rate']
            yield Start(
                language=raw['lang_info']['lang'],
                is_empty=raw['meta']['scenario'] == 'from_scratch',
                coverage=raw['coverage']['coverage'],
                mutation=None if math.isnan(rate) else rate,
            )


def table(found: list[Start]) -> dict[str, tuple[str, ...]]:
    """Of each language and of all, with two decimals."""
    by_language = [[one for one in found if one.language == name] for name in LANGUAGES]
    coverage = [mean(one.coverage for one in some) for some in (*by_language, found)]
    known = [
        [one.mutation for one in some if one.mutation is not None and not one.is_empty]
        for some in by_language
    ]
    mutation = [*map(mean, known), mean(one.mutation or 0.0 for one in found)]
    return {'coverage': _told(coverage), 'mutation': _told(mutation)}


def _told(means: list[float]) -> tuple[str, ...]:
    return tuple(f'{one:.2f}' for one in means)
