"""The `coevo` command. The pipeline's verbs are added from `flows.verbs` if that is available."""

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
from coevo.agents import verbs as agent_verbs
from coevo.command import (
    catalogue as catalogue_verb,
    hydration as hydration_verb,
    runtimes as runtime_verbs,
)
from coevo.display import terminal
from coevo.display.redaction import hide_credentials
from coevo.evaluation import verbs as evaluation_verbs
from coevo.model.errors import DamagedSnapshot, Fatal, Transient
from coevo.options.parser import (
    PIPELINE_VERBS,
    Parser,
    TopParser,
    Verb,
    add_cutoff,
    add_snapshot,
    parse_cutoff,
    to_unicode,
)
from coevo.storage import disk


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
    _add_pipeline(verbs, argv)
    _add_query(verbs)
    _add_identification(verbs)
    statistics = verbs.add_parser(
        'statistics',
        help='print the tables and the figure of TestEvo-Bench for a snapshot',
        example='coevo statistics snapshots/2026-05 --results results',
    )
    add_snapshot(statistics)
    statistics.add_argument(
        '--results', type=Path, metavar='DIR', help='an evaluation, for run and attempt times'
    )
    statistics.set_defaults(run=_print_statistics)
    verify = verbs.add_parser(
        'verify',
        help='check a snapshot; status 1 if anything is off',
        example='coevo verify snapshots/2026-05',
    )
    add_snapshot(verify)
    verify.set_defaults(run=_verify_snapshot)
    hydration_verb.add(verbs)
    show = verbs.add_parser(
        'show',
        help='print a task, method, pair, repository or drop for a person',
        example='coevo show snapshots/2026-05 0f3c9a1b2d4e5f60',
    )
    add_snapshot(show)
    show.add_argument(
        'id', type=to_unicode, help='a task_id, method_id, pair_id, repository, or key of a drop'
    )
    show.set_defaults(run=_show_row)
    _add_prompt(verbs)
    evaluation_verbs.add(verbs)
    agent_verbs.add(verbs)
    catalogue_verb.add(verbs)
    runtime_verbs.add(verbs)
    doctor = verbs.add_parser(
        'doctor',
        help='say what is installed and what to do about the rest',
        example='coevo doctor',
    )
    doctor.set_defaults(run=_run_doctor)
    return top


def _add_query(verbs: argparse._SubParsersAction[Parser]) -> None:
    query = verbs.add_parser(
        'query',
        help='ask a snapshot with SQL, filtered by date and track',
        example='coevo query snapshots/2026-05 --after 2025-06 --track update',
    )
    add_snapshot(query)
    query.add_argument(
        'sql', nargs='?', type=to_unicode, help='a question (default: counts by track and label)'
    )
    query.add_argument(
        '--and',
        dest='others',
        action='append',
        default=[],
        metavar='SNAPSHOT',
        help='another month to ask at once; tables then have a column `snapshot`',
    )
    add_cutoff(query)
    query.add_argument(
        '--track',
        choices=('generation', 'update', 'extension', 'repair'),
        help='only what is of this track',
    )
    query.add_argument(
        '--format',
        choices=('table', 'csv', 'json', 'parquet'),
        default='table',
        help='how the answer is written',
    )
    query.add_argument('--out', type=Path, metavar='FILE', help='write the answer there')
    query.set_defaults(run=_run_query)
    query.late = 'sql'


def _add_prompt(verbs: argparse._SubParsersAction[Parser]) -> None:
    prompt = verbs.add_parser(
        'prompt',
        example='coevo prompt snapshots/2026-05 0f3c9a1b2d4e5f60',
        help='print what an agent is told of a task, byte by byte',
        description='What every agent is told of a task, byte by byte. For generation and update it is '
        "the paper's own text (TestEvo-Bench, A.3); the paper has none for repair, and that one is ours. "
        'The column tasks.prompt_version says which version it is.',
    )
    add_snapshot(prompt)
    prompt.add_argument('task', type=to_unicode, help='a task_id')
    prompt.set_defaults(run=_print_prompt)


def _add_identification(verbs: argparse._SubParsersAction[Parser]) -> None:
    study = verbs.add_parser(
        'identification',
        help='count and export the label sets of test-update identification',
        example='coevo identification snapshots/2026-05 --after 2025-06 --export labels',
    )
    study.add_argument('snapshot', type=Path, help='a folder, a .zip, or a URL')
    add_cutoff(study)
    study.add_argument(
        '--walk',
        choices=('parents', 'first-parent', 'states', 'window'),
        help='whose pairs are counted (default: parents)',
    )
    study.add_argument('--export', type=Path, metavar='DIR', help='write both label sets there')
    study.add_argument(
        '--format', choices=('parquet', 'csv'), default='parquet', help='of the exported files'
    )
    study.add_argument(
        '--split',
        default='80/10/10',
        metavar='PERCENT',
        help='shares of the repositories for training, validation and test',
    )
    study.add_argument(
        '--seed', type=int, default=0, metavar='N', help='decides which repository goes where'
    )
    study.set_defaults(run=_run_identification)


