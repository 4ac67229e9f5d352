"""What is run, and what is no verdict at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java_maven import launch
from flows.pipeline import mine
from tests.projects import junit
from tests.projects import mined
from tests.projects import options
from tests.projects import pom
from tests.projects import source
from tests.projects import write

pytestmark = pytest.mark.jvm


def written(folder: Path) -> Path:
    text = '    public static int last() {{ return {}; }}\n'
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    first = {'pom.xml': pom(), **source('Till', text.format(1))}
    return write(folder / 'repository', [first, {**source('Till', text.format(2)), **tests}])


def test_a_process_that_cannot_start_for_our_own_trouble_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the sandbox's disk is too small for the tree. The next run does what is missing."""
    repository = written(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(launch, 'DISK_BYTES', 1 << 12)
        report = mine(options(repository, tmp_path / 'store'))
    assert report.executed == 0
    (sentence,) = report.failures.values()
    assert sentence.startswith('a test process did not start: ')
    found = mined(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    assert found.method('rings').track == 'generation'


def test_options_that_no_jvm_takes_are_the_projects_own_fault(tmp_path: Path) -> None:
    plugin = '<artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>'
    options = '<configuration><argLine>-Xmx1k</argLine></configuration>'
    build = f'<build><plugins><plugin>{plugin}{options}</plugin></plugins></build>'
    repository = write(
        tmp_path / 'repository',
        [
            {
                'pom.xml': pom(build),
                **source('Till', f'    public static int last() {{ return {number}; }}\n'),
                **junit('TillTest', f'rings: assertEquals({number}, Till.last());'),
            }
            for number in (1, 2)
        ],
    )
    found = mined(repository, tmp_path / 'store')
    assert found.report.failures == {}
    assert [(drop.reason, drop.detail) for drop in found.drops] == [
        ('tnew_cnew_error', 'jvm_options')
    ]


def test_a_tree_that_no_sandbox_has_room_for_is_unbuildable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict, not trouble of ours: it would be the same for ever. Neither end is built."""
    monkeypatch.setattr(launch, 'MOST_TREE_BYTES', 1 << 16)
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    first: dict[str, str | bytes | None] = {'pom.xml': pom(), 'film.bin': bytes(1 << 16)}
    repository = write(tmp_path / 'repository', [first, {**source('Till', body), **tests}])
    found = mined(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('tree_too_large',) * 2
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('tnew_cnew_unbuildable', 'tree_too_large')
