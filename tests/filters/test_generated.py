from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.profiles import load_profile
from coevo.model.reasons import Reason
from coevo.model.records import Origin
from coevo.model.words import Change
from filters import sieve
from tests.filters.test_sieve import Difference
from tests.filters.test_sieve import candidates
from tests.filters.test_sieve import pair


@pytest.mark.parametrize(
    ('origin', 'reasons'),
    [
        (Origin.WRITTEN, []),
        (Origin.GENERATED, [Reason.GENERATED_CODE]),
        (Origin.VENDORED, [Reason.VENDORED_CODE]),
    ],
)
def test_what_no_one_wrote_here_is_dropped(origin: Origin, reasons: list[Reason]) -> None:
    (candidate,) = candidates(Change.CHANGED, 1)
    change = Difference(pair=pair(), candidates=(replace(candidate, origin=origin),))
    left, drops = sieve(change, load_profile('default'))
    assert [drop.reason for drop in drops] == reasons
    assert len(left) == 1 - len(drops)


def test_it_is_asked_before_the_sample() -> None:
    """Or the funnel would tell of generated tests only where they were drawn."""
    some = tuple(replace(c, origin=Origin.GENERATED) for c in candidates(Change.UNCHANGED, 30))
    change = Difference(pair=pair(), tests_changed=False, candidates=some)
    assert {drop.reason for drop in sieve(change, load_profile('default'))[1]} == {
        Reason.GENERATED_CODE
    }
