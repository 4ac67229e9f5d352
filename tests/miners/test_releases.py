from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from miners.walks.routes import find_latest_release
from tests.repos import commit, git, init


def tagged(folder: Path, *tags: str) -> Repository:
    """A commit a day for each tag, in that order."""
    init(folder)
    for number, tag in enumerate(tags, start=1):
        commit(folder, tag, {'A.java': str(number)}, date=f'2020-01-{number:02}T00:00:00Z')
        git(folder, 'tag', tag)
    return Repository(folder / '.git')


@pytest.mark.parametrize(
    ('tags', 'latest'),
    [
        (['v1.9', 'v1.10', 'v1.2'], 'v1.10'),
        (['shop-2.0.0', 'shop-3.0.0-rc1', 'shop-3.0.0-M2', 'shop-1.9.9'], 'shop-2.0.0'),
        (['1.0.0.Final', '1.1.0.Final', '1.2.0.Beta1', '1.2.0-SNAPSHOT'], '1.1.0.Final'),
        (['REL_4_2', 'REL_4_10'], 'REL_4_10'),
        (['2.0', '20200101', '2019.12'], '2.0'),
        (['2019.12', '2020.1'], '2020.1'),
        (['nightly', 'stable', 'before-java8x'], None),
        ([], None),
    ],
)
def test_latest_release_is_the_highest_version_that_is_no_pre_release(
    tmp_path: Path, tags: list[str], latest: str | None
) -> None:
    repository = tagged(tmp_path, *(tags or ['unnamed']))
    assert find_latest_release(repository) == (latest and f'refs/tags/{latest}')


def test_latest_release_may_be_from_soon_after_the_cutoff(tmp_path: Path) -> None:
    """It takes in what was committed before; only the release before it was taken."""
    repository = tagged(tmp_path, '1.0', '1.1', '1.2')
    for until, latest in (
        (datetime(2020, 1, 3, tzinfo=UTC), 'refs/tags/1.2'),
        (datetime(2019, 12, 2, tzinfo=UTC), 'refs/tags/1.1'),
        (datetime(2019, 11, 1, tzinfo=UTC), None),
    ):
        assert find_latest_release(repository, until) == latest


def test_tag_of_a_non_commit_is_ignored(tmp_path: Path) -> None:
    repository = tagged(tmp_path, '1.0')
    git(tmp_path, 'tag', '2.0', 'HEAD:A.java')
    assert find_latest_release(repository) == 'refs/tags/1.0'
