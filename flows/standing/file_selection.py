"""Which test files the family `file` takes: the rules of TAM-Eval (its selection, levels file and sample).

The numbers are those of the profile (`FileRules`). Rules about repositories are discovery's. TAM-Eval's rule that a test imports nothing but the
focal file serves to compile two files alone, which nobody does here; it is execution that counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

import lizard
import lizard_languages

from coevo.languages.declarations import SourceFile
from coevo.languages.traces import CoveredLine
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason


def test_reason(rules: FileRules, test: bytes, tests: int) -> Reason | None:
    """Why a test file is none for this family, as far as its text tells."""
    if tests < rules.least_tests:
        return Reason.TOO_FEW_TESTS
    return Reason.FILE_TOO_SHORT if line_count(test) < rules.least_lines else None


def focal_reason(rules: FileRules, path: str, focal: bytes) -> Reason | None:
    """The same of a focal file."""
    lines = line_count(focal)
    if lines < rules.least_lines:
        return Reason.FILE_TOO_SHORT
    comments = _comments(path, focal)
    return (
        Reason.MOSTLY_COMMENTS if comments is not None and comments > rules.most_comments else None
    )


def line_count(text: bytes) -> int:
    return len(text.splitlines())


def _comments(path: str, text: bytes) -> float | None:
    """The share of lines that are comments; None where lizard does not know the language."""
    if lizard_languages.get_reader_for(path) is None:
        return None
    found = lizard.analyze_file.analyze_source_code(path, text.decode('utf-8', 'replace'))
    written = sum(bool(line.strip()) for line in text.splitlines())
    return max(0, written - int(found.nloc)) / line_count(text)


def coverage_reason(
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
    longest = max(_lengths(file, with_code), default=0)
    return (Reason.TRIVIAL_FOCAL, str(longest)) if longest < rules.least_function else (None, '')


def _lengths(file: SourceFile, with_code: set[int]) -> Iterator[int]:
    for type_ in file.types:
        for member in type_.members:
            if member.kind in ('method', 'constructor'):
                yield len(with_code & set(range(member.start_line, member.end_line + 1)))
