"""Express the results of mining the demo as rows of the expected table, and compare the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coevo.git.repository import Repository
from coevo.model.drops import Drop
from coevo.model.method_rows import MethodRow
from coevo.model.records import Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Stage
from flows.demo.stories import ExpectedMethod, Loss
from miners.diffs.changes import diff_pair

Names = Mapping[str, str]  # Class#method by method id


def map_method_names(repository: Repository, pairs: Iterable[Pair]) -> Names:
    """Return the names of all candidates by id, since a drop has only the id of its method."""
    return {
        compute_candidate_id(pair, candidate): _join_test_name(
            candidate.method.test_class, candidate.method.test_method
        )
        for pair in pairs
        for candidate in diff_pair(repository, pair).candidates
    }


def list_found_methods(
    segments: Sequence[Segment], steps: Mapping[str, str], names: Names
) -> Iterator[ExpectedMethod]:
    """Yield the result of every candidate; `steps` has the subjects of commits by id."""
    for segment in segments:
        step = steps[segment.pair.new_rev]
        reasons = {drop.key: drop.reason for drop in segment.drops if drop.stage.unit == 'method'}
        for row in segment.methods:
            yield _build_expected_method(step, row, reasons.pop(row.method_id, None))
        for key, reason in reasons.items():
            yield ExpectedMethod(step=step, test=names[key], reason=reason)


def list_losses(
    segments: Sequence[Segment], walk_drops: Sequence[Drop], steps: Mapping[str, str]
) -> Iterator[Loss]:
    """Yield the commits and pairs that left the funnel."""
    for drop in walk_drops:
        yield Loss(step=steps[drop.key], stage=drop.stage, reason=drop.reason)
    for segment in segments:
        for drop in segment.drops:
            if drop.stage is Stage.PAIR:
                step = steps[segment.pair.new_rev]
                yield Loss(step=step, stage=drop.stage, reason=drop.reason)


def list_differences(
    expected: Iterable[ExpectedMethod | Loss], found: Iterable[ExpectedMethod | Loss]
) -> tuple[str, ...]:
    """Return a line for every row that is missing (-) or not expected (+); empty if all agree."""
    wanted, there = Counter(expected), Counter(found)
    missing = [_format_difference('-', row) for row in (wanted - there).elements()]
    excess = [_format_difference('+', row) for row in (there - wanted).elements()]
    return tuple(sorted(missing + excess, key=lambda line: (line[2:].rpartition(': ')[0], line)))


def _format_difference(sign: str, row: ExpectedMethod | Loss) -> str:
    if isinstance(row, Loss):
        return f'{sign} {row.step}: {row.stage} {row.reason}'
    verdict = ', '.join(filter(None, (row.label, row.track and f'track {row.track}', row.reason)))
    return f'{sign} {row.step}: {row.test}: {verdict}'


def _build_expected_method(step: str, row: MethodRow, reason: str | None) -> ExpectedMethod:
    test = _join_test_name(row.test_class, row.test_method)
    return ExpectedMethod(step=step, test=test, label=row.label, track=row.track, reason=reason)


def _join_test_name(test_class: str, test_method: str) -> str:
    return f'{test_class}#{test_method}'
