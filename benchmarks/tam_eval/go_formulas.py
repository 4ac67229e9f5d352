"""Both formulas by which TAM-Eval says what tests of Go cover of a file, asked of what coevo measures.

    python -m benchmarks.tam_eval.go_formulas DATA CLONES RESULTS.csv [--repo OWNER/NAME ...]

statements  the first version of the data: statements in blocks that were entered, of all, to two decimals
spans       the second: lines from the first to the last of such blocks, of those of all, in whole percents

Of spans only those that are published of the start are known; coevo tells on which lines statements begin.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.published import open_clone
from benchmarks.tables import Row, append, read
from benchmarks.tam_eval.samples import Sample, samples
from benchmarks.tam_eval.suites import Covered, TestText, covered, single_revision_pair
from coevo.git.repository import Repository, load_content
from coevo.languages.engine import RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal, Transient

_NAME = 'go'
_FIRST, _SECOND = 'v1', 'v2'


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The same sample in both versions; the second is not there for each."""

    first: Sample
    second: Sample | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('data', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('results', type=Path)
    parser.add_argument('--repo', nargs='+')
    arguments = parser.parse_args()
    known = {one['sample'] for one in read(arguments.results)}
    todo = [one for one in published(Repository(arguments.data)) if one.first.name not in known]
    if arguments.repo:
        todo = [one for one in todo if one.first.repo in arguments.repo]
    for repo, group in groupby(todo, lambda one: one.first.repo):
        for rows in _of_project(open_clone(arguments.clones, repo), list(group)):
            for one in rows:
                print({name: value for name, value in one.items() if name != 'rev'}, flush=True)
            append(arguments.results, rows)


def published(data: Repository) -> list[Published]:
    """Those of Go, by project."""
    second = {one.name: one for one in samples(data, version=_SECOND)}
    first = [one for one in samples(data, version=_FIRST) if one.language == _NAME]
    return [
        Published(first=one, second=second.get(one.name))
        for one in sorted(first, key=lambda one: (one.repo, one.name))
    ]


def _of_project(clone: Repository, todo: list[Published]) -> Iterator[list[Row]]:
    language = LANGUAGES[_NAME]
    with ExitStack() as stack:
        settings = RunSettings(
            repository=clone, sandbox='bubblewrap', runtimes=language.make_runtimes()
        )
        builder = language.make_engine(settings, stack).make_builder()
        stack.callback(builder.close)
        for one in todo:
            sample = one.first
            try:
                built = builder.build(single_revision_pair(clone, sample.repo, sample.rev, _NAME))
                own = load_content(clone, sample.rev, sample.test_file) or b''
                rows = []
                for text, source in (('start', sample.start), ('original', own)):
                    test = TestText(path=sample.test_file, text=source, is_own=source == own)
                    rows.append(_row(one, text, covered(clone, built, test, sample.focal_file)))
                yield rows
            except (Transient, Fatal) as error:
                print('not asked:', sample.repo, sample.name, error, flush=True)


def _row(one: Published, text: str, found: Covered) -> Row:
    sample, is_start = one.first, text == 'start'
    second = one.second
    entered = sum(line.covered_instructions for line in found.lines)
    count = entered + sum(line.missed_instructions for line in found.lines)
    spans = ''
    if second is not None and is_start:
        spans = _percent(len(second.covered), len(second.covered | second.missed))
    return {
        'repo': sample.repo,
        'rev': sample.rev[:10],
        'sample': sample.name,
        'text': text,
        'published_statements': _text(sample.start_percent if is_start else sample.percent),
        'measured_statements': _percent(entered, count),
        'published_spans': _text(
            None if second is None else second.start_percent if is_start else second.percent
        ),
        'spans_of_their_lines': spans,
        'tests': ' '.join(f'{name} {number}' for name, number in sorted(found.outcomes.items())),
        'trouble': found.trouble[:200].replace('\n', ' '),
    }


def _text(value: float | None) -> str:
    return '' if value is None else str(value)


def _percent(part: int, whole: int) -> str:
    return f'{100 * part / whole:.2f}' if whole else ''


if __name__ == '__main__':
    main()
