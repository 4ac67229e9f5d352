"""Published updates whose old test passes on the new code: does its text alone, put in the new file?

    python -m benchmarks.injected STORE GOLD.jsonl CLONES FAULTS.csv [--each N]

Of every published update that is a refinement here, by Maven's verdict: which imports of the old
file its text needs and the new file lacks, so that the text alone, in place of the new method's,
cannot compile. Oracle A is asked of N methods of each pair, drawn by seed: of the old test tree on
the new code, and of the new tree with the one method's old text. FAULTS.csv serves
`benchmarks.explain_misses`.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables
from benchmarks.explain_misses import KEY, Mined, key_of
from benchmarks.oracles.cell import Bench, Flags, Oracle, Place, Target
from benchmarks.published import Published, open_clone, published
from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.model.method_rows import MethodRow
from coevo.model.records import TestMethod
from coevo.model.words import Label, Walk
from coevo.storage.store import Store

SEED = 5
NOT_ASKED = 'not asked'


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A published update that is a refinement here, and what its old text lacks in the new file."""

    method: Published
    row: MethodRow
    lacks: tuple[str, ...]

    @property
    def target(self) -> Target:
        row = self.row
        return Target(
            method=TestMethod(
                module=row.module,
                test_file=row.test_file,
                test_class=row.test_class,
                test_method=row.test_method,
                parameters=row.parameters,
            )
        )


def cases(repository: Repository, mined: Mined, methods: Sequence[Published]) -> Iterator[Case]:
    for method in methods:
        for segment in mined.segments(method):
            for row in segment.methods:
                place = row.test_file, row.test_method
                if place == (method.test_file, method.test_method) and _is_refinement(row):
                    yield Case(method=method, row=row, lacks=lacking(repository, row))


def _is_refinement(row: MethodRow) -> bool:
    return row.label_by_module is Label.REFINEMENT and row.old_source is not None


def lacking(repository: Repository, row: MethodRow) -> tuple[str, ...]:
    """The imports that the old text needs and the file at new lacks."""
    old = parse(_text(repository, row.old_rev, row.old_test_file or row.test_file).encode())
    new = parse(_text(repository, row.new_rev, row.test_file).encode())
    there = {(found.text, found.static) for found in new.imports}
    names = {
        name
        for type_ in old.types
        for member in type_.members
        if member.source == row.old_source
        for name in member.names
    }
    return tuple(
        f'{"static " if found.static else ""}{found.text}'
        for found in old.imports
        if (found.text, found.static) not in there and found.name in names
    )


def _text(repository: Repository, rev: str, path: str) -> str:
    text = repository.load_text(rev, path)
    assert text is not None, f'{path} stands at {rev}'
    return text


def ask(bench: Bench, repository: Repository, chosen: Sequence[Case]) -> Iterator[tuple[str, str]]:
    """Of cases of one pair: the old tree on the new code, and the new tree with one old text."""
    row = chosen[0].row
    old, new = (
        Place(tests_rev=rev, code_rev=row.new_rev, module=row.module)
        for rev in (row.old_rev, row.new_rev)
    )
    targets = [case.target for case in chosen]
    whole = bench.run(Oracle.A, Flags.C1, repository, old, targets)
    for case, ruling in zip(chosen, whole.rulings, strict=True):
        text = _text(repository, case.row.new_rev, case.row.test_file)
        assert case.row.new_source is not None
        assert case.row.old_source is not None
        edited = text.replace(case.row.new_source, case.row.old_source, 1)
        edits = {case.row.test_file: edited}
        alone = bench.run(Oracle.A, Flags.C1, repository, new, [case.target], edits)
        yield ruling.outcome, alone.rulings[0].outcome


def judged(
    bench: Bench, repository: Repository, found: Sequence[Case], each: int
) -> Iterator[tuple[Case, tuple[str, str]]]:
    pairs: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in found:
        pairs[case.row.old_rev, case.row.new_rev].append(case)
    for ends, members in sorted(pairs.items()):
        chance = random.Random(f'{SEED} {ends}')
        chosen = chance.sample(members, min(each, len(members)))
        answers = dict(zip(map(id, chosen), ask(bench, repository, chosen), strict=True))
        for case in members:
            yield case, answers.get(id(case), (NOT_ASKED, NOT_ASKED))


def row_of(case: Case, whole: str, alone: str) -> dict[str, object]:
    lacks = ', '.join(case.lacks)
    asked = f'; oracle A: {whole} with its old file, {alone} without' if whole != NOT_ASKED else ''
    return {
        **dict(zip(KEY, key_of(case.method), strict=True)),
        'lacks': lacks,
        'old_tree': whole,
        'old_text': alone,
        'evidence': (
            'the old test passes on the new code; only its text without the old imports '
            f'({lacks}) does not compile there{asked}'
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('gold', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('faults', type=Path)
    parser.add_argument('--each', type=int, default=3)
    arguments = parser.parse_args()
    updates = [m for m in published(arguments.gold) if m.track == 'update']
    store = Store(arguments.store)
    rows: list[dict[str, object]] = []
    with ExitStack() as stack:
        bench = Bench(stack)
        for partition in store.list_partitions():
            if partition.walk is not Walk.STATES:
                continue
            repository = open_clone(arguments.clones, partition.repo)
            methods = [m for m in updates if m.repo == partition.repo]
            found = [
                case
                for case in cases(
                    repository, Mined([store], partition.repo, [Walk.STATES], repository), methods
                )
                if case.lacks
            ]
            for case, (whole, alone) in judged(bench, repository, found, arguments.each):
                rows.append(row_of(case, whole, alone))
                print(*rows[-1].values(), flush=True)
    tables.write(arguments.faults, rows)


if __name__ == '__main__':
    main()
