"""The verbs of evaluations: `coevo evaluate`, `coevo compare`, `coevo regrade`."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal
from coevo.options.arguments import add_jobs
from coevo.options.arguments import add_sandbox
from coevo.options.parser import Parser
from coevo.options.parser import Verb
from coevo.options.parser import add_cutoff
from coevo.options.parser import cutoff_of

if TYPE_CHECKING:
    from coevo.snapshots.cutoffs import Cutoff

# What the extra `evaluate` of the wheel brings, by the names of import.
_EXTRA = ('psutil', 'rich', 'tree_sitter', 'tree_sitter_java', 'urllib3')


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    _add_evaluate(verbs)
    compare = verbs.add_parser('compare', help='set two evaluations of the same tasks side by side')
    compare.add_argument('first', type=Path, metavar='A', help='the --out of a `coevo evaluate`')
    compare.add_argument('second', type=Path, metavar='B', help='another one')
    compare.add_argument('--format', choices=('table', 'json'), default='table')
    compare.set_defaults(run=with_extra(_compare))
    regrade = verbs.add_parser('regrade', help='report on stored results again, running nothing')
    regrade.add_argument('folder', type=Path, metavar='DIR', help='the --out of a `coevo evaluate`')
    regrade.set_defaults(run=with_extra(_regrade))


def with_extra(run: Verb) -> Verb:
    """Fatal instead where the wheel was installed without what an evaluation takes."""

    def checked(arguments: argparse.Namespace) -> int:
        missing = [name for name in _EXTRA if importlib.util.find_spec(name) is None]
        if missing:
            raise Fatal(
                f'`coevo {arguments.verb}` needs packages that are not here ({", ".join(missing)}); '
                'install coevo[evaluate]'
            )
        return run(arguments)

    return checked


def _add_evaluate(verbs: argparse._SubParsersAction[Parser]) -> None:
    evaluate = verbs.add_parser('evaluate', help='score patches against the tasks of a snapshot')
    evaluate.add_argument('snapshot', help='a folder, a .zip, or a URL of https:// or s3://')
    evaluate.add_argument(
        'predictions', type=Path, help='a .jsonl, a .parquet, or a folder of TASK_ID.patch'
    )
    evaluate.add_argument('--out', type=Path, required=True, metavar='DIR')
    evaluate.add_argument(
        '--store', type=Path, metavar='DIR', help='whose clones are used (else those of the URLs)'
    )
    add_tasks(evaluate)
    add_cutoff(evaluate)
    add_jobs(evaluate)
    add_sandbox(evaluate)
    evaluate.add_argument('--cache', type=Path, metavar='DIR', help='what was judged before')
    evaluate.add_argument(
        '--test-seconds',
        type=float,
        metavar='S',
        help='CPU seconds that a test may take (60, or ten times what it took before)',
    )
    evaluate.add_argument(
        '--no-adequacy',
        dest='adequacy',
        action='store_false',
        help='verdicts alone: no coverage, mutants, or reversals',
    )
    evaluate.add_argument(
        '--pit',
        action='store_true',
        help="PIT's mutants of the changed methods, too; PIT's word, which decides no outcome",
    )
    evaluate.set_defaults(run=with_extra(_evaluate))


def _evaluate(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.display.console import showing
    from coevo.evaluation.evaluation import evaluate
    from coevo.evaluation.options import Options
    from coevo.evaluation.output import check
    from coevo.evaluation.output import summary
    from coevo.evaluation.output import write
    from coevo.evaluation.reporting import tables

    console = open_console()
    check(arguments.out, '--out')
    if arguments.cache is not None:
        check(arguments.cache, '--cache')
    with showing(console) as listener:
        evaluation = evaluate(
            Options(
                snapshot=arguments.snapshot,
                predictions=arguments.predictions,
                store=existing_store(arguments.store),
                tasks=named_tasks(arguments.tasks),
                cutoff=_cutoff(arguments),
                models=arguments.models,
                interleaved=arguments.interleaved,
                leaking=arguments.leaking,
                jobs=arguments.jobs,
                sandbox=arguments.sandbox,
                cache=arguments.cache,
                test_seconds=more_than_zero(arguments.test_seconds, '--test-seconds'),
                adequacy=arguments.adequacy,
                pit=arguments.pit,
            ),
            listener,
        )
    report = write(arguments.out, evaluation)
    tables.show(report, console)
    for sentence in summary(evaluation, arguments.out):
        console.print(sentence, markup=False, highlight=False)
    return 1 if evaluation.bugs else 0


def _cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Here --models may stand alone: results say the cutoff of the model that answered."""
    asked = (arguments.after, arguments.model, arguments.margin or None)
    return None if asked == (None, None, None) else cutoff_of(arguments)


def add_tasks(verb: Parser) -> None:
    verb.add_argument(
        '--tasks', nargs='+', metavar='ID', help='only these; @FILE has one on each line'
    )
    verb.add_argument(
        '--interleaved',
        action='store_true',
        help='also tasks whose old revision is no ancestor of the new one',
    )
    verb.add_argument(
        '--leaking',
        action='store_true',
        help='also tasks whose start state shows nearly their answer (tasks.leak)',
    )


def named_tasks(words: list[str] | None) -> frozenset[str] | None:
    """Ids of tasks, and those in the files that are named with an @; None for all."""
    if words is None:
        return None
    found: set[str] = set()
    for word in words:
        if not word.startswith('@'):
            found.add(word)
            continue
        try:
            found |= set(Path(word[1:]).read_text().split())
        except (OSError, UnicodeDecodeError) as error:
            raise Fatal(
                f'{word[1:]} cannot be read ({error}); give ids, one on each line'
            ) from None
    return frozenset(found)


def more_than_zero(number: float | None, option: str) -> float | None:
    if number is not None and not 0 < number < math.inf:
        raise Fatal(f'{option} is more than 0, and not {number:g}')
    return number


def existing_store(folder: Path | None) -> Path | None:
    """A store that is not there would be cloned from the tasks' URLs, which nobody has asked for."""
    if folder is not None and not folder.is_dir():
        raise Fatal(f'{folder} is no folder; --store names a store whose clones are used')
    return folder


def _compare(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import comparison_tables
    from coevo.evaluation.reporting.comparison import compare_folders

    found = compare_folders(arguments.first, arguments.second)
    if arguments.format == 'json':
        sys.stdout.write(comparison_tables.encode(found).decode())
    else:
        comparison_tables.show(found, open_console())
    return 0


def _regrade(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.regrading import regrade

    tables.show(regrade(arguments.folder), open_console())
    return 0
