"""How many functions and packages of clones are units of tasks, as far as text tells.

    python -m benchmarks.code_units LANGUAGE CLONE…

A row for each clone at its head: what leaves for which reason before any test is run, and what is left.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES, get_reading
from coevo.model.families import UNIT_FAMILIES, Family
from coevo.model.profiles import load_profile
from coevo.model.reasons import Reason
from miners.units import list_code_units

COLUMNS: tuple[tuple[Family, Reason | None], ...] = (
    (Family.FUNCTION, Reason.TOO_SIMPLE),
    (Family.FUNCTION, None),
    (Family.MODULE, Reason.TOO_FEW_FILES),
    (Family.MODULE, Reason.TOO_MANY_FILES),
    (Family.MODULE, Reason.TOO_MANY_LINES),
    (Family.MODULE, None),
)


def counts(clone: Path, language: str) -> tuple[str, Counter[tuple[Family, Reason | None]]]:
    """The revision, and its units by family and reason."""
    repository = Repository(clone)
    rev = repository.run_command('rev-parse', 'HEAD').decode().strip()
    tree = get_reading(language).open_tree(repository, rev)
    units = list_code_units(tree, language, UNIT_FAMILIES, load_profile('default'))
    return rev, Counter((one.family, one.reason) for one in units)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('language', choices=sorted(LANGUAGES))
    parser.add_argument('clones', nargs='+', type=Path)
    arguments = parser.parse_args(words)
    names = (f'{family} {reason or "left"}' for family, reason in COLUMNS)
    print(' | '.join(('clone', 'revision', *names)))
    for clone in arguments.clones:
        rev, found = counts(clone, arguments.language)
        print(' | '.join((str(clone), rev[:8], *(str(found[one]) for one in COLUMNS))))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
