"""What a pair of Python costs: CPU seconds of the engine and of plain pytest, on the same methods and cells.

    python -m benchmarks.python_cost CLONE OLD NEW FOLDER [--methods 5] [--seed N]

Of the methods that stand at both ends some are drawn by seed. The engine runs them in all four cells: in the given
order, reversed, and each alone; since version 14 the given order is run where test files are loaded, and counts as `load`. A is
`python -m pytest ID`, once for each cell and method, in an environment that is there; B has A's seconds and those of making the environment of each revision. The engine's are those
of its own process and of all that it started; of A and B only those of pytest, `venv` and uv are counted.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from benchmarks.oracles.cell import Place
from benchmarks.oracles.python_cell import PytestBench
from benchmarks.tables import append
from coevo.git.repository import Repository
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair, RunSettings
from coevo.languages.python import language
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome, Walk
from coevo.sandboxes.bubblewrap import list_descendants

RESULTS = 'cost_python.csv'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('clone', type=Path)
    parser.add_argument('old')
    parser.add_argument('new')
    parser.add_argument('folder', type=Path)
    parser.add_argument('--methods', type=int, default=5)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    repository = Repository(arguments.clone)
    pair = _pair(repository, arguments.old, arguments.new)
    methods = _drawn(repository, pair, arguments.methods, arguments.seed)
    with ExitStack() as stack:
        engine = _engine(stack, repository, pair, methods)
        bench = PytestBench(stack)
        fresh, environments, differing = _plain(
            bench, repository, pair, methods, engine.pop('told')
        )
    row = {
        'clone': arguments.clone.parent.name,
        'new': pair.new.rev[:12],
        'methods': len(methods),
        **{name: f'{seconds:.2f}' for name, seconds in engine.items()},
        'a': f'{fresh:.2f}',
        'environments': f'{environments:.2f}',
        'differing': differing,
    }
    arguments.folder.mkdir(parents=True, exist_ok=True)
    append(arguments.folder / RESULTS, [row])
    print(row)


def _pair(repository: Repository, old: str, new: str) -> Pair:
    ends = [repository.get_commit(rev) for rev in (old, new)]
    return Pair(
        repo='local/measured',
        language=language.NAME,
        walk=Walk.PARENTS,
        old=ends[0],
        new=ends[1],
        old_is_ancestor=True,
    )


def _drawn(repository: Repository, pair: Pair, count: int, seed: int) -> list[TestMethod]:
    both = set(_methods(repository, pair.old.rev)) & set(_methods(repository, pair.new.rev))
    every = sorted(both, key=lambda one: (one.test_file, one.test_class, one.test_method))
    return random.Random(seed).sample(every, count)


def _methods(repository: Repository, rev: str) -> Iterator[TestMethod]:
    tree = language.READING.open_tree(repository, rev)
    for path in sorted(repository.tree(rev)):
        if path.endswith('.py') and 'test' in path and not tree.is_source(path):
            file = language.READING.parse(tree.read_content(path), path)
            for type_, member in language.READING.find_tests(file, lambda simple: ()):
                yield TestMethod(
                    module='.',
                    test_file=path,
                    test_class=type_.name,
                    test_method=member.name,
                )


def _used() -> float:
    """CPU seconds of this process, of all that it has waited for, and of what lives below it."""
    every = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    living = 0.0
    for pid in list_descendants(os.getpid()):
        with suppress(psutil.NoSuchProcess):
            living += sum(psutil.Process(pid).cpu_times()[:4])
    return sum(one.ru_utime + one.ru_stime for one in every) + living


def _engine(
    stack: ExitStack, repository: Repository, pair: Pair, methods: Sequence[TestMethod]
) -> dict[str, object]:
    settings = RunSettings(repository=repository, sandbox='bubblewrap')
    builder = language.make_engine(settings, stack).make_builder()
    stack.callback(builder.close)
    spent = {}
    start = _used()
    built = builder.build(pair)
    spent['build'] = _used() - start
    told: dict[tuple[str, str, TestMethod], Outcome] = {}
    for name in ('load', 'given', 'reversed', 'alone'):
        start = _used()
        for tests, code in _cells(pair):
            _pass(built, name, tests, code, methods, told)
        spent[name] = _used() - start
    start = _used()
    builder.close()
    spent['close'] = _used() - start
    return {'engine': sum(spent.values()), **spent, 'told': told}


def _cells(pair: Pair) -> list[tuple[str, str]]:
    revs = (pair.old.rev, pair.new.rev)
    return [(tests, code) for tests in revs for code in revs]


def _pass(
    built: BuiltPair,
    name: str,
    tests: str,
    code: str,
    methods: Sequence[TestMethod],
    told: dict[tuple[str, str, TestMethod], Outcome],
) -> None:
    compiled = built.compile(tests, code, '.', methods=tuple(methods))
    if name == 'load':
        for method in methods:
            built.find_compile_verdict(compiled, method)
    elif name == 'alone':
        for method in methods:
            (verdict,) = built.run(compiled, [method]).verdicts
            if verdict is not None:
                told[tests, code, method] = verdict.outcome
    else:
        order = methods if name == 'given' else methods[::-1]
        built.run(compiled, order, RunConditions(together=True))


def _plain(
    bench: PytestBench,
    repository: Repository,
    pair: Pair,
    methods: Sequence[TestMethod],
    told: object,
) -> tuple[float, float, int]:
    """CPU seconds of pytest, those of both environments, and how many outcomes differ."""
    assert isinstance(told, dict)
    fresh = environments = 0.0
    differing = 0
    start = _used()
    bench.prepare(
        repository, pair, Place(tests_rev=pair.new.rev, code_rev=pair.new.rev, module='.')
    )
    environments += 2 * (_used() - start)
    for tests, code in _cells(pair):
        place = Place(tests_rev=tests, code_rev=code, module='.')
        answer = bench.run(repository, pair, place, methods)
        environments += answer.build_seconds / 2
        for method, ruling in zip(methods, answer.rulings, strict=True):
            fresh += ruling.seconds
            differing += ruling.outcome is not told.get((tests, code, method))
    return fresh, environments, differing


if __name__ == '__main__':
    main()
