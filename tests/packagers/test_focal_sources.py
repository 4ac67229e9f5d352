"""The text of a focal method stands where its dependency says: at new, or at old where it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.dependencies import Dependency, Revised
from packagers.tasks import load_focal_source
from tests.repos import commit, init

OLD = 'class A {\n  int a() {\n    return 1;\n  }\n}\n'
NEW = 'class A {\n  // more\n  int a() {\n    return 2;\n  }\n}\n'


@pytest.mark.parametrize(
    ('focal', 'revised', 'first', 'expected'),
    [
        ('A#a()', Revised.MODIFIED, 3, '  int a() {\n    return 2;\n  }\n'),
        ('A#a()', Revised.REMOVED, 2, '  int a() {\n    return 1;\n  }\n'),
        ('A#b()', Revised.MODIFIED, 3, None),
        (None, Revised.MODIFIED, 3, None),
    ],
)
def test_focal_source_is_read_at_new_or_at_old_if_the_method_was_removed(
    tmp_path: Path, focal: str | None, revised: Revised, first: int, expected: str | None
) -> None:
    repo = init(tmp_path / 'repository')
    revs = [commit(repo, name, {'A.java': text}) for name, text in (('old', OLD), ('new', NEW))]
    dependency = Dependency(
        name='A#a()',
        declaration='int a()',
        file='A.java',
        start_line=first,
        end_line=first + 2,
        revised=revised,
        rank=1,
    )
    found = load_focal_source(Repository(repo / '.git'), focal, [dependency], revs[0], revs[1])
    assert found == expected
