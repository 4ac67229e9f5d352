"""Is the runtime dependency map right, and what does it cost?

    python -m benchmarks.dependency_map other CLONE OWNER/NAME OTHER.csv
    python -m benchmarks.dependency_map compare CLONE OWNER/NAME OTHER.csv TESTS.csv DIFFERENCES.csv
    python -m benchmarks.dependency_map cost CLONE OWNER/NAME COST.csv
    python -m benchmarks.dependency_map sum TESTS.csv DIFFERENCES.csv COST.csv

The independent map shares neither builder nor runner nor instrumentation with the engine: Maven and
JUnit's console (oracle A) with an agent of its own that marks entries and returns of methods.
Methods are drawn by seed from the largest module of the clone's head.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import zipfile
from collections import Counter
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

from benchmarks.oracles.cell import Bench
from benchmarks.oracles.cell import Flags
from benchmarks.oracles.cell import Oracle
from benchmarks.oracles.cell import Place
from benchmarks.oracles.cell import Target
from benchmarks.tables import Row
from benchmarks.tables import append
from benchmarks.tables import read
from coevo.git.repository import Repository
from coevo.languages.cells import Compiled
from coevo.languages.java.maven import tracing
from coevo.languages.java.maven.built_pair import JavaBuiltPair
from coevo.languages.java.maven.code_files import CodeFiles
from coevo.languages.java.maven.jdk_worker import JdkWorker
from coevo.languages.java.maven.run_context import JavaRunContext
from coevo.languages.java.maven.shared_builds import SharedBuilds
from coevo.languages.java.maven.traces import read_traces
from coevo.languages.java.tools.toolchain import toolchain
from coevo.languages.traces import Trace
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.records import Walk
from coevo.sandboxes.sandbox import Mount
from coevo.storage.folders import work_root
from miners.diffs.siblings import methods_by_module

_AGENT = '/tools/entries/entries.jar'
_WRITTEN = '/tmp/entries'
_REPEATS = 3

_PRIVATE, _BRIDGE, _SYNTHETIC = 0x2, 0x40, 0x1000
_OF_ENUMS = ('values', 'valueOf')

COUNTED = (
    *('both', 'ours_alone', 'other_alone'),
    *('without_entries', 'lost_when_shared', 'gained_when_shared'),
)

# Class, method and descriptor.
Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What the independent agent says of a method."""

    flags: int
    left: bool  # at least once by a return


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Methods of one module at one revision."""

    repository: Repository
    repo: str
    rev: str
    module: str
    methods: tuple[TestMethod, ...]


def draw(clone: Path, repo: str, number: int, seed: int) -> Drawn:
    repository = Repository(clone)
    rev = repository.resolve('HEAD')
    modules = methods_by_module(repository, rev, 'java')
    module = max(modules, key=lambda name: (len(modules[name]), name))
    chance = random.Random(f'{seed} {repo}')
    methods = chance.sample(modules[module], min(number, len(modules[module])))
    return Drawn(
        repository=repository,
        repo=repo,
        rev=rev,
        module=module,
        methods=tuple(sorted(methods, key=name_of)),
    )


def name_of(method: TestMethod) -> str:
    return f'{method.test_class}#{method.test_method}({",".join(method.parameters)})'


# -- the two maps ----------------------------------------------------------------------------------


@contextmanager
def built(drawn: Drawn) -> Iterator[tuple[JavaBuiltPair, Compiled]]:
    with ExitStack() as stack:
        builds = SharedBuilds(JavaRunContext(drawn.repository, sandbox='bubblewrap', stack=stack))
        worker = JdkWorker(builds)
        stack.callback(worker.close)
        commit, build = drawn.repository.commit(drawn.rev), worker.build(drawn.rev)
        pair = Pair(
            repo=drawn.repo,
            language='java',
            walk=Walk.PARENTS,
            old=commit,
            new=commit,
            old_is_ancestor=True,
        )
        opened = JavaBuiltPair(pair=pair, old=build, new=build, worker=worker)
        yield opened, opened.compile(drawn.rev, drawn.rev, drawn.module)


def traces(
    opened: JavaBuiltPair, compiled: Compiled, drawn: Drawn, *, shared: bool
) -> tuple[Sequence[Trace | None], float]:
    traced = opened.trace(compiled, drawn.methods, (), shared=shared)
    return traced.traces, traced.cpu_seconds


def names(trace: Trace | None) -> frozenset[Name]:
    executed = trace.executed if trace is not None else ()
    return frozenset((one.type, one.method, one.descriptor) for one in executed)


def independent(drawn: Drawn) -> Iterator[Row]:
    """A row for each method that each test entered, of the tests that passed."""
    with ExitStack() as stack:
        folder = Path(mkdtemp(dir=work_root()))
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        _build_agent(folder)
        bench = Bench(stack, [Mount(source=folder, target=str(Path(_AGENT).parent))])
        classes = f'/w/tree/{drawn.module}/target/classes'.replace('/./', '/')
        options = (f'-javaagent:{_AGENT}={_WRITTEN}|{classes}',)
        targets = [Target(method=one, options=options, written=_WRITTEN) for one in drawn.methods]
        place = Place(tests_rev=drawn.rev, code_rev=drawn.rev, module=drawn.module)
        answer = bench.run(Oracle.A, Flags.C1, drawn.repository, place, targets)
    for method, ruling in zip(drawn.methods, answer.rulings, strict=True):
        if ruling.outcome == 'pass':
            for name, one in _entered(ruling.written).items():
                row = dict(zip(('type', 'method', 'descriptor'), name, strict=True))
                told = {'flags': str(one.flags), 'left': str(int(one.left))}
                yield {'test': name_of(method), **row, **told}


def _build_agent(folder: Path) -> None:
    tools = toolchain()
    asm = tools.library('asm')
    source = Path(__file__).with_name('entries') / 'Entries.java'
    javac = [str(tools.tools_home / 'bin' / 'javac'), '--release', '11', '-cp', str(asm)]
    subprocess.run([*javac, '-d', str(folder), str(source)], check=True)
    with zipfile.ZipFile(asm) as library, zipfile.ZipFile(folder / 'entries.jar', 'w') as jar:
        jar.writestr('META-INF/MANIFEST.MF', 'Premain-Class: entries.Entries\n')
        for name in library.namelist():
            if name.startswith('org/') and name.endswith('.class'):
                jar.writestr(name, library.read(name))
        for file in sorted((folder / 'entries').iterdir()):
            jar.write(file, f'entries/{file.name}')
    (folder / 'entries.jar').chmod(0o644)


def _entered(text: str) -> Mapping[Name, Entered]:
    flags: dict[Name, int] = {}
    left: set[Name] = set()
    for line in text.splitlines():
        event, number, type_, method, descriptor = line.split('\t')
        name = (type_, method, descriptor)
        flags[name] = int(number)
        if event == 'LEFT':
            left.add(name)
    return {name: Entered(flags=flags[name], left=name in left) for name in flags}


def group(name: Name, entered: Entered | None) -> str:
    """Why the maps differ on a method, as far as what is known of it tells."""
    type_, method, descriptor = name
    if entered is None:
        return 'unexplained: only in ours'
    if '$MockitoMock$' in type_:
        return 'class made at run time'
    if method.startswith('lambda$'):
        compilers = False
    else:
        compilers = bool(entered.flags & (_BRIDGE | _SYNTHETIC))
    if compilers:
        return 'bridge or synthetic'
    if method in _OF_ENUMS and descriptor.startswith(('()[L', '(Ljava/lang/String;)L')):
        return 'values and valueOf of an enum'
    if not entered.left:
        return 'left by an exception alone'
    if method == '<init>' and descriptor == '()V' and entered.flags & _PRIVATE:
        return 'empty private constructor'
    return 'unexplained: only in the other'


# -- commands --------------------------------------------------------------------------------------


def compare(drawn: Drawn, known: Path, tests: Path, differences: Path) -> None:
    others: dict[str, dict[Name, Entered]] = defaultdict(dict)
    for one in read(known):
        name = (one['type'], one['method'], one['descriptor'])
        others[one['test']][name] = Entered(flags=int(one['flags']), left=one['left'] == '1')
    with built(drawn) as (opened, compiled):
        with _jacoco_alone() as bare:
            alone, _ = traces(opened, compiled, drawn, shared=False)
        shared, _ = traces(opened, compiled, drawn, shared=True)
    bare_traces = iter([one for one in bare if one is not None])
    for method, own, together in zip(drawn.methods, alone, shared, strict=True):
        if own is None:
            continue
        without = names(next(bare_traces))
        other = others[name_of(method)]
        if not other:
            continue
        ours = names(own)
        who: dict[str, object] = {'repo': drawn.repo, 'rev': drawn.rev, 'test': name_of(method)}
        row = {
            **who,
            'both': len(ours & other.keys()),
            'ours_alone': len(ours - other.keys()),
            'other_alone': len(other.keys() - ours),
            'without_entries': len(ours - without),
            'lost_when_shared': len(ours - names(together)),
            'gained_when_shared': len(names(together) - ours),
        }
        append(tests, [row])
        append(
            differences,
            [
                {**who, 'method': '.'.join(at[:2]) + at[2], 'group': group(at, other.get(at))}
                for at in sorted(ours ^ other.keys())
            ],
        )


@contextmanager
def _jacoco_alone() -> Iterator[list[Trace | None]]:
    """What traces would be without the agent of entered methods, of those that there are."""
    found: list[Trace | None] = []

    def both(
        report: Mapping[str, Any],
        entered: Sequence[str],
        code: CodeFiles,
        files: Collection[str],
    ) -> list[Trace | None]:
        found.extend(read_traces(report, [''] * len(entered), code, files))
        return read_traces(report, entered, code, files)

    with mock.patch.object(tracing, 'read_traces', both):
        yield found


def cost(drawn: Drawn, out: Path) -> None:
    """CPU seconds of the same methods with and without a trace, in turn."""
    with built(drawn) as (opened, compiled):
        opened.run(compiled, drawn.methods[:1])
        traces(
            opened, compiled, drawn, shared=True
        )  # class archives are made, the reader has started
        for repeat in range(_REPEATS):
            row = {'repo': drawn.repo, 'rev': drawn.rev, 'methods': len(drawn.methods)}
            alone = [opened.run(compiled, [one]).cpu_seconds for one in drawn.methods]
            used = {
                'shared': opened.run(compiled, drawn.methods).cpu_seconds,
                'shared_traced': traces(opened, compiled, drawn, shared=True)[1],
                'alone': sum(alone),
                'alone_traced': traces(opened, compiled, drawn, shared=False)[1],
            }
            rounded = {name: round(seconds, 2) for name, seconds in used.items()}
            append(out, [{**row, 'repeat': repeat, **rounded}])


def share(drawn: Drawn, out: Path) -> None:
    """Traces of methods that share a JVM against those of each alone, and what either costs."""
    with built(drawn) as (opened, compiled):
        opened.run(compiled, drawn.methods[:1])
        together, cheap = traces(opened, compiled, drawn, shared=True)
        alone, dear = traces(opened, compiled, drawn, shared=False)
    kept = [(a, b) for a, b in zip(alone, together, strict=True) if a is not None]
    row = {
        'repo': drawn.repo,
        'rev': drawn.rev,
        'methods': len(drawn.methods),
        'traced': len(kept),
        'rows': sum(len(names(a)) for a, _ in kept),
        'lost': sum(len(names(a) - names(b)) for a, b in kept),
        'gained': sum(len(names(b) - names(a)) for a, b in kept),
        'alone_cpu_seconds': round(dear, 1),
        'shared_cpu_seconds': round(cheap, 1),
    }
    append(out, [row])
    for method, a, b in zip(drawn.methods, alone, together, strict=True):
        for name in sorted(names(a) ^ names(b)):
            print(name_of(method), *name, 'lost' if name in names(a) else 'gained')


def summarise(tests: Path, differences: Path, costs: Path) -> Iterator[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in read(tests):
        counts[row['repo']]['tests'] += 1
        counts[row['repo']]['tests that lose when shared'] += row['lost_when_shared'] != '0'
        for name in COUNTED:
            counts[row['repo']][name] += int(row[name])
    for row in read(differences):
        counts[row['repo']][f'difference: {row["group"]}'] += 1
    for repo, found in sorted(counts.items()):
        yield repo
        yield from (f'  {name}: {number}' for name, number in found.items())
    for row in read(costs):
        yield f'{row["repo"]} {_ratio(row, "shared")} {_ratio(row, "alone")}'


def _ratio(row: Mapping[str, str], name: str) -> str:
    plain, traced = float(row[name]), float(row[f'{name}_traced'])
    return f'{name}: {plain:.1f} s, traced {traced:.1f} s, ratio {traced / plain:.2f};'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, files in (
        ('other', ('others',)),
        ('compare', ('others', 'tests', 'differences')),
        ('cost', ('costs',)),
        ('share', ('shared',)),
    ):
        command = commands.add_parser(name)
        command.add_argument('clone', type=Path)
        command.add_argument('repo')
        command.add_argument('--methods', type=int, default=60)
        command.add_argument('--seed', type=int, default=0)
        for file in files:
            command.add_argument(file, type=Path)
    total = commands.add_parser('sum')
    for file in ('tests', 'differences', 'costs'):
        total.add_argument(file, type=Path)
    chosen = parser.parse_args()
    if chosen.command == 'sum':
        print(*summarise(chosen.tests, chosen.differences, chosen.costs), sep='\n')
        return
    drawn = draw(chosen.clone, chosen.repo, chosen.methods, chosen.seed)
    if chosen.command == 'other':
        append(chosen.others, list(independent(drawn)))
    elif chosen.command == 'compare':
        compare(drawn, chosen.others, chosen.tests, chosen.differences)
    elif chosen.command == 'share':
        share(drawn, chosen.shared)
    else:
        cost(drawn, chosen.costs)


if __name__ == '__main__':
    main()
