"""What an evaluated method costs, and what gold tests of published tasks are worth by our measures.

    python -m benchmarks.evaluation cost SNAPSHOT STORE FOLDER [--tasks N] [--seed N] [--c1]
    python -m benchmarks.evaluation published SNAPSHOT STORE PUBLISHED.jsonl OUT.csv [--runs N]
    python -m benchmarks.evaluation sum FOLDER OUT.csv

cost       Of each repository a few tasks are drawn, and gold is submitted for them. The engine scores
           them before and after oracle A, which runs the same cells of each task: T_new on C_new, for
           generation T_new on C_old, else T_old on C_new. CPU seconds of whole process trees; the
           engine scores without adequacy, and makes its own class archives.
published  Coverage and mutants of gold for the methods that the snapshot shares with published tasks.
           Mutants that the snapshot lacks are made and run now, with so many runs for a pair (0: none
           are). Pairs that OUT.csv has are not measured again.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.mined import open_clone
from benchmarks.oracles.cell import Bench, Flags, Oracle, Place, Target
from benchmarks.published import Published, States, published
from benchmarks.tables import Row, append, read
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.assignments import Target as Aim
from coevo.evaluation.measuring.oracle import find_old_method
from coevo.git.repository import Repository
from coevo.languages.java.engine import JavaBuilder
from coevo.languages.java.revisions.builds_by_jdk import BuildsByJdk
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.measures import edited_cells as measures
from coevo.measures.mutants import BASELINE_RUNS, draw_mutant_sets, find_mutable_lines, run_mutants
from coevo.model.dependencies import select_dependencies
from coevo.model.quality import Mutation
from coevo.model.records import Pair

COSTS = 'evaluation_cost.csv'


# -- cost ------------------------------------------------------------------------------------------


def cost(arguments: argparse.Namespace) -> None:
    by_repo: dict[str, list[Assignment]] = defaultdict(list)
    for one in load_assignments(arguments.snapshot):
        by_repo[one.task.repo].append(one)
    known = {row['repo'] for row in read(arguments.folder / COSTS)}
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir='/var/tmp')))
        root.chmod(0o711)
        runner = Bench(stack)
        for repo in sorted(by_repo.keys() - known):
            chance = random.Random(f'{arguments.seed} {repo}')
            drawn = chance.sample(by_repo[repo], min(arguments.tasks, len(by_repo[repo])))
            name = repo.replace('/', '+')
            rows = [_by_engine(arguments, root / name / 'before', drawn)]
            flags = tuple(Flags) if arguments.c1 else (Flags.DEFAULT,)
            rows += _by_oracle(runner, open_clone(arguments.store, repo), drawn, flags)
            rows.append(_by_engine(arguments, root / name / 'after', drawn))
            append(arguments.folder / COSTS, rows)


def _by_engine(
    arguments: argparse.Namespace, folder: Path, drawn: Sequence[Assignment]
) -> dict[str, object]:
    folder.mkdir(parents=True)
    predictions = folder / 'gold.jsonl'
    predictions.write_text(
        ''.join(
            json.dumps({'task_id': one.task_id, 'patch': one.task.test_patch}) + '\n'
            for one in drawn
        )
    )
    used = folder / 'used.json'
    subprocess.run(
        [
            *(sys.executable, '-m', 'benchmarks.metered', str(used), str(folder / 'archives')),
            *('evaluate', str(arguments.snapshot), str(predictions)),
            *('--store', str(arguments.store), '--out', str(folder / 'out')),
            *('--cache', str(folder / 'cache'), '--jobs', '1', '--no-adequacy'),
            *('--tasks', *(one.task_id for one in drawn)),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds = json.loads(used.read_text())
    return _cost_row(drawn, 'engine', folder.name, seconds['own'] + seconds['sandboxed'])


def _by_oracle(
    runner: Bench, repository: Repository, drawn: Sequence[Assignment], flags: Sequence[Flags]
) -> Iterator[dict[str, object]]:
    cells = [cell for one in drawn for cell in _cells(repository, one)]
    for each in flags:
        answers = [runner.run(Oracle.A, each, repository, *cell) for cell in cells]
        yield _cost_row(drawn, 'A', str(each), sum(answer.seconds for answer in answers))


def _cells(repository: Repository, one: Assignment) -> Iterator[tuple[Place, list[Target]]]:
    task = one.task
    new = [Target(method=target.method) for target in one.targets]
    yield Place(tests_rev=task.new_rev, code_rev=task.new_rev, module=task.module), new
    if one.is_generation:
        yield Place(tests_rev=task.new_rev, code_rev=task.old_rev, module=task.module), new
        return
    olds = [
        find_old_method(repository, task.language, task.old_rev, target.row)
        for target in one.targets
    ]
    old = [Target(method=method) for method in olds if method is not None]
    yield Place(tests_rev=task.old_rev, code_rev=task.new_rev, module=task.module), old


def _cost_row(drawn: Sequence[Assignment], who: str, how: str, seconds: float) -> dict[str, object]:
    return {
        'repo': drawn[0].task.repo,
        'who': who,
        'how': how,
        'tasks': len(drawn),
        'methods': sum(len(one.targets) for one in drawn),
        'cpu_seconds': round(seconds, 2),
    }


# -- published tasks -------------------------------------------------------------------------------


def measure_published(arguments: argparse.Namespace) -> None:
    known = {row['pair_id'] for row in read(arguments.out)}
    targets: dict[tuple[str, str], list[Aim]] = defaultdict(list)
    for one in load_assignments(arguments.snapshot, interleaved=True, leaking=True):
        if one.task.pair_id not in known:
            targets[one.task.repo, one.task.pair_id] += one.targets
    by_repo: dict[str, list[Published]] = defaultdict(list)
    for found in published(arguments.published):
        by_repo[found.repo].append(found)
    for repo, pair_id in sorted(targets, key=lambda key: key[1]):
        repository = open_clone(arguments.store, repo)
        shared = _shared(States(repository), targets[repo, pair_id], by_repo[repo])
        if shared:
            append(arguments.out, list(_worth(repository, shared, arguments.runs)))


def _shared(states: States, targets: Sequence[Aim], there: Sequence[Published]) -> list[Aim]:
    """Those that are published, by the states of both ends, track, file and name."""
    first = targets[0].row
    ends = {states(first.old_rev) + states(first.new_rev)}
    names = {
        (one.track, one.test_file, one.test_method)
        for one in there
        if states(one.old_rev) + states(one.new_rev) in ends
    }
    return [
        one
        for one in targets
        if (str(one.row.track), one.row.test_file, one.row.test_method) in names
    ]


def _worth(
    repository: Repository, targets: Sequence[Aim], most_runs: int
) -> Iterator[dict[str, object]]:
    rows = [one.row for one in targets]
    mutations: Mapping[str, Mutation | None] = {row.method_id: row.mutation for row in rows}
    drawing, running = 0.0, 0.0
    if most_runs and None in mutations.values():
        mutations, drawing, running = _mutated(repository, targets, most_runs)
    runs = sum(one.count - one.not_run for one in mutations.values() if one)
    for row in rows:
        mutation, coverage = mutations[row.method_id], row.task_coverage
        yield {
            'repo': row.repo,
            'pair_id': row.pair_id,
            'method_id': row.method_id,
            'task_id': row.task_id,
            'track': row.track,
            'lines': coverage.lines if coverage else '',
            'known_lines': coverage.known_lines if coverage else '',
            'covered_lines': coverage.covered_lines if coverage else '',
            'dependency_list': row.dependency_list or '',
            'mutants': mutation.count - mutation.not_run if mutation else '',
            'killed': mutation.killed if mutation and mutation.killed is not None else '',
            'not_run': mutation.not_run if mutation else '',
            'pair_mutant_runs': runs,
            'pair_drawing': round(drawing, 2),
            'pair_running': round(running, 2),
        }


def _mutated(
    repository: Repository, targets: Sequence[Aim], most_runs: int
) -> tuple[Mapping[str, Mutation | None], float, float]:
    """The accounting, and CPU seconds of drawing mutants and of running tests, three runs without
    any among them."""
    rows = [one.row for one in targets]
    first = rows[0]
    with ExitStack() as stack:
        builder = JavaBuilder(
            BuildsByJdk(JavaRunContext(repository, sandbox='bubblewrap', stack=stack))
        )
        stack.callback(builder.close)
        pair = Pair(
            repo=first.repo,
            language='java',
            walk=first.walk,
            old=repository.get_commit(first.old_rev),
            new=repository.get_commit(first.new_rev),
            old_is_ancestor=False,
        )
        built = builder.build(pair)
        if built.new.failure is not None:
            return dict.fromkeys(row.method_id for row in rows), 0.0, 0.0
        runner = measures.EditedCellRunner(
            built=built,
            repository=repository,
            override=next((row.override for row in rows if row.override), None),
        )
        tests = [
            measures.GoldTest(
                method_id=one.row.method_id,
                method=one.method,
                dependencies=select_dependencies(one.row.dependencies, one.row.dependency_list),
            )
            for one in targets
        ]
        sets = draw_mutant_sets(
            runner, {one.method_id: find_mutable_lines(runner, one) for one in tests}
        )
        drawing = runner.cpu_seconds
        measured = run_mutants(runner, tests, sets, most_runs)
        return measured.mutations, drawing, runner.cpu_seconds - drawing


# -- tables ----------------------------------------------------------------------------------------


def print_sums(arguments: argparse.Namespace) -> None:
    _print_costs(read(arguments.folder / COSTS))
    _print_worth(read(arguments.out))


def _print_costs(rows: Sequence[Row]) -> None:
    """CPU seconds a method; the ways of A that were measured, each with its ratio to the engine."""
    ways = [flags for flags in Flags if _seconds(rows, flags)]
    heads = ('repository', 'tasks', 'methods', 'engine', *(f'A, {way} | ratio' for way in ways))
    print(f'| {" | ".join(heads)} |')
    print('| --- ' * (4 + 2 * len(ways)) + '|')
    for repo in (*sorted({row['repo'] for row in rows}), 'all'):
        of = [row for row in rows if repo in (row['repo'], 'all')]
        methods = sum(int(row['methods']) for row in of if row['how'] == 'before')
        tasks = sum(int(row['tasks']) for row in of if row['how'] == 'before')
        engine = _seconds(of, 'before', 'after') / 2 / methods
        seconds = [_seconds(of, way) / methods for way in ways]
        shown = ' | '.join(f'{one:.2f} | {one / engine:.1f}' for one in seconds)
        print(f'| {repo} | {tasks} | {methods} | {engine:.2f} | {shown} |')


def _seconds(rows: Sequence[Row], *hows: str) -> float:
    return sum(float(row['cpu_seconds']) for row in rows if row['how'] in hows)


def _print_worth(rows: Sequence[Row]) -> None:
    print(
        '\n| track | tasks | methods | lines of the whole range | lines with code | mutation score |'
    )
    print('| --- ' * 6 + '|')
    for track in sorted({row['track'] for row in rows}):
        of = [row for row in rows if row['track'] == track]
        shares = (
            _macro(of, 'covered_lines', 'lines'),
            _macro(of, 'covered_lines', 'known_lines'),
            _macro(of, 'killed', 'mutants'),
        )
        tasks = len({row['task_id'] for row in of})
        print(f'| {track} | {tasks} | {len(of)} | ' + ' | '.join(shares) + ' |')
    _print_runs(rows)


def _print_runs(rows: Sequence[Row]) -> None:
    """Of pairs whose budget lasted: each test that has mutants was run without any first."""
    short = {row['pair_id'] for row in rows if row['not_run'] not in ('', '0')}
    whole = [row for row in rows if row['pair_running'] and row['pair_id'] not in short]
    tests = [row for row in whole if row['mutants'] not in ('', '0')]
    mutants = sum(int(row['mutants']) for row in tests)
    running = sum({row['pair_id']: float(row['pair_running']) for row in whole}.values())
    if mutants:
        runs = mutants + BASELINE_RUNS * len(tests)
        print(
            f'\n{1000 * running / runs:.0f} CPU ms a run, {1000 * running / mutants:.0f} a mutant'
        )
        print(f'({mutants} mutants, {len(tests)} tests; compilation, and runs without mutants)')


def _macro(rows: Sequence[Row], part: str, whole: str) -> str:
    """Mean over tasks of the mean over methods, quartiles of the tasks, and how many tasks."""
    tasks: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row[part] != '' and row[whole] not in ('', '0'):
            tasks[row['task_id']].append(int(row[part]) / int(row[whole]))
    means = sorted(statistics.fmean(shares) for shares in tasks.values())
    if len(means) < 2:
        return '-'
    low, middle, high = statistics.quantiles(means, n=4)
    spread = f'{low:.1%}, {middle:.1%}, {high:.1%}'
    return f'{statistics.fmean(means):.1%} ({spread}; {len(means)} tasks)'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser('cost')
    command.add_argument('snapshot', type=Path)
    command.add_argument('store', type=Path)
    command.add_argument('folder', type=Path)
    command.add_argument('--tasks', type=int, default=4)
    command.add_argument('--seed', type=int, default=8)
    command.add_argument('--c1', action='store_true', help='A also with C1')
    command.set_defaults(run=cost)
    command = commands.add_parser('published')
    command.add_argument('snapshot', type=Path)
    command.add_argument('store', type=Path)
    command.add_argument('published', type=Path)
    command.add_argument('out', type=Path)
    command.add_argument('--runs', type=int, default=500)
    command.set_defaults(run=measure_published)
    command = commands.add_parser('sum')
    command.add_argument('folder', type=Path)
    command.add_argument('out', type=Path)
    command.set_defaults(run=print_sums)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
