"""The table of a snapshot's label sets.

python -m benchmarks.identification SNAPSHOT RESULTS.csv [--walk parents]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.identification.rows import read_rows
from benchmarks.identification.table import table
from benchmarks.tables import write
from coevo.model.words import Walk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('snapshot', type=Path)
    parser.add_argument('results', type=Path)
    parser.add_argument('--walk', type=Walk, default=Walk.PARENTS)
    arguments = parser.parse_args()
    found = list(table(read_rows(arguments.snapshot, arguments.walk)))
    write(arguments.results, found)
    for row in found:
        print(
            f'trained on {row["train"]}, tested on {row["test"]}: F1 {row["f1"]} '
            f'[{row["f1_low"]}, {row["f1_high"]}], precision {row["precision"]}, recall {row["recall"]}'
        )


if __name__ == '__main__':
    main()
