"""A campaign of faults: does what they leave show in the snapshot that comes after?

    python -m benchmarks.faults run COUNT SEED FOLDER OUT.csv   adds rows; kinds in turn
    python -m benchmarks.faults sum OUT.csv                     the table

Each run is a month in small (crawl, mine, release, `tests/faults/`) that is disturbed, then run again.
It is survived if the second run ends well, its snapshot has the bytes of an undisturbed one, and
neither a process nor a work folder is left. Disks that are too small need root.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import tables
from benchmarks.funnel import print_table
from tests.faults.chain import PAIRS
from tests.faults.chain import STEPS
from tests.faults.chain import Chain
from tests.faults.chain import Stage
from tests.faults.chain import same
from tests.faults.chain import staged
from tests.faults.kinds import KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One disturbed run; lists are joined by blanks."""

    seed: str
    kind: str
    done: str
    left_running: str
    rerun: str
    differing: str
    survived: bool


def run(count: int, seed: str, folder: Path, out: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with staged(folder) as stage:
        whole = Chain(stage=stage, folder=folder / 'undisturbed')
        assert whole.run_all() == (0,) * len(STEPS), (whole.folder / 'log').read_text()
        assert pq.read_metadata(whole.snapshot / 'data/tasks/update.parquet').num_rows == PAIRS
        for number in range(count):
            kind = list(KINDS)[number % len(KINDS)]
            outcome = disturbed(stage, whole, kind, f'{seed}-{number}')
            print(outcome.kind, outcome.done, outcome.survived, flush=True)
            tables.append(out, [asdict(outcome)])


def disturbed(stage: Stage, whole: Chain, kind: str, seed: str) -> Outcome:
    """One run with its fault, and the run after it; its folder is kept where it was not survived."""
    chain = Chain(stage=stage, folder=stage.folder / seed)
    chain.folder.mkdir()
    done = KINDS[kind](chain, random.Random(seed))
    left = chain.left_running()
    statuses = chain.run_all()
    differing = same(whole, chain)
    folders = [path.name for path in chain.work.iterdir()]
    survived = not (any(statuses) or left or folders or differing)
    if survived:
        shutil.rmtree(chain.folder)
    return Outcome(
        seed=seed,
        kind=kind,
        done=done,
        left_running=' '.join((*left, *folders)),
        rerun=' '.join(map(str, statuses)),
        differing=' '.join(differing),
        survived=survived,
    )


def summed(rows: list[tables.Row]) -> Iterator[tuple[str, str, str]]:
    """Kind, runs, survived."""
    runs = Counter(row['kind'] for row in rows)
    good = Counter(row['kind'] for row in rows if row['survived'] == 'True')
    for kind, count in sorted(runs.items()):
        yield kind, str(count), str(good[kind])
    yield 'all', str(runs.total()), str(good.total())


def main() -> None:
    match sys.argv[1:]:
        case ['run', count, seed, folder, out]:
            run(int(count), seed, Path(folder).absolute(), Path(out))
        case ['sum', out]:
            print_table(('fault', 'runs', 'survived'), summed(tables.read(Path(out))))
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main()
