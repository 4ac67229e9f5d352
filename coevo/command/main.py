"""The `coevo` command: its verbs, those of the pipeline included, and the exit status of each kind
of end.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from coevo import __version__
from coevo.agents import verb as run_verb
from coevo.command import doctor_verb, reading, report
from coevo.display import terminal
from coevo.evaluation import verbs as evaluation_verbs
from coevo.exports import verb as export_verb
from coevo.exports.images import verb as images_verb
from coevo.model.errors import Fatal, Transient
from coevo.options.parser import PIPELINE, PIPELINE_STEPS, PIPELINE_VERBS, Parser, TopParser, Verb
from coevo.storage import disk

# The verbs of those who make data: `coevo mine`, `coevo release` and `coevo pipeline VERB`.
#
# They come from `flows.verbs`, if that is available; the wheel does not contain it.


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


# The `coevo` command: its verbs, and the exit status of each kind of end.


class TerminationInterrupt(KeyboardInterrupt):
    """SIGTERM, handled as Ctrl-C but with its own exit status."""


def build_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the whole command line.

    Only the requested verb of the pipeline gets its options, from `flows.verbs`.
    """
    top = TopParser(
        prog='coevo', description='Executable test-maintenance tasks from public Git histories.'
    )
    top.add_argument('--version', action='version', version=f'coevo {__version__}')
    verbs = top.verbs
    reading.add_get_verb(verbs)
    reading.add_query(verbs)
    reading.add_show(verbs)
    reading.add_verify(verbs)
    reading.add_prompt(verbs)
    evaluation_verbs.add_evaluation_verbs(verbs)
    run_verb.add_run_verb(verbs)
    report.add_report_verb(verbs)
    export_verb.add_export_verb(verbs)
    images_verb.add_images_verb(verbs)
    add_pipeline_verbs(verbs, argv)
    doctor_verb.add_doctor_verb(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0    success
    1    a negative result, such as an invalid snapshot
    2    bad input, with one sentence on standard error
    3    a temporary failure; the same command can be run again
    130  interrupted by Ctrl-C
    143  ended by SIGTERM
    """
    if argv is None:
        prevent_pandas_import()
    with terminal.guard_output():
        return _run_command(argv)


def _run_command(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = build_parser(words).parse_args(words)
        run: Verb = arguments.run
        with _interrupt_on_sigterm():
            status = run(arguments)
            sys.stdout.flush()
            return status
    except Fatal as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 2
    except Transient as error:
        print(f'coevo: {error}; nothing is lost; run the same command again', file=sys.stderr)
        return 3
    except KeyboardInterrupt as interruption:
        print(
            'coevo: interrupted; finished work is kept; run the same command again to continue',
            file=sys.stderr,
        )
        return 128 + (
            signal.SIGTERM if isinstance(interruption, TerminationInterrupt) else signal.SIGINT
        )
    except SystemExit:  # argparse does not check whether its help could be written
        try:
            sys.stdout.flush()
        except OSError:
            terminal.silence_stream(sys.stdout)
        raise
    except BrokenPipeError:
        terminal.silence_stream(sys.stdout)
        return 0
    except OSError as error:
        if not disk.can_user_fix(error, words):
            raise
        print(f'coevo: {disk.describe_trouble(error, words)}', file=sys.stderr)
        if error.filename == terminal.STANDARD_OUTPUT:
            terminal.silence_stream(sys.stdout)
        return 2


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    def raise_termination_interrupt(number: int, frame: object) -> NoReturn:
        """Raise TerminationInterrupt."""
        raise TerminationInterrupt

    before = signal.signal(signal.SIGTERM, raise_termination_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_UNUSED = 'pandas'


class _UnusedLibraryFinder(MetaPathFinder):
    """Makes the import of pandas fail, as if it were not installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for pandas; return None for every other module."""
        if name == _UNUSED:
            raise ModuleNotFoundError(f'coevo has no use for {name} here', name=name)
        return None


def prevent_pandas_import() -> None:
    """Prevent the import of pandas, which takes about a second, in a process that runs a command.

    pyarrow imports pandas, if it is installed, when the first array is made, because the values
    might have types of pandas. Values in coevo's commands never have. Programs that import `coevo`
    are not affected.
    """
    if _UNUSED not in sys.modules:
        sys.meta_path.insert(0, _UnusedLibraryFinder())
