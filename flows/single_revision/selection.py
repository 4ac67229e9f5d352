"""Decide which test files are suites of a class, by what they execute and not by their names alone.

The rules are those of Classes2Test (AgoneTest, §III): a test class is about one class of the code,
by its name, by evidence in its text and by 60 % of its references. Here the evidence is execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import lizard
import lizard_languages

from coevo.engine.results import Evidence, PairEvaluation
from coevo.languages.declarations import SourceFile
from coevo.languages.verdicts import CoveredLine, ExecutedMethod
from coevo.model.families import Focus
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason
from coevo.model.words import Cell, Outcome

LEAST_SHARE = 0.6
"""The minimal share of the class in what a suite executes for the suite to be about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """The results of a file's tests over all runs.

    passing      ids of the tests that pass in all runs
    unstable     number of tests whose runs disagree
    runs         least number of runs of a test
    cpu_seconds  of all tests together, each in its slowest run
    reason       why the file is no suite; None if it is one
    """

    passing: tuple[str, ...]
    unstable: int
    runs: int
    cpu_seconds: float
    reason: Reason | None
    detail: str = ''


def measure_steadiness(evaluation: PairEvaluation, ids: Iterable[str]) -> Steadiness:
    """Return the results of a file's tests over all runs.

    The file is a suite if no test is unstable, all that are not skipped pass, and at least one
    does.
    """
    results = {
        method_id: evaluation.get_deciding_cells(method_id)[Cell.T_NEW_C_NEW] for method_id in ids
    }
    passing = tuple(
        method_id
        for method_id, result in results.items()
        if result.evidence is Evidence.AGREED and result.outcome is Outcome.PASS
    )
    unstable = sum(result.evidence is not Evidence.AGREED for result in results.values())
    others = [r for method_id, r in results.items() if method_id not in passing]
    broken = [r.outcome for r in others if r.outcome is not Outcome.SKIPPED]
    reason = None
    if unstable:
        reason = Reason.UNSTABLE
    elif broken or not passing:
        reason = Reason.NOT_PASSING
    return Steadiness(
        passing=passing,
        unstable=unstable,
        runs=min(len(result.runs) for result in results.values()),
        cpu_seconds=sum(
            max(run.verdict.cpu_seconds for run in result.runs) for result in results.values()
        ),
        reason=reason,
        detail=str(min(broken, key=tuple(Outcome).index)) if broken else '',
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """The class that a suite is about, with its share of what the tests execute.

    focus   the class; several or none if there is a reason
    reason  why the tests are about no single class; None if they are
    """

    focus: tuple[Focus, ...]
    share: float | None
    reason: Reason | None
    detail: str = ''


def find_dominant_class(
    named: Sequence[Focus], executed: Iterable[ExecutedMethod], least: float = LEAST_SHARE
) -> Dominance:
    """Return the class that the tests are about, judged by what they execute.

    There is none if they execute none of the named classes, several of them, or less than `least`
    of what they execute is in the class (a share of lines).

    named     the classes that the file may be about
    executed  what the tests execute; repetitions count once
    """
    own = frozenset(executed)
    met = tuple(focus for focus in named if any(_is_inside(focus, method) for method in own))
    if not met:
        return Dominance(focus=tuple(named), share=0.0, reason=Reason.NO_EVIDENCE)
    share = round(_count_lines(_select_inside(met, own)) / _count_lines(own), 6)
    if len(met) > 1:
        detail = ' '.join(focus.file for focus in met)
        return Dominance(focus=met, share=share, reason=Reason.AMBIGUOUS_CLASS, detail=detail)
    reason = Reason.NO_DOMINANT_CLASS if share < least else None
    return Dominance(focus=met, share=share, reason=reason, detail=f'{share:.2f}' if reason else '')


def _select_inside(
    focus: Sequence[Focus], executed: Iterable[ExecutedMethod]
) -> Iterator[ExecutedMethod]:
    return (
        method
        for method in executed
        if any(_is_inside(single_focus, method) for single_focus in focus)
    )


def _is_inside(focus: Focus, method: ExecutedMethod) -> bool:
    """Return whether a method is in a focus, by its lines.

    If its lines are unknown, its outermost type must be the focus.
    """
    if method.file != focus.file:
        return False
    if method.first_line <= 0:
        return method.type.partition('$')[0] == focus.declaration
    return focus.start_line <= method.first_line <= focus.end_line


def _count_lines(executed: Iterable[ExecutedMethod]) -> int:
    return sum(max(1, method.last_line - method.first_line + 1) for method in executed)


# The rest selects the test files of the family `file` by the rules of TAM-Eval (its selection,
# levels file and sample).
#
# The numbers are those of the profile (`FileRules`). Rules about repositories belong to discovery.
# TAM-Eval's rule that a test imports only the focal file serves to compile two files alone, which
# coevo does not do; execution counts instead.


def find_test_file_rejection(rules: FileRules, test: bytes, tests: int) -> Reason | None:
    """Return why a test file is not taken by the family `file`, judged by its text.

    It may have too few tests or lines. None if it may be taken.
    """
    if tests < rules.least_tests:
        return Reason.TOO_FEW_TESTS
    return Reason.FILE_TOO_SHORT if count_lines(test) < rules.least_lines else None


def find_focal_file_rejection(rules: FileRules, path: str, focal: bytes) -> Reason | None:
    """Return why a focal file is not taken by the family `file`, judged by its text.

    It may be too short or have too many comments. None if it may be taken.
    """
    lines = count_lines(focal)
    if lines < rules.least_lines:
        return Reason.FILE_TOO_SHORT
    comments = _measure_comment_share(path, focal)
    return (
        Reason.MOSTLY_COMMENTS if comments is not None and comments > rules.most_comments else None
    )


def count_lines(text: bytes) -> int:
    """Return the number of lines of a text."""
    return len(text.splitlines())


def _measure_comment_share(path: str, text: bytes) -> float | None:
    """Return the share of lines that are comments; None if lizard does not know the language.

    Blank lines count among all lines, but not as comments.
    """
    if lizard_languages.get_reader_for(path) is None:
        return None
    analysis = lizard.analyze_file.analyze_source_code(path, text.decode('utf-8', 'replace'))
    written = sum(bool(line.strip()) for line in text.splitlines())
    return max(0, written - int(analysis.nloc)) / count_lines(text)


def find_traced_focal_rejection(
    rules: FileRules, file: SourceFile, lines: Sequence[CoveredLine]
) -> tuple[Reason | None, str]:
    """Return why a traced focal file is not taken, and a detail; None if it is taken.

    lines  the lines of the file that have code
    """
    covered = sum(line.covered_instructions > 0 for line in lines)
    share = covered / len(lines) if lines else 0.0
    if share < rules.least_coverage:
        return Reason.LOW_COVERAGE, f'{share:.2f}'
    with_code = {line.line for line in lines}
    longest = max(_list_function_lengths(file, with_code), default=0)
    return (Reason.TRIVIAL_FOCAL, str(longest)) if longest < rules.least_function else (None, '')


def _list_function_lengths(file: SourceFile, with_code: set[int]) -> Iterator[int]:
    for type_ in file.types:
        for member in type_.members:
            if member.kind in ('method', 'constructor'):
                yield len(with_code & set(range(member.start_line, member.end_line + 1)))
