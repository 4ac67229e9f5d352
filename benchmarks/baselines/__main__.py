"""Baselines as submissions: a folder for each, ready for `coevo evaluate` and `coevo submit --check`.

    python -m benchmarks.baselines SNAPSHOT --out DIR [--store STORE] [--only NAME] [--tasks FILE] [--url URL]
    coevo evaluate SNAPSHOT DIR/NAME --out DIR/NAME/results

Each answers every co-evolution task of the snapshot, leaking ones too, in whatever language, or those
of which FILE has the ids, one on a line. They name the model `none`, which was trained on nothing and so has a cutoff
before all tasks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.baselines.answers import ANSWERS
from benchmarks.refusals import print_fatal
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import compute_release_sha256
from coevo.storage import durable

_HARNESS = 'coevo baseline'
_BEFORE_ALL = '1970-01-01'


def write_submissions(
    snapshot: str,
    out: Path,
    store: Path | None,
    names: Collection[str],
    url: str,
    tasks: Collection[str] | None = None,
) -> dict[str, int]:
    """Write them; give by name, how many answers are no empty patch."""
    every = load_assignments(snapshot, interleaved=True, leaking=True)
    wanted = [
        each
        for each in every
        if each.family is Family.COEVOLUTION and (tasks is None or each.task_id in tasks)
    ]
    if not wanted:
        raise Fatal(f'{snapshot} has no such co-evolution task to answer')
    if out.exists():
        raise Fatal(f'{out} already exists; name a new folder')
    answers = list(_list_answers(wanted, store, names))
    metadata = _describe_submission(snapshot, url)
    counts = {}
    for name in names:
        patches = {task_id: patch for answered, task_id, patch in answers if answered == name}
        _write_submission(out / name, name, patches, metadata)
        counts[name] = sum(map(bool, patches.values()))
    return counts


def _list_answers(
    wanted: Sequence[Assignment], store: Path | None, names: Collection[str]
) -> Iterator[tuple[str, str, str]]:
    """Give baseline, task and patch."""
    for _, group in groupby(wanted, key=lambda each: each.task.repo):
        theirs = list(group)
        with open_task_repository([each.task for each in theirs], store) as repository:
            for assignment in theirs:
                for name in names:
                    yield name, assignment.task_id, ANSWERS[name].make(repository, assignment)


def _describe_submission(snapshot: str, url: str) -> dict[str, Any]:
    digest = compute_release_sha256(resolve_location(snapshot))
    return {
        'submission_version': 1,
        'snapshot_sha256': digest,
        'url': url,
        'contact': 'whoever maintains coevo',
        'attempts': 1,
        'network': False,
        'cutoff': _BEFORE_ALL,
        'cutoff_source': url,
    }


def _write_submission(
    folder: Path, name: str, patches: dict[str, str], metadata: dict[str, Any]
) -> None:
    who = {'harness': f'{_HARNESS}: {name}', 'model': 'none'}
    lines = [
        json.dumps({'task_id': task_id, 'patch': patch, **who}, sort_keys=True)
        for task_id, patch in sorted(patches.items())
    ]
    durable.write_durably(
        folder / 'predictions.jsonl', [''.join(f'{line}\n' for line in lines).encode()]
    )
    about = json.dumps({**metadata, **who}, indent=1, sort_keys=True)
    durable.write_durably(folder / 'submission.json', [f'{about}\n'.encode()])
    told = json.dumps({'program': 'benchmarks.baselines', 'answer': ANSWERS[name].clause})
    for task_id in patches:
        durable.write_durably(folder / 'logs' / f'{task_id}.jsonl', [f'{told}\n'.encode()])


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        allow_abbrev=False,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('snapshot')
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--store', type=Path)
    parser.add_argument('--only', choices=ANSWERS, action='append', default=[])
    parser.add_argument('--tasks', type=Path)
    parser.add_argument('--url', default='https://example.org/coevo/baselines')
    arguments = parser.parse_args(words)
    names = arguments.only or list(ANSWERS)
    with print_fatal('baselines'):
        counts = write_submissions(
            arguments.snapshot,
            arguments.out,
            arguments.store,
            names,
            arguments.url,
            set(arguments.tasks.read_text().split()) if arguments.tasks else None,
        )
    for name, count in counts.items():
        print(f'{arguments.out / name}: {count} answers ({ANSWERS[name].clause})')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
