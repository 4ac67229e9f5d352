"""The verbs of those who read a snapshot: `coevo get`, `query`, `show`, `verify` and `prompt`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.display import terminal
from coevo.display.terminal import hide_credentials
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import Listener
from coevo.options.parser import (
    Parser,
    add_clones_option,
    add_cutoff_options,
    add_snapshot_argument,
    check_clones,
    parse_cutoff,
    refuse_options_beside,
    to_unicode,
)

# The verbs that read a snapshot: `coevo query`, `show`, `verify` and `prompt`.


def print_snapshots(place: str | None, format: str) -> int:
    """Print the snapshots of a folder or URL. Return status 1 if the catalogue is damaged.

    place   with a catalogue.json, or a folder of snapshots; None is the usual place
    format  table or json

    Raises: Fatal for another format.
    """
    from coevo.display.presentation import align_columns
    from coevo.snapshots.catalogue import (
        COUNTED,
        encode_catalogue,
        find_default_place,
        load_catalogue,
    )

    if format not in ('table', 'json'):
        raise Fatal(f'--format must be table or json for a list of snapshots, not {format}')
    try:
        snapshots = load_catalogue(place or find_default_place())
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    if format == 'json':
        sys.stdout.write(encode_catalogue(snapshots).decode())
        return 0
    heads = ('snapshot', 'month', 'schema', *COUNTED, 'MB')
    rows = [
        (
            snapshot.name,
            snapshot.month,
            snapshot.schema,
            *(str(snapshot.rows.get(table, 0)) for table in COUNTED),
            f'{snapshot.size / 1e6:.1f}',
        )
        for snapshot in snapshots
    ]
    sys.stdout.write(align_columns([heads, *rows], [False] * 3 + [True] * (len(heads) - 3)))
    return 0


def add_query(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `query`."""
    query = verbs.add_parser(
        'query',
        help='query a snapshot with SQL, or list snapshots',
        description=(
            'Runs SQL on a snapshot, filtered by date and track. --list prints which snapshots '
            'there are.'
        ),
        example='coevo query snapshots/2026-06 --only-after 2025-06 --only-track update',
    )
    query.add_argument(
        'snapshot',
        nargs='?',
        help='a month of this folder, such as 2026-07, the word `latest`, a folder, a .zip, or a URL of '
        'https:// or s3://; with --list a folder or URL of snapshots ($COEVO_SNAPSHOTS, else ./snapshots)',
    )
    query.add_argument(
        'sql', nargs='?', type=to_unicode, help='the query (default: counts by track and label)'
    )
    query.add_argument('--list', action='store_true', help='list snapshots, the newest last')
    query.add_argument(
        '--and',
        action='append',
        default=[],
        metavar='SNAPSHOT',
        help='another month to query together; tables then have a column `snapshot`',
    )
    add_cutoff_options(query)
    query.add_argument(
        '--only-track',
        dest='track',
        choices=('generation', 'update', 'extension', 'repair'),
        help='only rows of this track',
    )
    query.add_argument(
        '--format',
        choices=('table', 'csv', 'json', 'parquet'),
        default='table',
        help='output format',
    )
    query.add_argument('--out', type=Path, metavar='FILE', help='write the output to this file')
    query.set_defaults(run=_run_query)
    query.late = 'sql'


def _run_query(arguments: argparse.Namespace) -> int:
    if arguments.list:
        beside = ('--and', '--only-after', '--only-before', '--only-unseen-by', '--only-track')
        refuse_options_beside(arguments, '--list', 'sql', '--out', *beside)
        return print_snapshots(arguments.snapshot, arguments.format)
    if arguments.snapshot is None:
        raise Fatal('name a snapshot, such as a month; `coevo query --list` lists them')

    from coevo.snapshots.query import SnapshotQuery, run_query

    question = SnapshotQuery(
        sql=arguments.sql,
        cutoff=parse_cutoff(arguments),
        track=arguments.track,
        format=arguments.format,
        out=arguments.out,
    )
    run_query((arguments.snapshot, *getattr(arguments, 'and')), question)
    return 0


