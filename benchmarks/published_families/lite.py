"""ULT's published selection: how complex its functions are, and how many of its 1,000 asserts hold.

Each assert runs in a process of its own in the sandbox, with the packages of this checkout.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import lizard
import numpy

from benchmarks.published_families import lite_cell
from coevo.git.repository import Repository
from coevo.sandboxes.sandbox import Job, Limits, Mount, Sandbox, open_sandbox

PATH = 'datasets/ULT_Lite.jsonl'
EXPECTED = {
    'correct': '145 of 1000',
    'functions by correct asserts': '0:118 1:45 2:23 3:7 4:2 5:5',
    'complexity': '10 14.94 59',
}
# Some functions draw by chance: what holds in one run need not hold in the next.
RUNS = 3
_LIMITS = Limits(
    cpu_seconds=3600,
    wall_seconds=3600,
    memory_bytes=8 << 30,
    processes=256,
    file_bytes=1 << 26,
    disk_bytes=1 << 28,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    name: str
    code: str
    asserts: tuple[str, ...]

    @property
    def complexity(self) -> int:
        """Lizard's, with that of the functions inside of it."""
        found = lizard.analyze_file.analyze_source_code('a.py', self.code).function_list
        return sum(one.cyclomatic_complexity for one in found)


def functions(data: Repository) -> tuple[Function, ...]:
    tree = data.tree(data.get_commit('HEAD').rev)
    raw = json.loads(data.blob(tree[PATH].oid))
    return tuple(
        Function(name=one['func_name'], code=one['code'], asserts=tuple(one['test_list']))
        for one in raw
    )


def table(found: Sequence[Function]) -> dict[str, str]:
    runs = [list(ran(found)) for _ in range(RUNS)]
    outcomes = runs[-1]
    correct = [sum(one == 'pass' for one in some) for some in outcomes]
    passed = [sum(one == 'pass' for some in each for one in some) for each in runs]
    by_chance = [one.name for one, *ends in zip(found, *runs, strict=True) if len(set(ends)) > 1]
    counts = Counter(correct)
    complexity = [one.complexity for one in found]
    failures = Counter(one for some in outcomes for one in some if one != 'pass')
    return {
        'correct': f'{", ".join(map(str, passed))} of {sum(map(len, outcomes))}',
        'functions that draw by chance': ' '.join(by_chance),
        'functions by correct asserts': ' '.join(f'{n}:{counts[n]}' for n in sorted(counts)),
        'complexity': f'{min(complexity)} {mean(complexity):.2f} {max(complexity)}',
        'failures': ' '.join(f'{name}:{count}' for name, count in failures.most_common(5)),
    }


def ran(found: Sequence[Function]) -> Iterator[tuple[str, ...]]:
    """What each assert of each function comes to: `pass`, or the name of an exception."""
    packages = Path(numpy.__file__).parents[1]
    with tempfile.TemporaryDirectory(prefix='coevo-') as name, closing(_sandbox()) as sandbox:
        folder = Path(name)
        folder.chmod(0o755)
        asked = [[one.code, list(one.asserts)] for one in found]
        (folder / 'asked.json').write_text(json.dumps(asked))
        (folder / 'cell.py').write_bytes(Path(lite_cell.__file__).read_bytes())
        job = Job(
            argv=('/usr/bin/python3', '-B', '/in/cell.py', '/in/asked.json'),
            limits=_LIMITS,
            mounts=(
                Mount(source=folder, target='/in'),
                Mount(source=packages, target='/packages'),
            ),
            environment={'PYTHONPATH': '/packages', 'PYTHONHASHSEED': '0'},
        )
        with sandbox.start(job) as process:
            yield from map(tuple, json.loads(process.stdout.read()))


def _sandbox() -> Sandbox:
    return open_sandbox('bubblewrap')
