"""A row for each text of a sample: what is published of it beside what is measured here, and the sum of all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.tables import Row
from benchmarks.tam_eval.left_out import left_out
from benchmarks.tam_eval.samples import Sample
from benchmarks.tam_eval.suites import Covered

_HALF = 0.5
_NO_LINES = ('', '-')
_BROKEN = ('compile_error', 'error', 'fail', 'timeout', 'missing', 'lost')


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Lines that hold code for them, as far as that is known, and how many of these are covered here."""

    lines: frozenset[int]
    covered: frozenset[int]


def counted_there(sample: Sample, found: Covered, focal: bytes) -> Counted:
    """By the lines that are published of the start; of an empty one by what coverage.py counted then.

    A line of Java of which an instruction is missed is missed there.
    """
    theirs = sample.covered | sample.missed
    here = found.whole if sample.language == 'java' else found.covered
    if theirs:
        # Of lines that do not count here it is only known what the start does there.
        return Counted(lines=theirs, covered=(here & theirs) | (sample.covered - found.known))
    run, idle = left_out(focal) if sample.language == 'python' else (frozenset(), frozenset())
    return Counted(lines=found.known | run | idle, covered=here | (run - found.known))


def row(
    sample: Sample, text: str, found: Covered, focal: bytes, runtime: str, seconds: float
) -> Row:
    """What is published and what is measured of a text, `start` or `original`."""
    is_start = text == 'start'
    published = sample.start_coverage if is_start else sample.coverage
    there = counted_there(sample, found, focal) if found.known else None
    theirs = there.lines if there else frozenset[int]()
    return {
        'repo': sample.repo,
        'rev': sample.rev[:10],
        'sample': sample.name,
        'scenario': sample.scenario,
        'text': text,
        'published': '' if published is None else str(published),
        'measured': percent(len(found.covered), len(found.known)),
        'measured_on_their_lines': percent(len(there.covered), len(theirs)) if there else '',
        'tests': ' '.join(f'{name} {count}' for name, count in sorted(found.outcomes.items())),
        'lines': str(len(found.known)),
        'lines_only_here': _told(found.known - theirs, bool(theirs)),
        'lines_only_there': _told(theirs - found.known, bool(theirs)),
        'covered_only_here': _told(found.covered & sample.missed, is_start and bool(theirs)),
        'covered_only_there': _told(
            sample.covered & found.known - found.covered, is_start and bool(theirs)
        ),
        'runtime': runtime,
        'seconds': f'{seconds:.1f}',
        'trouble': found.trouble[:200].replace('\n', ' '),
    }


def percent(part: int, whole: int) -> str:
    return f'{100 * part / whole:.2f}' if whole else ''


def _told(lines: frozenset[int], is_known: bool) -> str:
    """Numbers of lines; `-` for none."""
    return (' '.join(map(str, sorted(lines))) or '-') if is_known else ''


class Cause(StrEnum):
    """Why two values differ, as far as the rows tell."""

    NONE = 'equal'
    NOT_RUN = 'tests of the project that do not pass here'
    THEIR_SETTINGS = 'lines that the settings of the project leave out there'
    THEIR_RELEASE = 'lines that coverage.py leaves out since 7.10'
    IN_PART = 'lines that are covered in part are missed there'
    FAILING = 'tests that fail count there'
    WHOLE_FILE = 'a file of which a part does not compile has no tests there'
    UNKNOWN = 'unexplained'


def cause(one: Row) -> Cause:
    broken = any(f'{name} ' in one['tests'] for name in _BROKEN)
    covers_nothing = one['trouble'] == 'no tests' or (one['text'] == 'start' and broken)
    measured = one['measured'] or ('0' if covers_nothing else '')
    if _rounds_to(measured, one['published']):
        return Cause.NONE
    if not measured or (broken and one['text'] == 'original'):
        return Cause.NOT_RUN
    if 'compile_error ' in one['tests'] and one['published'] == '0':
        return Cause.WHOLE_FILE
    if _rounds_to(one['measured_on_their_lines'], one['published']):
        if one['lines_only_there'] not in _NO_LINES:
            return Cause.THEIR_RELEASE
        return Cause.IN_PART if one['lines_only_here'] in _NO_LINES else Cause.THEIR_SETTINGS
    return Cause.FAILING if broken else Cause.UNKNOWN


def _rounds_to(measured: str, published: str) -> bool:
    """Whole percents: of a half both neighbours."""
    return bool(measured and published) and abs(float(measured) - int(published)) <= _HALF


def summary(rows: Sequence[Row]) -> str:
    """By project: values that are equal, of starts and of originals; then how often each cause holds."""
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for one in rows:
        for name in (one['repo'], 'all'):
            count = counts[name][one['text']]
            count[0] += cause(one) is Cause.NONE
            count[1] += 1
    lines = ['| project | starts equal | originals equal |', '| --- | --- | --- |']
    for name, found in counts.items():
        told = ['{} of {}'.format(*found[text]) for text in ('start', 'original')]
        lines.append(f'| {name} | {told[0]} | {told[1]} |')
    causes = Counter((one['text'], cause(one)) for one in rows)
    lines += ['', '| cause | starts | originals |', '| --- | --- | --- |']
    for one_cause in Cause:
        told = [str(causes[text, one_cause]) for text in ('start', 'original')]
        lines.append(f'| {one_cause} | {told[0]} | {told[1]} |')
    return '\n'.join(lines)
