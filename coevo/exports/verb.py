"""The verb `coevo export`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.evaluation.verbs import (
    add_task_options,
    choose_gradable_ids,
    require_extra,
)
from coevo.model.column import Choice
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.words import Track
from coevo.options.parser import (
    Parser,
    add_clones_option,
    add_cutoff_options,
    add_snapshot_argument,
    check_clones,
    parse_cutoff,
    refuse_options_without,
)

if TYPE_CHECKING:
    from coevo.exports.selection import Omissions, Selection

_DESCRIPTION = """\
Writes tasks of a snapshot for programs that train or score models, into a new folder.
jsonl: prompts with gold for training; with --attempts also graded answers with their rewards, and pairs of a better
and a worse answer. swebench: one file of instances in the form of SWE-bench, of tasks with target methods alone.
harbor: a folder for each task that Harbor runs. The files that a prompt shows and the start states come from the
repositories, which are fetched from their addresses unless --clones has them.
"""


class ExportFormat(Choice):
    """A format of `coevo export`."""

    JSONL = 'jsonl', 'JSON lines to train on'
    SWEBENCH = 'swebench', 'instances as SWE-bench has them'
    HARBOR = 'harbor', 'task folders for Harbor'


def add_export_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    export = verbs.add_parser(
        'export',
        help='write tasks for programs that train or score: JSON lines, SWE-bench, Harbor',
        description=_DESCRIPTION,
        example='coevo export snapshots/2026-06 --format jsonl --out training',
    )
    add_snapshot_argument(export)
    export.add_argument(
        '--format', required=True, choices=[str(name) for name in ExportFormat], help='the format'
    )
    export.add_argument('--out', type=Path, required=True, metavar='DIR', help='a new folder')
    export.add_argument(
        '--attempts',
        type=Path,
        nargs='+',
        action='extend',
        default=[],
        metavar='RESULTS',
        help='with jsonl: folders that `coevo run` or `coevo evaluate` wrote, whose graded '
        'attempts are exported, too',
    )
    export.add_argument(
        '--images',
        type=Path,
        metavar='DIR',
        help='with harbor: a folder that `coevo images build` wrote, of whose images the containers of '
        'agents are made; without it Harbor builds them, with the network',
    )
    export.add_argument(
        '--images-at',
        metavar='NAME',
        help='with --images: the name under which `coevo images push` pushed them',
    )
    add_selection_options(export)
    export.set_defaults(run=require_extra(_run_export))


def add_selection_options(verb: Parser) -> None:
    """Add the options that select tasks, and that of their clones."""
    add_clones_option(verb)
    verb.add_argument(
        '--only-track',
        dest='track',
        choices=[str(track) for track in Track],
        help='only tasks of this track',
    )
    add_task_options(verb)
    add_cutoff_options(verb)


def parse_selection(arguments: argparse.Namespace) -> Selection:
    """Return the selection that the options of `add_selection_options` describe."""
    from coevo.exports.selection import Selection

    return Selection(
        snapshot=arguments.snapshot,
        clones=check_clones(arguments.clones),
        tasks=choose_gradable_ids(arguments),
        cutoff=parse_cutoff(arguments),
        track=Track(arguments.track) if arguments.track else None,
        family=Family(arguments.family) if arguments.family else None,
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
    )


def print_export_summary(
    out: Path, selection: Selection, omissions: Omissions, sentences: Sequence[str]
) -> None:
    """Print what was written and what was left out."""
    from coevo.exports.selection import describe_withheld

    withheld = describe_withheld(selection)
    for sentence in (*([withheld] if withheld else []), *omissions.sentences, *sentences):
        print(sentence)
    print(f'{out}: written')


def _run_export(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.options import verify_and_get_sha256
    from coevo.exports.selection import Omissions, describe_release
    from coevo.snapshots import snapshot
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.manifests import refuse_without_gold
    from coevo.storage.durable import build_new_folder, require_new

    if arguments.attempts and arguments.format != ExportFormat.JSONL:
        raise Fatal('--attempts has no effect but with --format jsonl; leave it out')
    if arguments.images and arguments.format != ExportFormat.HARBOR:
        raise Fatal('--images has no effect but with --format harbor; leave it out')
    refuse_options_without(arguments, '--images', '--images-at')
    require_new(arguments.out)
    selection = parse_selection(arguments)
    snapshot.refuse_code_free_edition(selection.snapshot, selection.tasks)
    refuse_without_gold(resolve_location(selection.snapshot), 'exported tasks are graded by them')
    release = describe_release(selection.snapshot, verify_and_get_sha256(selection.snapshot))
    omissions = Omissions()
    with build_new_folder(arguments.out) as folder:
        sentences = [*_write(arguments, folder, selection, release, omissions)]
    print_export_summary(arguments.out, selection, omissions, sentences)
    return 0


def _write(
    arguments: argparse.Namespace,
    folder: Path,
    selection: Selection,
    release: Mapping[str, str | None],
    omissions: Omissions,
) -> Iterator[str]:
    """Write the files of a format into a folder; return sentences about them."""
    from coevo.exports.harbor.dataset import write_dataset
    from coevo.exports.images.layout import list_image_names_by_task
    from coevo.exports.swebench import write_instances
    from coevo.exports.training import write_training_files

    match ExportFormat(arguments.format):
        case ExportFormat.JSONL:
            return write_training_files(folder, selection, arguments.attempts, release, omissions)
        case ExportFormat.SWEBENCH:
            return write_instances(folder, selection, release, omissions)
        case ExportFormat.HARBOR:
            images = (
                list_image_names_by_task(arguments.images, arguments.images_at)
                if arguments.images
                else None
            )
            return write_dataset(folder, selection, release, omissions, images)
