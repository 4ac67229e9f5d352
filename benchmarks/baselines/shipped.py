"""Write the results of evaluations as `snapshots/` ships them: without what processes printed.

    python -m benchmarks.baselines.shipped RESULTS OUT

What a test prints can show code of others, and no figure rests on it. The report stays the same.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.refusals import print_fatal
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import load_results, load_suites, write_results
from coevo.model.errors import Fatal


def ship_results(results: Path, out: Path) -> None:
    """Write the rows of an evaluation without its outputs, and its report.

    Raises: Fatal if it has suites, whose rows say more.
    """
    if load_suites(results):
        raise Fatal(f'{results} has suites; evaluate the tasks of co-evolution alone')
    rows = load_results(results)
    quiet = [dataclasses.replace(row, said='', output='') for row in rows]
    out.mkdir(parents=True, exist_ok=True)
    write_results(out, quiet)
    write_report(out, quiet)


def main(words: Sequence[str]) -> int:
    """Return 0 if the results were written, 2 if there are none."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('results', type=Path)
    parser.add_argument('out', type=Path)
    arguments = parser.parse_args(words)
    with print_fatal('baselines'):
        ship_results(arguments.results, arguments.out)
    print(f'{arguments.out}: written')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
