"""Are the tasks good? Marks that two readings of the same tasks gave, and how far they agree.

    python -m benchmarks.reading draw SNAPSHOT SHEET.csv --seed N [--tasks 100] [--verified 50] [--family implement]
        [--track extension] [--without READ.csv …]
    coevo show SNAPSHOT TASK_ID                       # for each row; fill in yes or no
    python -m benchmarks.reading sum FIRST.csv SECOND.csv

A sheet is drawn by seed from the tasks of one family, co-evolution without `--family`, that can be scored on their own: those
that do not leak. `--track` draws from one track alone. With another seed and the same number a second sheet has them in
another order where it takes all. `--verified` says how many of them are of the view `verified`; the others are drawn from the rest. Tasks of the sheets after `--without` are left out, so that
rules which were made of their marks are measured on others. `unsure` is a mark, too.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence, Set as AbstractSet
from pathlib import Path

from benchmarks.refusals import print_fatal
from benchmarks.tables import append_rows, print_table, read_rows
from coevo.evaluation.assignments import list_ids_in_view, load_assignments
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.words import Track
from packagers.card import compute_upper_bound

# Each with the answer that a good task has.
QUESTIONS = {
    'label_right': 'yes',  # what the cells say is what the change did to the test
    'well_posed': 'yes',  # start state and task say what a solution has to do
    'natural': 'yes',  # a developer would be asked to do this
    'leaking': 'no',  # the start state shows the answer, or nearly
    'trivial': 'no',  # it takes no understanding: a copied name, a changed number
    'wrong_focus': 'no',  # the test is not about the code that changed
}
MARKS = ('yes', 'no', 'unsure')


def draw_sheet(
    snapshot: str,
    seed: int,
    tasks: int,
    verified: int | None = None,
    *,
    family: Family = Family.COEVOLUTION,
    track: Track | None = None,
    without: AbstractSet[str] = frozenset(),
) -> list[dict[str, str]]:
    """Draw rows without marks, in an order drawn by seed.

    verified  how many of them are of the view `verified`; None draws from all alike
    without   ids of tasks that are not drawn

    Raises: Fatal if more are to be verified than are drawn.
    """
    if verified is not None and verified > tasks:
        raise Fatal(f'--verified {verified} is more than --tasks {tasks}; draw more tasks')
    assignments = [
        each
        for each in load_assignments(snapshot, interleaved=True, leaking=False)
        if each.family is family
        and track in (None, each.task.track)
        and each.task_id not in without
    ]
    assignments.sort(key=lambda each: _hash_task(seed, each.task_id))
    if verified is not None:
        chosen = list_ids_in_view(snapshot, 'verified')
        left = {True: verified, False: tasks - verified}
        drawn = []
        for each in assignments:
            is_verified = each.task_id in chosen
            if left[is_verified] > 0:
                left[is_verified] -= 1
                drawn.append(each)
        assignments = drawn
    empty = dict.fromkeys((*QUESTIONS, 'note'), '')
    return [
        {'task_id': each.task_id, 'repo': each.task.repo, **empty} for each in assignments[:tasks]
    ]


def _hash_task(seed: int, task_id: str) -> str:
    return hashlib.sha256(f'{seed} {task_id}'.encode()).hexdigest()


def sum_sheets(
    first: Sequence[Mapping[str, str]], second: Sequence[Mapping[str, str]]
) -> list[dict[str, object]]:
    """Sum up, in a row for each question, what both readings say, how much is not good, and how far they agree."""
    before, after = _index_by_task(first), _index_by_task(second)
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())
        raise Fatal(f'task {odd[0]} stands in one of the two sheets alone; read it twice')
    return [
        _sum_question(
            question, [(before[id_][question], after[id_][question]) for id_ in sorted(before)]
        )
        for question in QUESTIONS
    ]


def _index_by_task(rows: Sequence[Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    for row in rows:
        for question in QUESTIONS:
            if row[question] not in MARKS:
                raise Fatal(
                    f'{question} of task {row["task_id"]} is {row[question]!r}; '
                    f'write one of {", ".join(MARKS)}'
                )
    return {row['task_id']: row for row in rows}


def _sum_question(question: str, marks: Sequence[tuple[str, str]]) -> dict[str, object]:
    good = QUESTIONS[question]
    either = sum(pair != (good, good) for pair in marks)
    return {
        'question': question,
        'should be': good,
        'read': len(marks),
        'not so, first': sum(mark != good for mark, _ in marks),
        'second': sum(mark != good for _, mark in marks),
        'either': either,
        'at most (95 %)': f'{compute_upper_bound(either, len(marks)):.1%}',
        'agree': f'{sum(a == b for a, b in marks) / len(marks):.0%}',
        'kappa': _compute_kappa(marks),
    }


def _compute_kappa(marks: Sequence[tuple[str, str]]) -> str:
    """Compute Cohen's kappa; a dash where both gave one mark throughout, of which it says nothing."""
    firsts, seconds = Counter(a for a, _ in marks), Counter(b for _, b in marks)
    total = len(marks)
    chance = sum(firsts[mark] * seconds[mark] for mark in MARKS) / total**2
    if chance == 1:
        return '-'
    return f'{(sum(a == b for a, b in marks) / total - chance) / (1 - chance):.2f}'


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest='verb', required=True)
    drawing = verbs.add_parser('draw')
    drawing.add_argument('snapshot')
    drawing.add_argument('sheet', type=Path)
    drawing.add_argument('--seed', type=int, required=True)
    drawing.add_argument('--tasks', type=int, default=100)
    drawing.add_argument('--verified', type=int)
    drawing.add_argument('--family', type=Family, choices=tuple(Family), default=Family.COEVOLUTION)
    drawing.add_argument('--track', type=Track, choices=tuple(Track))
    drawing.add_argument('--without', type=Path, nargs='+', default=())
    summing = verbs.add_parser('sum')
    summing.add_argument('first', type=Path)
    summing.add_argument('second', type=Path)
    given = parser.parse_args(words)
    if given.verb == 'draw':
        if given.sheet.exists():
            raise Fatal(f'{given.sheet} is there already; name a file that is not')
        rows = draw_sheet(
            given.snapshot,
            given.seed,
            given.tasks,
            given.verified,
            family=given.family,
            track=given.track,
            without={row['task_id'] for sheet in given.without for row in read_rows(sheet)},
        )
        append_rows(given.sheet, rows)
        return 0
    sums = sum_sheets(read_rows(given.first), read_rows(given.second))
    print_table(tuple(sums[0]), [tuple(row.values()) for row in sums])
    return 0


if __name__ == '__main__':
    with print_fatal('reading'):
        raise SystemExit(main())
