"""From measured CPU seconds to ratios by repository, their medians, and where the cost grows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import Row
from benchmarks.tables import read

# One pass that decides, and what confirms it.
METHOD_CELLS = 'method_cells'
RUN_CELLS = 'run_cells'  # of these, what is not settled before a test runs
_DECIDING = ('compile', 'run_given')
_REPEATS = ('run_reversed', 'run_alone', 'run_repeated', 'run_for_cause')


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """CPU seconds of a walk, the mean of its runs.

    overhead  builds, sessions, our own Python: the walk's, as a share of each executed pair
    """

    whole: float
    pairs: int
    deciding: dict[str, float]  # by new revision
    repeats: dict[str, float]
    steps: dict[str, float]
    cells: dict[str, int]  # method cells, by new revision

    @property
    def overhead(self) -> float:
        known = sum(self.deciding.values()) + sum(self.repeats.values())
        return (self.whole - known) / self.pairs


def engine_of(rows: Sequence[Row]) -> Engine:
    runs = len({row['run'] for row in rows})

    def total(steps: Sequence[str], new: str | None = None) -> float:
        chosen = (r for r in rows if r['step'] in steps and new in (None, r['new']))
        return sum(float(row['seconds']) for row in chosen) / runs

    executed = sorted({row['new'] for row in rows if row['step'] == 'run_given'})
    names = sorted({row['step'] for row in rows})
    return Engine(
        whole=total(('own', 'sandboxed')),
        pairs=len(executed),
        deciding={new: total(_DECIDING, new) for new in executed},
        repeats={new: total(_REPEATS, new) for new in executed},
        steps={name: total((name,)) for name in names},
        cells={row['new']: int(row['count']) for row in rows if row['step'] == METHOD_CELLS},
    )


def print_summary(engine: Path, oracles: Path) -> None:
    """Tables in Markdown."""
    measured = read(oracles)
    repos = sorted({row['repo'] for row in measured})
    engines = {
        repo: engine_of([row for row in read(engine) if row['repo'] == repo]) for repo in repos
    }
    _print_ratios(repos, engines, measured)
    _print_steps(repos, engines)
    _print_growth(repos, engines, measured)


def _print_ratios(repos: Sequence[str], engines: dict[str, Engine], rows: Sequence[Row]) -> None:
    kinds = [(oracle, flags) for oracle in 'AB' for flags in ('default', 'c1')]
    names = [f'{oracle} {flags}' for oracle, flags in kinds]
    head = ['repository', 'pairs', 'method cells', 'engine', 'with repeats', *names]
    _print_row([*head, *(f'{name} / engine' for name in names)], head=True)
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for repo in repos:
        own = [row for row in rows if row['repo'] == repo]
        news = sorted({row['new'] for row in own})
        one = engines[repo]
        deciding = sum(one.deciding.get(new, 0.0) + one.overhead for new in news)
        repeats = sum(one.repeats.get(new, 0.0) for new in news)
        totals = [
            sum(float(r['total']) for r in own if (r['oracle'], r['flags']) == kind)
            for kind in kinds
        ]
        cells = sum(int(row['methods']) for row in own) // len(kinds)
        for name, found in zip(names, totals, strict=True):
            ratios[name].append(found / deciding)
        shown = (f'{value:.0f}' for value in totals)
        quotients = (f'{value / deciding:.1f}' for value in totals)
        sums = (f'{deciding:.1f}', f'{deciding + repeats:.1f}')
        _print_row([repo, len(news), cells, *sums, *shown, *quotients])
    medians = [f'{statistics.median(ratios[name]):.1f}' for name in names]
    _print_row(['median', *[''] * (len(head) - 1), *medians])
    print()


def _print_steps(repos: Sequence[str], engines: dict[str, Engine]) -> None:
    """Where the engine's own seconds go."""
    steps = ('build', *_DECIDING, *_REPEATS)
    _print_row(
        ['repository', 'pairs', 'whole', *steps, 'all else', 'tests', 'tests / whole'], head=True
    )
    for repo in repos:
        one = engines[repo]
        parts = [one.steps.get(step, 0.0) for step in steps]
        tests = one.steps.get('tests', 0.0)
        cells = [f'{v:.1f}' for v in (one.whole, *parts, one.whole - sum(parts), tests)]
        _print_row([repo, one.pairs, *cells, f'{tests / one.whole:.2f}'])
    print()


def _print_growth(repos: Sequence[str], engines: dict[str, Engine], rows: Sequence[Row]) -> None:
    """Seconds of the next pair and method: least squares over an engine's pairs, means of oracles."""
    names = ['build', 'pair', 'method cell', 'confirmed pair', 'method cell', 'A cell', 'method']
    _print_row(['repository', *names, 'B first method', 'method'], head=True)
    for repo in repos:
        one = engines[repo]
        confirmed = {new: one.deciding[new] + one.repeats[new] for new in one.deciding}
        build = f'{one.steps.get("build", 0.0) / (len(one.deciding) + 1):.2f}'
        own = [*_line(one, one.deciding), *_line(one, confirmed)]
        default = [r for r in rows if r['repo'] == repo and r['flags'] == 'default']
        _print_row([repo, build, *own, *_oracle_costs(default)])
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


def _oracle_costs(rows: Sequence[Row]) -> Iterator[str]:
    for oracle, field in (('A', 'build'), ('A', 'others'), ('B', 'first'), ('B', 'others')):
        found = [float(r[field]) for r in rows if r['oracle'] == oracle and float(r[field])]
        yield f'{statistics.fmean(found):.2f}' if found else ''


def _print_row(cells: Sequence[object], *, head: bool = False) -> None:
    print('|', ' | '.join(map(str, cells)), '|')
    if head:
        print('|', ' | '.join(['---'] * len(cells)), '|')
