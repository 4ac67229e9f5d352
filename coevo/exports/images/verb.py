"""The verb `coevo images`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.evaluation.verbs import parse_task_ids, require_extra
from coevo.exports.verb import add_selection_options, parse_selection, print_export_summary
from coevo.model.errors import Fatal
from coevo.options.parser import (
    Parser,
    add_sandbox_option,
    add_snapshot_argument,
)

if TYPE_CHECKING:
    from coevo.exports.images.layout import Descriptor

_DESCRIPTION = """\
Images of tasks for container engines: a base of Debian packages, the runtime and libraries of a task, the code of its
revision, its start state in /app. In a container without a network the `test_command` of the task runs there.
"""
_BUILD = """\
Writes the images of tasks as an OCI image layout into a new folder: blobs by their digests, which images share, an
index, and environments.jsonl with the digests of each. No container engine is needed, and nothing of a project is
built. The same snapshot gives the same digests on machines with the same base and runtimes. The base is made once of
Debian packages and kept in the tool cache, or it is an image that --base names.
"""
DEBIAN = 'debian'


def add_images_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    images = verbs.add_parser(
        'images',
        help='build images of tasks for container engines, without one: build, export, load, push',
        description=_DESCRIPTION,
        example='coevo images build snapshots/2026-06 --out images',
    )
    steps = images.add_subparsers(dest='step', metavar='STEP', required=True, parser_class=Parser)
    _add_build(steps)
    export = steps.add_parser(
        'export',
        help='write images as one archive',
        description='Writes images of a layout as one archive, which readers of OCI archives, `docker '
        'load` and `podman load` read.',
        example='coevo images export images --out images.tar',
    )
    _add_layout_arguments(export)
    export.add_argument('--out', type=Path, required=True, metavar='FILE', help='a new file')
    export.set_defaults(run=require_extra(_run_export))
    load = steps.add_parser(
        'load',
        help='load images into a container engine of this machine',
        description='Loads images of a layout into Docker, or into Podman if DOCKER_HOST names its socket.',
        example='coevo images load images',
    )
    _add_layout_arguments(load)
    load.set_defaults(run=require_extra(_run_load))
    push = steps.add_parser(
        'push',
        help='push images to a registry through a container engine',
        description='Loads images of a layout into a container engine, and lets that push them to a '
        'registry, with the login that the engine has.',
        example='coevo images push images --to registry.example/team/tasks',
    )
    _add_layout_arguments(push)
    push.add_argument(
        '--to', required=True, metavar='NAME', help='the registry with the name of the images there'
    )
    push.set_defaults(run=require_extra(_run_push))


def _add_build(steps: argparse._SubParsersAction[Parser]) -> None:
    build = steps.add_parser(
        'build',
        help='write images of tasks as an OCI image layout',
        description=_BUILD,
        example='coevo images build snapshots/2026-06 --out images',
    )
    add_snapshot_argument(build)
    build.add_argument('--out', type=Path, required=True, metavar='DIR', help='a new folder')
    build.add_argument(
        '--base',
        default=DEBIAN,
        metavar='NAME',
        help='what the images are built on: an archive of an image (`docker save`), or the name of '
        "an image that this machine's container engine has or pulls (default: Debian packages)",
    )
    build.add_argument(
        '--name',
        default='coevo-task',
        help='the name of the images; their tags are the ids of the tasks',
    )
    add_selection_options(build)
    add_sandbox_option(build)
    build.set_defaults(run=require_extra(_run_build))


def _add_layout_arguments(verb: Parser) -> None:
    verb.add_argument(
        'layout', type=Path, metavar='DIR', help='a folder that `coevo images build` wrote'
    )
    verb.add_argument(
        '--only-tasks',
        dest='tasks',
        nargs='+',
        action='extend',
        metavar='ID',
        help='only the images of these tasks; @FILE names a file with one id on each line',
    )


def _run_build(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.options import verify_and_get_sha256
    from coevo.exports.images.building import ImageOptions, write_images
    from coevo.exports.images.layout import parse_image_name
    from coevo.exports.selection import Omissions
    from coevo.snapshots import snapshot
    from coevo.storage.durable import build_new_folder, require_new

    parse_image_name(arguments.name)
    require_new(arguments.out)
    selection = parse_selection(arguments)
    snapshot.refuse_code_free_edition(selection.snapshot, selection.tasks)
    verify_and_get_sha256(selection.snapshot)
    omissions = Omissions()
    with _open_base(arguments.base) as base, build_new_folder(arguments.out) as folder:
        options = ImageOptions(
            selection=selection, base=base, name=arguments.name, sandbox=arguments.sandbox
        )
        sentences = [*write_images(folder, options, omissions, _say)]
    print_export_summary(arguments.out, selection, omissions, sentences)
    return 0


@contextmanager
def _open_base(word: str) -> Iterator[Path | None]:
    """Provide the archive of the base that an option names; None for Debian packages."""
    if word == DEBIAN:
        yield None
    elif Path(word).is_file():  # own name: the user's
        yield Path(word)  # own name: the user's
    else:
        from coevo.exports.images.archives import save_image
        from coevo.exports.images.layout import parse_image_name

        with tempfile.TemporaryDirectory(prefix='coevo-base-') as scratch:
            archive = Path(scratch) / 'base.tar'
            save_image(parse_image_name(word), archive, _say)
            yield archive


def _run_export(arguments: argparse.Namespace) -> int:
    from coevo.exports.images.archives import write_archive
    from coevo.storage.durable import name_file_in_errors, require_new

    require_new(arguments.out)
    images = _select_images(arguments)
    out = arguments.out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'.{out.name}.new-', dir=out.parent) as scratch:
        archive = Path(scratch) / 'archive'
        with name_file_in_errors(out), archive.open('wb') as file:
            write_archive(arguments.layout, images, file)
        require_new(arguments.out)
        archive.rename(out)
    print(f'{arguments.out}: {len(images)} images written')
    return 0


def _run_load(arguments: argparse.Namespace) -> int:
    from coevo.exports.images.archives import load_images_into_engine, open_engine

    images = _select_images(arguments)
    with open_engine() as client:
        load_images_into_engine(client, arguments.layout, images, print)
    return 0


def _run_push(arguments: argparse.Namespace) -> int:
    from coevo.exports.images.archives import load_images_into_engine, open_engine, push_images
    from coevo.exports.images.layout import parse_image_name

    registry = parse_image_name(arguments.to)
    images = _select_images(arguments)
    with open_engine() as client:
        load_images_into_engine(client, arguments.layout, images, _say)
        for name, digest in push_images(client, images, registry, _say):
            print(f'{name} {digest}'.rstrip())
    return 0


def _select_images(arguments: argparse.Namespace) -> dict[str, Descriptor]:
    """Return the images of a layout that the options want. Raises Fatal for an unknown task."""
    from coevo.exports.images.layout import load_image_descriptors

    images = load_image_descriptors(arguments.layout)
    wanted = parse_task_ids(arguments.tasks)
    if wanted is None:
        return images
    chosen = {name: image for name, image in images.items() if name.rpartition(':')[2] in wanted}
    missing = wanted - {name.rpartition(':')[2] for name in chosen}
    if missing:
        raise Fatal(f'{arguments.layout} has no image of {min(missing)}; name others')
    return chosen


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
