"""Trees and settings of Maven projects that nobody could build or run: verdicts, no trouble of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java.processes import launch
from tests.once import mined_once
from tests.projects import junit, pom, source, write
from tests.repos import git

pytestmark = pytest.mark.jvm


@pytest.mark.slow
@pytest.mark.parametrize('options', ['-Xmx1k', '-Djava.security.manager'])
def test_unusable_jvm_options_give_the_verdict_error(tmp_path: Path, options: str) -> None:
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
    found = mined_once(repository, tmp_path / 'store')
    assert found.report.failures == {}
    assert [(drop.reason, drop.detail) for drop in found.drops] == [
        ('t_new_c_new_error', 'jvm_options')
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    'path',
    ['n' * 256 + '.txt', pytest.param(f'{"d" * 200}/' * 20 + 'n.txt', marks=pytest.mark.slow)],
)
def test_path_too_long_for_a_file_system_makes_the_revision_unbuildable(
    tmp_path: Path, path: str
) -> None:
    """Git keeps it, and nobody here could ever write it."""
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    repository = write(
        tmp_path / 'repository', [{'pom.xml': pom()}, {**source('Till', body), **tests}]
    )
    tree = with_path(repository, path)
    head = git(repository, 'commit-tree', tree, '-p', 'HEAD~1', '-m', 'it is long')
    git(repository, 'update-ref', 'HEAD', head)
    found = mined_once(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures, found.report.bugs) == (1, {}, {})
    assert found.pairs[0].build_new == 'path_too_long'
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('t_new_c_new_unbuildable', 'path_too_long')


def test_revision_without_a_pom_is_unbuildable(tmp_path: Path) -> None:
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    steps = [{'README.md': 'soon'}, {'pom.xml': pom(), **source('Till', body), **tests}]
    found = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('no_build_file', 'built')
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('t_new_c_old_unbuildable', 'no_build_file')


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


def test_tree_too_large_for_a_sandbox_is_unbuildable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict, not trouble of ours: it would be the same for ever. Neither end is built."""
    monkeypatch.setattr(launch, 'MOST_TREE_BYTES', 1 << 16)
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    body = '    public static int last() { return 2; }\n'
    first: dict[str, str | bytes | None] = {'pom.xml': pom(), 'film.bin': bytes(1 << 16)}
    repository = write(tmp_path / 'repository', [first, {**source('Till', body), **tests}])
    found = mined_once(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('tree_too_large',) * 2
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('t_new_c_new_unbuildable', 'tree_too_large')