def _add_pipeline(verbs: argparse._SubParsersAction[Parser], argv: Sequence[str]) -> None:
    """Add the pipeline's verbs. Only the requested one is imported, since imports take time."""
    requested = argv[0] if argv and _has_pipeline() else None
    for verb, text in PIPELINE_VERBS.items():
        if verb == requested:
            importlib.import_module(f'flows.verbs.{verb}').add(verbs)
            continue
        sub = verbs.add_parser(verb, help=text, add_help=False)
        sub.add_argument('rest', nargs=argparse.REMAINDER)
        sub.set_defaults(run=_fail_without_pipeline)


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


def _fail_without_pipeline(arguments: argparse.Namespace) -> int:
    raise Fatal(
        f'`coevo {arguments.verb}` is part of the pipeline, which is not in the wheel; clone the '
        'repository of coevo and run `make setup` there'
    )


def _run_query(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.query import SnapshotQuery, run_query

    question = SnapshotQuery(
        sql=arguments.sql,
        cutoff=parse_cutoff(arguments),
        track=arguments.track,
        format=arguments.format,
        out=arguments.out,
    )
    run_query((arguments.snapshot, *arguments.others), question)
    return 0


def _run_identification(arguments: argparse.Namespace) -> int:
    from coevo.model.words import Walk
    from coevo.snapshots.identification import (
        IdentificationStudy,
        parse_split,
        print_identification,
    )

    study = IdentificationStudy(
        cutoff=parse_cutoff(arguments),
        walk=Walk(arguments.walk or Walk.PARENTS),
        export=arguments.export,
        format=arguments.format,
        split=parse_split(arguments.split),
        seed=arguments.seed,
    )
    print_identification(arguments.snapshot, study)
    return 0


def _print_statistics(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.statistics_text import render_statistics

    terminal.write_data(render_statistics(arguments.snapshot, arguments.results).encode())
    return 0


def _verify_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.snapshot import load_manifest
    from coevo.snapshots.verification import list_skipped_rules, verify_snapshot

    try:
        findings = verify_snapshot(arguments.snapshot)
        skipped = list_skipped_rules(load_manifest(arguments.snapshot))
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for finding in findings:
        print(f'{finding.table}: {finding.rule}: {finding.row} {finding.detail}'.rstrip())
    if skipped:
        rules = ', '.join(f'{rule.table}.{rule.name}' for rule in skipped)
        print(f'not asked, since a code-free edition has no texts: {rules}')
    print('not good: see above' if findings else f'{hide_credentials(arguments.snapshot)}: good')
    return 1 if findings else 0


def _show_row(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.show import render_by_id

    print(render_by_id(arguments.snapshot, arguments.id))
    return 0


def _print_prompt(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.task_prompts import load_task_prompt

    terminal.write_data(load_task_prompt(arguments.snapshot, arguments.task).encode())
    return 0


def _run_doctor(arguments: argparse.Namespace) -> int:
    from coevo.command.doctor import examine_machine

    findings = examine_machine()
    for finding in findings:
        print(finding)
    return 1 if any(check.needed and not check.good for check in findings) else 0


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
        leave_out_pandas()
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
        print(f'coevo: {error}; nothing is lost, run the same command again', file=sys.stderr)
        return 3
    except KeyboardInterrupt as interruption:
        print('coevo: interrupted; what was finished is kept', file=sys.stderr)
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
        if not disk.is_mendable(error, words):
            raise
        print(f'coevo: {disk.describe_trouble(error, words)}', file=sys.stderr)
        if error.filename == terminal.STANDARD_OUTPUT:
            terminal.silence_stream(sys.stdout)
        return 2


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    def terminate(number: int, frame: object) -> NoReturn:
        """Raise TerminationInterrupt."""
        raise TerminationInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
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
        """Raise ModuleNotFoundError for pandas; find no other module."""
        if name == _UNUSED:
            raise ModuleNotFoundError(f'coevo has no use for {name} here', name=name)
        return None


def leave_out_pandas() -> None:
    """Prevent the import of pandas, which takes about a second, in a process that runs a command.

    pyarrow imports pandas, if it is installed, when the first array is made, because the values
    might have types of pandas. Values in coevo's commands never have. Programs that import `coevo`
    are not affected.
    """
    if _UNUSED not in sys.modules:
        sys.meta_path.insert(0, _UnusedLibraryFinder())
