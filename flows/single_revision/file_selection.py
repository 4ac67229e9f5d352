"""Which test files the family `file` takes: the rules of TAM-Eval (its selection, levels file and sample).

The numbers are those of the profile (`FileRules`). Rules about repositories are discovery's. TAM-Eval's rule that a test imports nothing but the
focal file serves to compile two files alone, which nobody does here; it is execution that counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import lizard
import lizard_languages

from coevo.languages.declarations import SourceFile
from coevo.languages.traces import CoveredLine
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason


def find_test_file_rejection(rules: FileRules, test: bytes, tests: int) -> Reason | None:
    """Why a test file is none for this family, as far as its text tells."""
    if tests < rules.least_tests:
        return Reason.TOO_FEW_TESTS
    return Reason.FILE_TOO_SHORT if count_lines(test) < rules.least_lines else None


def find_focal_file_rejection(rules: FileRules, path: str, focal: bytes) -> Reason | None:
    """The same of a focal file."""
    lines = count_lines(focal)
    if lines < rules.least_lines:
        return Reason.FILE_TOO_SHORT
    comments = _measure_comment_share(path, focal)
    return (
        Reason.MOSTLY_COMMENTS if comments is not None and comments > rules.most_comments else None
    )


def count_lines(text: bytes) -> int:
    return len(text.splitlines())


def _measure_comment_share(path: str, text: bytes) -> float | None:
    """The share of lines that are comments; None where lizard does not know the language."""
    if lizard_languages.get_reader_for(path) is None:
        return None
    analysis = lizard.analyze_file.analyze_source_code(path, text.decode('utf-8', 'replace'))
    written = sum(bool(line.strip()) for line in text.splitlines())
    return max(0, written - int(analysis.nloc)) / count_lines(text)


def find_coverage_rejection(
    rules: FileRules, file: SourceFile, lines: Sequence[CoveredLine]
) -> tuple[Reason | None, str]:
    """Why a traced focal file is none, with what that leaves open.

    lines  those of it that hold code
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
