"""A campaign of faults: does what they leave show in the snapshot that comes after?

    python -m benchmarks.faults run LANGUAGE COUNT SEED FOLDER OUT.csv      adds rows; kinds in turn
    python -m benchmarks.faults prefect LANGUAGE COUNT SEED FOLDER OUT.csv  the same, mining under a server
    python -m benchmarks.faults sum OUT.csv                                 the table

Each run is a month in small (crawl, mine, release, `tests/faults/`) that is disturbed, then run again.
LANGUAGE is java, or the tests' toy, of which a run costs a tenth and tells as much of everything but JVMs.
It is survived if the second run ends well, its snapshot has the bytes of an undisturbed one, and
neither a process nor a work folder is left. Disks that are too small need root. Under a Prefect
server, a flow run mines; the reaper or a new run does it again, and no claim may be left either.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.tables import Row, append_rows, print_table, read_rows
from tests.faults.chain import ACTORS, STEPS, Actor, Chain, Stage, same, staged
from tests.faults.kinds import KINDS
from tests.faults.prefect_kinds import KINDS as PREFECT_KINDS
from tests.faults.prefect_scene import Hub, hub, scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One disturbed run; lists are joined by blanks."""

    seed: str
    language: str
    kind: str
    done: str
    left_running: str
    rerun: str
    differing: str
    survived: bool


def run_campaign(actor: Actor, count: int, seed: str, folder: Path, out: Path) -> None:
    with staged(_make_folder(folder), actor) as stage:
        whole = run_undisturbed(stage)
        for number in range(count):
            kind = list(KINDS)[number % len(KINDS)]
            _keep(out, run_disturbed(stage, whole, kind, f'{seed}-{number}'))


def run_campaign_under_prefect(
    actor: Actor, count: int, seed: str, folder: Path, out: Path
) -> None:
    with staged(_make_folder(folder), actor) as stage, hub(folder / 'live') as server:
        whole = run_undisturbed(stage)
        for number in range(count):
            kind = list(PREFECT_KINDS)[number % len(PREFECT_KINDS)]
            _keep(out, run_disturbed_under_prefect(server, whole, kind, f'{seed}-{number}'))


def run_undisturbed(stage: Stage) -> Chain:
    """Run what nothing happens to; how long its steps take is when faults are to strike."""
    whole = Chain(stage=stage, folder=stage.folder / 'undisturbed')
    for step in STEPS:
        began = time.monotonic()
        assert whole.run(step) == 0, (whole.folder / 'log').read_text()
        stage.lengths[step] = time.monotonic() - began
    assert (
        pq.read_metadata(whole.snapshot / 'data/tasks/update.parquet').num_rows == stage.actor.pairs
    )
    return whole


def run_disturbed(stage: Stage, whole: Chain, kind: str, seed: str) -> Outcome:
    """Run once with a fault, and the run after it; its folder is kept where it was not survived."""
    chain = Chain(stage=stage, folder=stage.folder / seed)
    chain.folder.mkdir()
    done = KINDS[kind](chain, random.Random(seed))
    left = chain.left_running()
    statuses = chain.run_all()
    return _compare(
        whole,
        chain,
        kind=kind,
        done=done,
        left=left,
        rerun=' '.join(map(str, statuses)),
        ended_well=not any(statuses),
    )


def run_disturbed_under_prefect(server: Hub, whole: Chain, kind: str, seed: str) -> Outcome:
    """Do the same with a flow run that mines; the release after it is a command."""
    chain = Chain(stage=whole.stage, folder=whole.stage.folder / seed)
    chain.folder.mkdir()
    with scene(chain, server) as open_scene:
        done = PREFECT_KINDS[kind](open_scene, random.Random(seed))
        try:
            rerun = open_scene.finish()
        except AssertionError as error:
            rerun = str(error)
        left = chain.left_running(but=open_scene.worker.pid)
        open_scene.stop_worker()
        left += [*chain.left_running(), *open_scene.claims()]
    released = chain.run('release')
    return _compare(
        whole,
        chain,
        kind=kind,
        done=done,
        left=left,
        rerun=f'{rerun}; release {released}',
        ended_well=': 1 done, ' in rerun and not released,
    )


def _compare(
    whole: Chain,
    chain: Chain,
    *,
    kind: str,
    done: str,
    left: Sequence[str],
    rerun: str,
    ended_well: bool,
) -> Outcome:
    """Compare what shows after the second run; its folder goes where nothing does."""
    differing = same(whole, chain)
    folders = [path.name for path in chain.work.iterdir()]
    survived = ended_well and not (left or folders or differing)
    if survived:
        shutil.rmtree(chain.folder)
    return Outcome(
        seed=chain.folder.name,
        language=chain.stage.actor.name,
        kind=kind,
        done=done,
        left_running=' '.join((*left, *folders)),
        rerun=rerun,
        differing=' '.join(differing),
        survived=survived,
    )


def _make_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _keep(out: Path, outcome: Outcome) -> None:
    print(outcome.kind, outcome.done, outcome.survived, flush=True)
    append_rows(out, [asdict(outcome)])


def count_survivors(rows: list[Row]) -> Iterator[tuple[str, str, str, str]]:
    """Count, by kind and language, runs and those that were survived."""
    runs = Counter((row['kind'], row['language']) for row in rows)
    good = Counter((row['kind'], row['language']) for row in rows if row['survived'] == 'True')
    for (kind, language), count in sorted(runs.items()):
        yield kind, language, str(count), str(good[kind, language])
    yield 'all', '', str(runs.total()), str(good.total())


def main() -> None:
    match sys.argv[1:]:
        case ['run' | 'prefect' as how, language, count, seed, folder, out] if language in ACTORS:
            campaign = run_campaign if how == 'run' else run_campaign_under_prefect
            campaign(ACTORS[language], int(count), seed, Path(folder).absolute(), Path(out))
        case ['sum', out]:
            print_table(
                ('fault', 'language', 'runs', 'survived'), count_survivors(read_rows(Path(out)))
            )
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main()
