"""The version and metadata of a project whose build backend asks Git, and what is kept of them."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.python import launch, project_builds
from coevo.languages.python.project_builds import find_newest_version_by
from coevo.model.words import Outcome
from coevo.storage.disk import find_cache_folder
from tests.coevo.languages.python.index_server import Shelf, serving
from tests.coevo.languages.python.shops import method, shop
from tests.repos import commit, git, init

PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "till"
dynamic = ["version"]
requires-python = ">=3.11,<3.12"
"""
BACKEND = """\
    import os


    def prepare_metadata_for_build_wheel(folder, settings):
        {first}
        version = os.environ['SETUPTOOLS_SCM_PRETEND_VERSION']
        os.mkdir(os.path.join(folder, 'till.dist-info'))
        with open(os.path.join(folder, 'till.dist-info', 'METADATA'), 'w') as file:
            file.write('Metadata-Version: 2.1\\nName: till\\nVersion: ' + version + '\\n')
        return 'till.dist-info'
"""
TESTS = """\
    import importlib.metadata


    def test_version():
        assert importlib.metadata.version('till') == {!r}
"""
MONTH = {month: datetime(2024, month, 1, tzinfo=UTC) for month in range(1, 6)}


@pytest.mark.parametrize(
    ('day', 'version'), [(MONTH[1], '0'), (MONTH[2], '1.9'), (MONTH[3], '1.10'), (MONTH[4], '1.10')]
)
def test_released_version_is_that_of_the_day(
    monkeypatch: pytest.MonkeyPatch, day: datetime, version: str
) -> None:
    with serving(monkeypatch, Shelf()) as shelf:
        shelf.add(
            'cash-till', 'cash_till-1.9.tar.gz', b'', **{'upload-time': '2024-02-01T00:00:00Z'}
        )
        for name, month in (
            ('cash_till-1.10-py3-none-any.whl', 3),
            ('cash_till-2.0rc1-py3-none-any.whl', 3),
            ('cash_till-2.0-py3-none-any.whl', 5),
            ('cash_till-odd.exe', 2),
        ):
            uploaded = {'upload-time': f'2024-0{month}-01T00:00:00Z', 'yanked': month == 3}
            shelf.add('cash-till', name, b'', **uploaded)
        assert find_newest_version_by('Cash_Till', day) == version


def test_project_without_a_release_has_version_0(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch, Shelf()):
        assert find_newest_version_by('till', MONTH[1]) == '0'
        assert find_newest_version_by('../till', MONTH[1]) == '0'


@pytest.mark.slow
def test_version_does_not_depend_on_the_tags_of_a_clone(tmp_path: Path) -> None:
    project = PROJECT.replace('till', 'six')
    files = {
        'backend.py': BACKEND.format(first='pass').replace('till', 'six'),
        'tests/test_till.py': TESTS.format('1.16.0').replace('till', 'six'),
    }
    repo = init(tmp_path / 'shop')
    commit(repo, 'none of the pair', {'old.txt': 'x'}, date='2024-02-01T00:00:00Z')
    git(repo, 'tag', 'v1.0')
    with shop(tmp_path, files, {'till.py': 'A = 2\n'}, project) as place:
        verdict = place.verdict(method('test_version'))
    assert verdict.outcome is Outcome.PASS, verdict.message


@pytest.fixture
def fresh_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has everything but metadata."""
    known, fresh = find_cache_folder(), folder / 'cache'
    (fresh / 'pythons').mkdir(parents=True)
    for above in (known, known / 'pythons'):
        for path in above.iterdir():
            if path.name not in ('pythons', 'metadata'):
                (fresh / path.relative_to(known)).symlink_to(path)
    monkeypatch.setenv('COEVO_CACHE', str(fresh))
    return fresh / 'pythons/metadata'


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('first', 'kept'),
    [("raise OSError('no')", 2), ('while True: pass', 0)],
    ids=['refusal', 'endless'],
)
def test_only_answers_that_no_limit_cut_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path, first: str, kept: int
) -> None:
    monkeypatch.setattr(launch, '_CHECKING_SECONDS', 2)
    files = {
        'backend.py': BACKEND.format(first=first),
        'till.py': 'A = 1\n',
        'tests/test_till.py': TESTS.format('0'),
    }
    with shop(tmp_path, files, {'till.py': 'A = 2\n'}, PROJECT) as place:
        verdict = place.verdict(method('test_version'))
    assert verdict.outcome is Outcome.PASS, verdict.message
    assert len(list(fresh_cache.glob('*'))) == kept


def test_answer_that_is_nested_too_deep_is_no_metadata() -> None:
    content = base64.b64encode(b'Name: till').decode()
    good = json.dumps([['till.dist-info/METADATA', content]]).encode()
    assert list(project_builds._parse_output(good)) == [('till.dist-info/METADATA', b'Name: till')]
    assert list(project_builds._parse_output(b'[' * (1 << 20))) == []
