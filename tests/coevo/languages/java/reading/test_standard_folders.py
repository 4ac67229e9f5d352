"""Whose a file is by its path; one answer for all who ask."""

from __future__ import annotations

import pytest

from coevo.languages.java.reading.project_files import classify_path
from coevo.languages.reading import Side


@pytest.mark.parametrize(
    ('path', 'side', 'is_resource', 'relative'),
    [
        ('src/main/java/p/A.java', Side.SOURCE, False, 'java/p/A.java'),
        ('core/src/main/resources/p/a.xml', Side.SOURCE, True, 'p/a.xml'),
        ('src/test/java/p/ATest.java', Side.TEST, False, 'java/p/ATest.java'),
        ('src/integration-test/resources/a.xml', Side.TEST, True, 'a.xml'),
        ('src/it/shop/src/main/java/A.java', Side.TEST, False, 'shop/src/main/java/A.java'),
        ('src/test/resources/p/src/main/A.java', Side.TEST, True, 'p/src/main/A.java'),
        ('src/testFixtures/java/A.java', Side.TEST, False, 'java/A.java'),
    ],
)
def test_first_standard_folder_of_a_path_decides_its_side(
    path: str, side: Side, is_resource: bool, relative: str
) -> None:
    found = classify_path(path)
    assert found is not None
    assert (found.side, found.is_resource, found.relative) == (side, is_resource, relative)


@pytest.mark.parametrize(
    'path', ['A.java', 'lib/A.java', 'src/A.java', 'mysrc/main/A.java', 'src/main']
)
def test_path_outside_standard_folders_has_no_side(path: str) -> None:
    assert classify_path(path) is None
