"""From measured CPU seconds to a walk's cost by each way, their ratios, and where it grows."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import Row, read

METHOD_CELLS = 'method_cells'
RUN_CELLS = 'run_cells'  # of these, what is not settled before a test runs

# One pass that decides, and what confirms it.
_DECIDING = ('compile', 'run_given')
_REPEATS = ('run_reversed', 'run_alone', 'run_repeated', 'run_for_cause')

KINDS = tuple((oracle, flags) for oracle in 'AB' for flags in ('default', 'c1'))


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A walk as the engine mined it: CPU seconds and counts by step, the mean of its runs."""

    seconds: dict[str, float]
    counts: dict[str, float]
    deciding: dict[str, float]  # CPU seconds of one pass, by new revision of the executed pairs
    repeats: dict[str, float]
    cells: dict[str, int]

    @property
    def whole(self) -> float:
        return self.seconds['own'] + self.seconds['sandboxed']

    @property
    def one_pass(self) -> float:
        """All but the repeats and their share of our own Python, which is by processes."""
        repeated = sum(self.counts.get(step, 0) for step in _REPEATS)
        share = repeated / self.seconds['processes']
        return self.whole - sum(self.repeats.values()) - share * self.seconds['own']

    @property
    def trees(self) -> float:
        """Modules in cells: what an oracle builds apart."""
        return self.counts.get('compile', 0)

    @property
    def method_cells(self) -> int:
        return sum(self.cells.values())


def engine_of(rows: Sequence[Row]) -> Engine:
    runs = len({row['run'] for row in rows})
    seconds: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        seconds[row['step']] += float(row['seconds']) / runs
        counts[row['step']] += int(row['count']) / runs

    def of_pair(steps: Sequence[str], new: str) -> float:
        chosen = (row for row in rows if row['step'] in steps and row['new'] == new)
        return sum(float(row['seconds']) for row in chosen) / runs

    executed = sorted({row['new'] for row in rows if row['step'] == 'run_given'})
    return Engine(
        seconds=dict(seconds),
        counts=dict(counts),
        deciding={new: of_pair(_DECIDING, new) for new in executed},
        repeats={new: of_pair(_REPEATS, new) for new in executed},
        cells={row['new']: int(row['count']) for row in rows if row['step'] == METHOD_CELLS},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Mean CPU seconds of an oracle: what each tree costs, and each (further) method in it."""

    tree: float
    method: float

    def of_walk(self, engine: Engine, oracle: str) -> float:
        """B pays its first method with the tree; A pays no method where nothing compiles."""
        if oracle == 'B':
            return self.tree * engine.trees + self.method * (engine.method_cells - engine.trees)
        ran = engine.counts.get(RUN_CELLS) or engine.method_cells
        return self.tree * engine.trees + self.method * ran


def unit_of(rows: Sequence[Row], oracle: str, flags: str) -> Unit:
    own = [row for row in rows if (row['oracle'], row['flags']) == (oracle, flags)]
    methods = [float(row['others']) for row in own if float(row['others'])]
    return Unit(
        tree=statistics.fmean(float(row['build' if oracle == 'A' else 'first']) for row in own),
        method=statistics.fmean(methods) if methods else 0.0,
    )


def print_summary(engine: Path, oracles: Path) -> None:
    """Tables in Markdown."""
    measured, mined = read(oracles), read(engine)
    repos = sorted(
        repo
        for repo in {row['repo'] for row in measured}
        if {(r['oracle'], r['flags']) for r in measured if r['repo'] == repo} >= set(KINDS)
    )
    engines = {repo: engine_of([row for row in mined if row['repo'] == repo]) for repo in repos}
    own = {repo: [row for row in measured if row['repo'] == repo] for repo in repos}
    _print_walks(engines, own)
    _print_steps(engines)
    _print_growth(engines, own)
    same, asked = (sum(int(row[name]) for row in measured) for name in ('same', 'measured'))
    print(f'{same} of {asked} outcomes were the same')


def _print_walks(engines: dict[str, Engine], rows: dict[str, list[Row]]) -> None:
    names = [f'{oracle} {flags}' for oracle, flags in KINDS]
    head = ['repository', 'pairs', 'trees', 'method cells', 'engine, one pass', 'all', *names]
    _print_row([*head, *(f'{name} / one pass' for name in names), 'A default / all'], head=True)
    ratios: list[list[float]] = []
    for repo, one in engines.items():
        costs = [unit_of(rows[repo], *kind).of_walk(one, kind[0]) for kind in KINDS]
        ratios.append([*(cost / one.one_pass for cost in costs), costs[0] / one.whole])
        sizes = (len(one.deciding), round(one.trees), one.method_cells)
        shown = (f'{value:.0f}' for value in (one.one_pass, one.whole, *costs))
        _print_row([repo, *sizes, *shown, *(f'{ratio:.1f}' for ratio in ratios[-1])])
    medians = (f'{statistics.median(found):.1f}' for found in zip(*ratios, strict=True))
    _print_row(['median', *[''] * (len(head) - 1), *medians])
    print()


def _print_steps(engines: dict[str, Engine]) -> None:
    """Where the engine's own seconds go; tests are a part of all runs."""
    steps = ('own', 'build', *_DECIDING, *_REPEATS)
    _print_row(['repository', 'whole', *steps, 'all else', 'tests / whole'], head=True)
    for repo, one in engines.items():
        parts = [one.seconds.get(step, 0.0) for step in steps]
        shown = (f'{value:.1f}' for value in (one.whole, *parts, one.whole - sum(parts)))
        _print_row([repo, *shown, f'{one.seconds.get("tests", 0.0) / one.whole:.2f}'])
    print()


def _print_growth(engines: dict[str, Engine], rows: dict[str, list[Row]]) -> None:
    """Seconds of one more: least squares over the engine's pairs, means of the oracles'."""
    names = ['revision', 'pair', 'method cell', 'pair, all', 'method cell, all']
    names += [f'{oracle} {flags} {what}' for oracle, flags in KINDS for what in ('tree', 'method')]
    _print_row(['repository', *names], head=True)
    for repo, one in engines.items():
        whole = {new: one.deciding[new] + one.repeats[new] for new in one.deciding}
        revision = one.seconds.get('build', 0.0) / (len(one.deciding) + 1)
        units = [unit_of(rows[repo], *kind) for kind in KINDS]
        oracles = (f'{value:.2f}' for unit in units for value in (unit.tree, unit.method))
        lines = (*_line(one, one.deciding), *_line(one, whole))
        _print_row([repo, f'{revision:.2f}', *lines, *oracles])
    print()


def _line(engine: Engine, seconds: dict[str, float]) -> Iterator[str]:
    """What a pair costs before its first method, and then each method in a cell."""
    news = sorted(seconds)
    sizes = [engine.cells[new] for new in news]
    if len(set(sizes)) < 2:
        yield from ('', '')
        return
    found = statistics.linear_regression(sizes, [seconds[new] for new in news])
    yield from (f'{found.intercept:.2f}', f'{found.slope:.3f}')


def _print_row(cells: Sequence[object], *, head: bool = False) -> None:
    print('|', ' | '.join(map(str, cells)), '|')
    if head:
        print('|', ' | '.join(['---'] * len(cells)), '|')