def add_show(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `show`."""
    show = verbs.add_parser(
        'show',
        help='print a task, method, pair, repository or drop in readable form',
        example='coevo show snapshots/2026-06 0f3c9a1b2d4e5f60',
    )
    add_snapshot_argument(show)
    show.add_argument(
        'id', type=to_unicode, help='a task_id, method_id, pair_id, repository, or key of a drop'
    )
    show.set_defaults(run=_show_row)


def _show_row(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.show import render_by_id

    print(render_by_id(arguments.snapshot, arguments.id))
    return 0


def add_verify(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `verify`."""
    verify = verbs.add_parser(
        'verify',
        help='check a snapshot; status 1 if it finds a fault',
        example='coevo verify snapshots/2026-06',
    )
    add_snapshot_argument(verify)
    verify.set_defaults(run=_verify_snapshot)


def _verify_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.manifests import (
        has_withheld_texts,
        list_filled_pairs,
        withholds_gold,
    )
    from coevo.snapshots.snapshot import load_manifest
    from coevo.snapshots.verification import LAWS, list_skipped_rules, verify_snapshot

    try:
        findings = verify_snapshot(arguments.snapshot)
        manifest = load_manifest(arguments.snapshot)
        skipped = list_skipped_rules(manifest)
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for finding in findings:
        print(f'{finding.table}: {finding.rule}: {finding.row} {finding.detail}'.rstrip())
    if skipped and not withholds_gold(manifest):
        rules = ', '.join(f'{rule.table}.{rule.name}' for rule in skipped)
        print(f'not checked, since a code-free edition has no texts: {rules}')
    if withholds_gold(manifest):
        print('the answers of the developers are withheld here')
    elif has_withheld_texts(manifest):
        count = len(list_filled_pairs(manifest))
        have = '1 pair has its' if count == 1 else f'{count} pairs have their'
        print(f'{have} texts; `coevo get` fills in the others')
    print('not good: see above' if findings else f'{hide_credentials(arguments.snapshot)}: good')
    if not findings:
        rows = sum(manifest['rows'].values())
        print(
            f'checked: {len(manifest["files"])} files by SHA-256, {rows:,} rows by keys, ids and labels, '
            f'and {len(LAWS) - len(skipped)} rules between them'
        )
    return 1 if findings else 0


def add_prompt(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `prompt`."""
    prompt = verbs.add_parser(
        'prompt',
        example='coevo prompt snapshots/2026-06 0f3c9a1b2d4e5f60',
        help='print the prompt of a task exactly as agents get it',
        description='Prints the prompt of a task exactly as agents get it. For generation and update it '
        'is the text of the paper (TestEvo-Bench, A.3). The paper has no text for extension '
        'and repair; coevo has its own. The column tasks.prompt_version names the version of '
        'the text.',
    )
    add_snapshot_argument(prompt)
    prompt.add_argument('task', type=to_unicode, help='a task_id')
    prompt.set_defaults(run=_print_prompt)


def _print_prompt(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.query import load_task_prompt

    terminal.write_data(load_task_prompt(arguments.snapshot, arguments.task).encode())
    return 0


# The verb `coevo get`, which brings a month here, and the texts that an edition omits.


def add_get_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `get` to the command's parser."""
    verb = verbs.add_parser(
        'get',
        help='get a month: copy a snapshot and fill in source texts that it lacks',
        description='Copies the snapshot of a month to this machine. If it is a code-free edition, coevo '
        'takes the missing source texts from the public Git repositories, and says which '
        'texts it could not get and why. Run it again to continue a folder that is filled in '
        'part. Once all texts are there, every file has the SHA-256 of the release. Exit '
        'status 1 if a text is still missing.',
        example='coevo get 2026-07',
    )
    add_snapshot_argument(verb)
    verb.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='a new folder, or one that an earlier run filled in part (default: the folder `whole` '
        'beside the edition, or snapshots/MONTH)',
    )
    verb.add_argument(
        '--only-repositories',
        '--only-repository',
        dest='repositories',
        nargs='+',
        action='extend',
        default=[],
        metavar='OWNER/NAME',
        help='fill in only the texts of these repositories',
    )
    verb.add_argument(
        '--only-tasks',
        '--only-task',
        dest='tasks',
        nargs='+',
        action='extend',
        default=[],
        metavar='ID',
        help='fill in only the texts of these tasks; @FILE names a file with one id on each line',
    )
    add_clones_option(verb)
    verb.set_defaults(run=_copy_or_fill_snapshot)


def _copy_or_fill_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.copying import choose_download_folder, copy_and_verify_snapshot
    from coevo.snapshots.locations import SnapshotFolder
    from coevo.snapshots.manifests import (
        has_withheld_texts,
        load_manifest_at,
        refuse_without_gold,
    )

    check_clones(arguments.clones)
    location = resolve_location(arguments.snapshot)
    refuse_without_gold(location, 'nothing fills them in')
    if has_withheld_texts(load_manifest_at(location)):
        return _fill_edition(arguments, arguments.out or choose_download_folder(arguments.snapshot))
    if arguments.clones or arguments.repositories or arguments.tasks:
        raise Fatal(
            f'{location.shown} already has all of its texts; leave out all options but --out'
        )
    if arguments.out is None and isinstance(location, SnapshotFolder):
        print(f'{location.shown} is complete: it has all of its texts')
        return 0
    out = arguments.out or choose_download_folder(arguments.snapshot)
    copy_and_verify_snapshot(arguments.snapshot, out)
    print(f'{out}: written')
    return 0


def _fill_edition(arguments: argparse.Namespace, out: Path) -> int:
    from coevo.evaluation.verbs import parse_task_ids
    from coevo.snapshots.code_free.filling import FillSelection, fill_edition

    selection = FillSelection(
        repositories=tuple(arguments.repositories),
        tasks=tuple(sorted(parse_task_ids(arguments.tasks) or ())),
    )
    try:
        report = fill_edition(
            arguments.snapshot, out, arguments.clones, selection, Listener(step=_print_step)
        )
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for sentence in report.sentences:
        print(sentence, file=sys.stdout if report.is_complete else sys.stderr)
    return 0 if report.is_complete else 1


def _print_step(step: str, done: int, total: int) -> None:
    """Print a line of progress; the wheel alone has no library for more."""
    print(f'{done} of {total} {step}', file=sys.stderr, flush=True)
