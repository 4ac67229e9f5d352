from __future__ import annotations

from coevo.model.dependencies import RESOURCE, Dependency, Revised
from miners.diffs.coupling import find_focal_method


def named(name: str, declaration: str = '') -> Dependency:
    return Dependency(
        name=name,
        declaration=declaration,
        file='A.java',
        start_line=1,
        end_line=1,
        revised=Revised.MODIFIED,
        rank=1,
    )


def test_focal_method_is_a_method_before_a_type_and_never_a_resource() -> None:
    assert find_focal_method([named('p.A'), named('p.A#m()'), named('p.A#n()')]) == 'p.A#m()'
    assert find_focal_method([named('a/b.txt', RESOURCE), named('p.A')]) == 'p.A'
    assert find_focal_method([named('a/b.txt', RESOURCE)]) is None
    assert find_focal_method([]) is None
