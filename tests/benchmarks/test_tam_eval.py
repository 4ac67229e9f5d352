"""Published samples of TAM-Eval, as made up here: how they are read, and compared with what is measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.tables import Row
from benchmarks.tam_eval.comparison import Cause, cause, row, summary
from benchmarks.tam_eval.left_out import left_out
from benchmarks.tam_eval.samples import FOLDER, sample, samples
from benchmarks.tam_eval.suites import Covered
from coevo.git.repository import Repository
from coevo.languages.traces import CoveredLine
from tests.repos import commit, init

TEXT = """\
[meta]
task = "create"
scenario = "add_new_test"
[lang_info]
lang = "Python"
[repo_info]
repository = "shop/till"
sha = "0123456789abcdef"
[coverage]
coverage = 67.0
original_coverage = nan
covered_lines = [ 0, 3,]
missed_lines = [ 4,]
[input_info]
test_file_path = "tests/test_till.py"
focal_file_path = "till.py"
test_file_content = "from till import price\\n"
"""


FOCAL = b"""\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import shop

def price(): ...

def tax():
    ...
"""


def covered(**hit: bool) -> Covered:
    lines = tuple(
        CoveredLine(
            line=int(name[1:]),
            missed_instructions=int(not is_hit),
            covered_instructions=int(is_hit),
            missed_branches=0,
            covered_branches=0,
        )
        for name, is_hit in hit.items()
    )
    return Covered(outcomes={'pass': 2}, lines=lines)


def row_of(found: Covered, text: str = 'start') -> Row:
    return row(sample('create_till', TEXT.encode()), text, found, FOCAL, '3.12.1', 1.0)


def test_published_line_numbers_are_converted_from_0_based(tmp_path: Path) -> None:
    repo = init(tmp_path / 'data')
    commit(repo, 'data', {f'{FOLDER}/v2/create_till.toml': TEXT, 'tameval/benchmark/v1/x.toml': ''})
    (found,) = samples(Repository(repo / '.git'))
    assert (found.name, found.repo, found.language) == ('create_till', 'shop/till', 'python')
    assert sorted(found.covered) == [1, 4]
    assert sorted(found.missed) == [5]
    assert (found.start_coverage, found.coverage) == (67, None)
    assert found.start == b'from till import price\n'


def test_record_without_a_required_field_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match=r"create_till has no 'sha'"):
        sample('create_till', TEXT.replace('sha', 'commit').encode())


def test_row_lists_lines_counted_on_one_side_only_and_the_cause() -> None:
    same = row_of(covered(_1=True, _4=True, _5=False))
    assert (same['measured'], same['measured_on_their_lines']) == ('66.67', '66.67')
    assert cause(same) is Cause.NONE
    other = row_of(covered(_1=True, _5=True, _9=False))
    assert (other['measured'], other['measured_on_their_lines']) == ('66.67', '100.00')
    assert (other['lines_only_here'], other['lines_only_there']) == ('9', '4')
    assert (other['covered_only_here'], other['covered_only_there']) == ('5', '-')
    assert cause({**other, 'published': '100'}) is Cause.THEIR_RELEASE
    assert cause({**other, 'published': '100', 'lines_only_there': '-'}) is Cause.THEIR_SETTINGS
    assert cause({**other, 'published': '50'}) is Cause.UNKNOWN
    assert cause({**other, 'published': '50', 'tests': 'fail 1 pass 1'}) is Cause.FAILING
    broken = {**other, 'tests': 'compile_error 1 pass 1'}
    assert cause({**broken, 'published': '0'}) is Cause.WHOLE_FILE


def test_partly_covered_java_line_counts_as_missed_in_published_coverage() -> None:
    """Found on 15 originals, all but one of those that are not equal otherwise and run."""
    one = sample('create_till', TEXT.replace('"Python"', '"Java"').encode())
    partly = CoveredLine(
        line=4, missed_instructions=2, covered_instructions=1, missed_branches=1, covered_branches=1
    )
    whole = covered(_1=True, _5=False)
    found = replace(whole, lines=(*whole.lines, partly))
    told = row(one, 'start', found, FOCAL, '21', 1.0)
    assert (told['measured'], told['measured_on_their_lines']) == ('66.67', '33.33')
    assert cause({**told, 'published': '33'}) is Cause.IN_PART


def test_sample_without_published_lines_takes_its_countable_lines_from_the_code() -> None:
    run, idle = left_out(FOCAL)
    assert (sorted(run), sorted(idle)) == ([3, 6], [4, 9])
    one = replace(sample('till', TEXT.encode()), covered=frozenset(), missed=frozenset())
    found = row(one, 'original', covered(_1=True, _8=True), FOCAL, '3.12.1', 1.0)
    assert (found['measured'], found['measured_on_their_lines']) == ('100.00', '66.67')
    assert cause({**found, 'published': '67'}) is Cause.THEIR_RELEASE


def test_file_without_tests_has_no_measured_coverage() -> None:
    empty = row_of(Covered(outcomes={}, trouble='no tests'))
    assert empty['measured'] == ''
    assert cause({**empty, 'published': '0'}) is Cause.NONE
    assert cause({**empty, 'trouble': 'unbuildable', 'published': '0'}) is Cause.NOT_RUN
    assert cause({**empty, 'trouble': '', 'tests': 'error 2'}) is Cause.FAILING
    assert '| all | 1 of 1 | 0 of 0 |' in summary([{**empty, 'published': '0'}])
