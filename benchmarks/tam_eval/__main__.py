"""Published samples of TAM-Eval, run again: coverage of the focal file by the test file, at the start and as it was.

    python -m benchmarks.tam_eval run DATA CLONES RESULTS.csv [--repo OWNER/NAME ...] [--language python] [--most N]
    python -m benchmarks.tam_eval sum RESULTS.csv

DATA is a clone of the published data, CLONES has those of their projects as OWNER+NAME. A run resumes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

from benchmarks.published import open_clone
from benchmarks.tables import Row, append, read
from benchmarks.tam_eval.comparison import row, summary
from benchmarks.tam_eval.samples import Sample, samples
from benchmarks.tam_eval.suites import Covered, TestText, covered, single_revision_pair
from coevo.git.repository import Repository, load_content
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal, Transient


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser('run')
    verb.add_argument('data', type=Path)
    verb.add_argument('clones', type=Path)
    verb.add_argument('results', type=Path)
    verb.add_argument('--repo', nargs='+')
    verb.add_argument('--language', default='python')
    verb.add_argument(
        '--most', type=int, help='samples of each project, beside those that are there'
    )
    verb.set_defaults(do=_run)
    verb = verbs.add_parser('sum')
    verb.add_argument('results', type=Path)
    verb.set_defaults(do=lambda arguments: print(summary(read(arguments.results))))
    arguments = parser.parse_args()
    arguments.do(arguments)


def _run(arguments: argparse.Namespace) -> None:
    known = {one['sample'] for one in read(arguments.results)}
    data = Repository(arguments.data)
    wanted = [one for one in samples(data) if one.language == arguments.language]
    if arguments.repo:
        wanted = [one for one in wanted if one.repo in arguments.repo]
    for repo, group in groupby(sorted(wanted, key=lambda one: one.repo), lambda one: one.repo):
        todo = [one for one in group if one.name not in known][: arguments.most]
        for one, rows in _of_project(open_clone(arguments.clones, repo), todo):
            print(one.name, [(r['published'], r['measured']) for r in rows], flush=True)
            append(arguments.results, rows)


def _of_project(clone: Repository, todo: list[Sample]) -> Iterator[tuple[Sample, list[Row]]]:
    """What cannot be had, or built now, is said, and left for the next time."""
    if not todo:
        return
    language = LANGUAGES[todo[0].language]
    with ExitStack() as stack:
        settings = RunSettings(
            repository=clone, sandbox='bubblewrap', runtimes=language.make_runtimes()
        )
        builder = language.make_engine(settings, stack).make_builder()
        stack.callback(builder.close)
        for one in todo:
            try:
                yield one, list(_rows(clone, builder, one))
            except (Transient, Fatal) as error:
                print('not asked:', one.repo, one.name, error, flush=True)


def _rows(clone: Repository, builder: Builder, one: Sample) -> Iterator[Row]:
    own = load_content(clone, one.rev, one.test_file)
    focal = load_content(clone, one.rev, one.focal_file) or b''
    built = builder.build(single_revision_pair(clone, one.repo, one.rev, one.language))
    first: Covered | None = None
    for text, source in (('start', one.start), ('original', own)):
        began = time.monotonic()
        if source is None:
            found = Covered(outcomes={}, trouble='the test file is not there')
        elif first is not None and source == one.start:
            found = first
        else:
            test = TestText(path=one.test_file, text=source, is_own=source == own)
            found = covered(clone, built, test, one.focal_file)
        first = found
        runtime, seconds = built.new.runtime or '', time.monotonic() - began
        yield row(one, text, found, focal, runtime, seconds)


if __name__ == '__main__':
    main()
