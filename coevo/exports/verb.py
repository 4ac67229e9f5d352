"""The verb `coevo export`, which writes tasks in formats that other tools read."""

from __future__ import annotations

import argparse
import sys
import tempfile
from enum import StrEnum
from pathlib import Path

from coevo.evaluation.verbs import add_task_options, parse_task_ids, require_extra
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.options.parser import Parser, add_cutoff, add_snapshot, parse_cutoff


class ExportFormat(StrEnum):
    """The formats of an export."""

    JSONL = 'jsonl'
    SWEBENCH = 'swebench'


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'export',
        help='write tasks in a format that other tools read',
        description='Writes the tasks of a snapshot into a new folder. jsonl, for training: '
        'tasks.jsonl has the prompt and the gold patch of each task; with --runs, attempts.jsonl has '
        'graded answers with their rewards, and preferences.jsonl pairs of answers to one task, of '
        'which one is better. swebench: instances.jsonl has the fields of SWE-bench. Tasks whose '
        'texts are withheld are left out. Exit status 1 if no task is left.',
        example='coevo export snapshots/2026-05 --format jsonl --out exported',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--format',
        required=True,
        choices=[str(name) for name in ExportFormat],
        help='the format',
    )
    verb.add_argument('--out', type=Path, required=True, metavar='DIR', help='a new folder')
    verb.add_argument(
        '--runs',
        type=Path,
        nargs='+',
        action='extend',
        default=[],
        metavar='DIR',
        help='folders of `coevo run` or submissions, whose graded answers are exported (jsonl only)',
    )
    add_task_options(verb)
    verb.add_argument(
        '--only-family',
        dest='family',
        choices=[str(family) for family in Family],
        help='only tasks of this family',
    )
    add_cutoff(verb)
    verb.set_defaults(run=require_extra(_export_tasks))


def _export_tasks(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.assignments import describe_withheld_tasks, load_assignments
    from coevo.evaluation.verified import require_verified
    from coevo.exports.graded_attempts import load_graded_attempts
    from coevo.exports.instances import write_instances
    from coevo.exports.training import write_training_files

    out, wanted = arguments.out, ExportFormat(arguments.format)
    if arguments.runs and wanted is not ExportFormat.JSONL:
        raise Fatal(f'--runs has no effect with --format {wanted}; leave it out, or name jsonl')
    if out.exists() or out.is_symlink():
        raise Fatal(f'{out} already exists; name a new folder')
    snapshot_sha256 = require_verified(arguments.snapshot)
    assignments = tuple(
        assignment
        for assignment in load_assignments(
            arguments.snapshot,
            parse_task_ids(arguments.tasks),
            parse_cutoff(arguments),
            interleaved=arguments.interleaved,
            leaking=arguments.leaking,
        )
        if arguments.family is None or assignment.family == Family(arguments.family)
    )
    withheld = None if arguments.tasks else describe_withheld_tasks(arguments.snapshot)
    if withheld is not None:
        print(withheld, file=sys.stderr)
    if not assignments:
        print('no task is left; nothing was written', file=sys.stderr)
        return 1
    ids = {assignment.task_id for assignment in assignments}
    attempts = (
        load_graded_attempts(arguments.runs, ids, snapshot_sha256) if arguments.runs else None
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='.coevo-export-', dir=out.parent) as scratch:
        folder = Path(scratch) / 'made'
        folder.mkdir(mode=0o755)
        lines = (
            write_training_files(folder, assignments, attempts, snapshot_sha256)
            if wanted is ExportFormat.JSONL
            else write_instances(folder, assignments, snapshot_sha256)
        )
        folder.rename(out)
    for name, count in lines.items():
        print(f'{out / name}: {count} line{"" if count == 1 else "s"}')
    return 0
