"""Which revisions are older than the Java that is mined."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java import language
from tests import repos

POM = (
    '<project><properties><maven.compiler.source>{}</maven.compiler.source></properties></project>'
)


@pytest.mark.parametrize(
    ('level', 'said', 'found'),
    [
        (8, '8', None),
        (17, '6', None),  # one that is named, and counts nowhere
        (None, '', None),
        (7, '7', 'Java 7'),
        (None, '1.5', 'Java 5'),
    ],
)
def test_java_level_of_the_build_precedes_the_poms_for_outdated_revisions(
    tmp_path: Path, level: int | None, said: str, found: str | None
) -> None:
    folder = repos.init(tmp_path / 'r')
    rev = repos.commit(folder, 'one', {'pom.xml': POM.format(said)})
    assert language.explain_outdated(Repository(folder / '.git'), rev, level) == found
