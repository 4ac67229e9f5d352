"""What is run, and what is no verdict at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.languages.java.maven import launch
from coevo.model.records import Cell
from flows.pipeline import mine
from tests.once import mined_once
from tests.projects import QUICK
from tests.projects import junit
from tests.projects import mined
from tests.projects import options
from tests.projects import pom
from tests.projects import source
from tests.projects import write
from tests.repos import git

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


@pytest.mark.parametrize('options', ['-Xmx1k', '-Djava.security.manager'])
def test_options_that_no_jvm_takes_are_the_projects_own_fault(tmp_path: Path, options: str) -> None:
    """The second lets our worker read nothing, or is refused by a newer JVM: trouble for ever."""
    plugin = '<artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>'
    told = f'<configuration><argLine>{options}</argLine></configuration>'
    build = f'<build><plugins><plugin>{plugin}{told}</plugin></plugins></build>'
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


@pytest.mark.parametrize('path', ['n' * 256 + '.txt', f'{"d" * 200}/' * 20 + 'n.txt'])
def test_a_path_that_no_file_system_takes_is_unbuildable(tmp_path: Path, path: str) -> None:
    """Git keeps it, and nobody here could ever write it."""
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    repository = write(
        tmp_path / 'repository', [{'pom.xml': pom()}, {**source('Till', body), **tests}]
    )
    tree = with_path(repository, path)
    head = git(repository, 'commit-tree', tree, '-p', 'HEAD~1', '-m', 'it is long')
    git(repository, 'update-ref', 'HEAD', head)
    found = mined(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures, found.report.bugs) == (1, {}, {})
    assert found.pairs[0].build_new == 'path_too_long'
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('tnew_cnew_unbuildable', 'path_too_long')


def test_a_revision_before_there_was_a_pom_is_unbuildable_without_a_try(tmp_path: Path) -> None:
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    steps = [{'README.md': 'soon'}, {'pom.xml': pom(), **source('Till', body), **tests}]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('no_pom', 'built')
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('tnew_cold_unbuildable', 'no_pom')


def with_path(repository: Path, path: str) -> str:
    """The tree of HEAD with one more file, made by Git alone: `git add` would want to read it."""
    blob = git(repository, 'rev-parse', 'HEAD:pom.xml')
    *folders, name = path.split('/')
    entry = f'100644 blob {blob}\t{name}\n'
    for folder in reversed(folders):
        oid = git(repository, 'mktree', stdin=entry.encode())
        entry = f'040000 tree {oid}\t{folder}\n'
    above = git(repository, 'ls-tree', 'HEAD')
    return git(repository, 'mktree', stdin=f'{above}\n{entry}'.encode())


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


def three_labels(folder: Path) -> Path:
    """An update, a refinement and a repair of which the new tests fail, pass and pass on old code.

    `rings` is inserted: its cells all decide.
    """
    text = '    public static int last() {{ return {}; }}\n'
    old = junit(
        'TillTest',
        'follows: assertEquals(1, Till.last());',
        'stays: assertTrue(Till.last() > 0);',
        'errs: assertEquals(3, 1 + 1);',
    )
    new = junit(
        'TillTest',
        'follows: assertEquals(2, Till.last());',
        'stays: assertTrue(Till.last() < 9);',
        'errs: assertEquals(2, 1 + 1);',
        'rings: assertEquals(2, Till.last());',
    )
    first = {'pom.xml': pom(), **source('Till', text.format(1)), **old}
    return write(folder / 'repository', [first, {**source('Till', text.format(2)), **new}])


def test_all_cells_are_recorded_and_decide_nothing(tmp_path: Path) -> None:
    repository = three_labels(tmp_path)
    plain = mined_once(repository, tmp_path / 'plain')
    full = mined(repository, tmp_path / 'full', profile=replace(QUICK, all_cells=True))
    names = ('follows', 'stays', 'errs', 'rings')
    assert [(m.label, m.track) for m in map(full.method, names)] == [
        ('update', 'update'),
        ('refinement', None),
        ('repair', 'repair'),
        ('generation', 'generation'),
    ]
    bare = {
        f'tnew_cold{column}': None for column in ('', '_unit', '_passes', '_runs', '_signature')
    }
    for name in names[:3]:
        row = full.method(name)
        assert plain.method(name) == replace(row, **bare)
        assert len(full.runs(row.method_id, Cell.TNEW_COLD)) == row.tnew_cold_runs == 3
        assert plain.runs(row.method_id, Cell.TNEW_COLD) == []
    assert plain.method('rings') == full.method('rings')
    told = [(m.tnew_cold, m.tnew_cold_passes) for m in map(full.method, names)]
    assert told == [('fail', 0), ('pass', 3), ('pass', 3), ('fail', 0)]


def test_the_same_store_keeps_both(tmp_path: Path) -> None:
    """Which cells are run belongs to the key: the second run does not take the first's for its own."""
    repository = written(tmp_path)
    full = replace(QUICK, all_cells=True)
    for profile, executed in ((QUICK, 1), (full, 1), (full, 0)):
        found = mined(repository, tmp_path / 'store', profile=profile)
        assert found.report.executed == executed
