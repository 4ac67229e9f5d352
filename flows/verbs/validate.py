"""The verb `coevo pipeline validate`: check whether a repository is worth mining."""

from __future__ import annotations

import argparse
import sys

from coevo.model.errors import Fatal, Transient
from coevo.options.parser import PIPELINE_STEPS, Parser, add_sandbox_option
from flows.verbs.arguments import add_store_option

VALID, INVALID, BAD_INPUT, TROUBLE = 0, 1, 2, 3


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `validate` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'validate',
        help=PIPELINE_STEPS['validate'],
        description='Prove that a repository can be mined: it builds at its latest release and its '
        'tests run there. Status 1 if not, with the reason.',
        example='coevo pipeline validate apache/commons-csv',
    )
    verb.add_argument(
        'repositories', nargs='+', metavar='REPOSITORY', help='a path, a URL, or owner/name'
    )
    add_store_option(verb)
    verb.add_argument(
        '--name',
        metavar='OWNER/NAME',
        help='the key of the one repository (default: by its source)',
    )
    verb.add_argument(
        '--ref', help='what is proven (default: the latest release, or the default branch)'
    )
    add_sandbox_option(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Validate each repository, and return the most severe status.

    That is bad input, then a transient failure, then an invalid repository.
    """
    if len(arguments.repositories) > 1 and (arguments.name or arguments.ref):
        raise Fatal('--name and --ref are of one repository; validate the others by themselves')
    statuses = [_validate_one(arguments, source) for source in arguments.repositories]
    return next(status for status in (BAD_INPUT, TROUBLE, INVALID, VALID) if status in statuses)


def _validate_one(arguments: argparse.Namespace, source: str) -> int:
    """Validate one repository, print the result, and return its exit status.

    Errors are printed, too: they must not keep the others from being validated.
    """
    from coevo.display.console import open_console, show_progress
    from flows.validation import ValidateOptions, validate_repository

    options = ValidateOptions(
        source=source,
        store=arguments.store,
        name=arguments.name,
        ref=arguments.ref,
        sandbox=arguments.sandbox,
    )
    console = open_console()
    try:
        with show_progress(console) as listener:
            validation = validate_repository(options, listener)
    except Fatal as error:
        print(f'coevo: {error}', file=sys.stderr)
        return BAD_INPUT
    except Transient as error:
        print(f'coevo: {source}: {error}; run the same command again', file=sys.stderr)
        return TROUBLE
    print(validation.sentence)
    return VALID if validation.valid else INVALID
