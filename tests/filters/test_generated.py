from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.profiles import load_profile
from coevo.model.records import FileOrigin
from coevo.model.words import MethodChange
from filters import filter_candidates, generated
from tests.filters.test_sieve import Difference, candidates, pair


@pytest.mark.parametrize(
    ('origin', 'reasons'),
    [
        (FileOrigin.WRITTEN, []),
        (FileOrigin.GENERATED, [generated.Reason.GENERATED_CODE]),
        (FileOrigin.VENDORED, [generated.Reason.VENDORED_CODE]),
    ],
)
def test_tests_in_generated_or_vendored_files_are_dropped(
    origin: FileOrigin, reasons: list[str]
) -> None:
    (candidate,) = candidates(MethodChange.CHANGED, 1)
    change = Difference(pair=pair(), candidates=(replace(candidate, origin=origin),))
    left, drops = filter_candidates(change, load_profile('default'))
    assert [drop.reason for drop in drops] == reasons
    assert len(left) == 1 - len(drops)


def test_generated_tests_are_dropped_before_sampling() -> None:
    """Or the funnel would tell of generated tests only where they were drawn."""
    some = tuple(
        replace(c, origin=FileOrigin.GENERATED) for c in candidates(MethodChange.UNCHANGED, 30)
    )
    change = Difference(pair=pair(), tests_changed=False, candidates=some)
    assert {drop.reason for drop in filter_candidates(change, load_profile('default'))[1]} == {
        generated.Reason.GENERATED_CODE
    }
