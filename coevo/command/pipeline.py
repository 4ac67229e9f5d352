"""The verbs of those who make data: `coevo mine`, `coevo release` and `coevo pipeline VERB`.

They come from `flows.verbs`, if that is available; the wheel does not contain it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.options.parser import PIPELINE, PIPELINE_STEPS, PIPELINE_VERBS, Parser


def add_pipeline_verbs(verbs: argparse._SubParsersAction[Parser], argv: Sequence[str]) -> None:
    """Add the verbs `mine`, `release` and `pipeline` with its steps.

    Only the requested verb is imported, since imports take time. Without `flows` all of them raise
    Fatal when they are run.
    """
    _add_verbs(verbs, PIPELINE_VERBS, argv)
    pipeline = verbs.add_parser(
        PIPELINE,
        help='steps of the data pipeline: ' + ', '.join(PIPELINE_STEPS),
        description='The steps around `coevo mine` and `coevo release`: find repositories, check them, '
        'maintain a store, and publish releases.',
        example='coevo pipeline status',
    )
    steps = pipeline.add_subparsers(dest='step', metavar='STEP', required=True, parser_class=Parser)
    _add_verbs(steps, PIPELINE_STEPS, argv[1:] if tuple(argv[:1]) == (PIPELINE,) else ())


def _add_verbs(
    verbs: argparse._SubParsersAction[Parser], texts: dict[str, str], argv: Sequence[str]
) -> None:
    requested = argv[0] if argv and _has_pipeline() else None
    for verb, text in texts.items():
        if verb == requested:
            importlib.import_module(f'flows.verbs.{verb}').add(verbs)
            continue
        sub = verbs.add_parser(verb, help=text, add_help=False)
        sub.add_argument('rest', nargs=argparse.REMAINDER)
        sub.set_defaults(run=_refuse_without_pipeline)


def _has_pipeline() -> bool:
    """Return whether the `flows` that Python would import is coevo's and not another package."""
    spec = importlib.util.find_spec('flows')
    ours = Path(__file__).resolve().parents[2] / 'flows'
    return (
        spec is not None
        and spec.origin is not None
        and Path(spec.origin).resolve().parent == ours
        and (ours / 'verbs' / 'mine.py').is_file()
    )


def _refuse_without_pipeline(arguments: argparse.Namespace) -> int:
    words = f'{arguments.verb} {arguments.step}' if 'step' in arguments else arguments.verb
    raise Fatal(
        f'`coevo {words}` is part of the pipeline, which is not in the wheel; clone the '
        'repository of coevo and run `make setup` there'
    )
