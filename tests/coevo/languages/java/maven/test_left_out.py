"""Builds that need what a clone does not hold: submodules, and files in Git LFS."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.cells import NEEDS_LFS_FILE, NEEDS_SUBMODULE
from coevo.languages.java.revisions.failures import find_missing_content_kind
from tests.projects import junit, mined, pom, source, write
from tests.repos import commit, init, name_submodule

POINTER = f'version https://git-lfs.github.com/spec/v1\noid sha256:{"0" * 64}\nsize 123456\n'
ATTRIBUTES = {'.gitattributes': '*.jar filter=lfs diff=lfs merge=lfs -text\n'}
JAR = '<systemPath>${project.basedir}/lib/words.jar</systemPath>'


def with_submodule(folder: Path, path: str, files: dict[str, str]) -> Repository:
    init(folder)
    name_submodule(folder, path)
    commit(folder, 'first', files)
    return Repository(folder / '.git')


@pytest.mark.slow
@pytest.mark.parametrize(
    ('path', 'poms', 'need'),
    [
        ('lib', {'pom.xml': '<project><modules><module>lib</module></modules></project>'}, True),
        ('lib', {'pom.xml': '<project><module> ./lib/core </module></project>'}, True),
        ('lib', {'a/pom.xml': '<project><dir>${basedir}/../lib/x.txt</dir></project>'}, True),
        ('a/src/main/proto', {'a/pom.xml': '<project/>'}, True),
        ('src/main/java/x', {'pom.xml': 'no XML'}, True),
        ('lib', {'pom.xml': '<project><artifactId>lib</artifactId></project>'}, False),
        ('lib', {'pom.xml': '<project><module>library</module></project>'}, False),
        ('docs/theme', {'pom.xml': '<project><module>docs</module></project>'}, False),
        ('src/test/data', {'pom.xml': '<project/>'}, False),
    ],
)
def test_submodule_is_needed_if_a_pom_names_it_or_it_lies_in_a_source_folder(
    tmp_path: Path, path: str, poms: dict[str, str], need: bool
) -> None:
    repository = with_submodule(tmp_path / 'demo', path, poms)
    head = repository.resolve('HEAD')
    assert repository.list_submodules(head) == (path,)
    assert path not in repository.tree(head)
    assert find_missing_content_kind(repository, head) == (NEEDS_SUBMODULE if need else None)
    assert find_missing_content_kind(repository, head, 'elsewhere') is None


@pytest.mark.parametrize(
    ('files', 'need'),
    [
        ({'lib/words.jar': POINTER, 'pom.xml': f'<project>{JAR}</project>'}, NEEDS_LFS_FILE),
        ({'lib/words.jar': POINTER, 'pom.xml': '<project/>'}, None),
        ({'lib/words.jar': 'a jar', 'pom.xml': f'<project>{JAR}</project>'}, None),
    ],
)
def test_lfs_file_is_needed_if_a_pom_names_it(
    tmp_path: Path, files: dict[str, str], need: str | None
) -> None:
    folder = init(tmp_path / 'demo')
    commit(folder, 'first', {**files, **ATTRIBUTES})
    repository = Repository(folder / '.git')
    assert find_missing_content_kind(repository, repository.resolve('HEAD'), '.') == need


@pytest.mark.jvm
def test_pair_whose_build_needs_a_submodule_records_that_reason(tmp_path: Path) -> None:
    folder = tmp_path / 'repository'
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    module = pom().replace('</version>', '</version><packaging>pom</packaging>', 1)
    module = module.replace('<licenses>', '<modules><module>lib</module></modules><licenses>')
    with_submodule(folder, 'lib', {'pom.xml': module})
    body = '    public static int last() { return 2; }\n'
    write(folder, [{**source('Till', body), **tests}])
    found = mined(folder, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == (NEEDS_SUBMODULE,) * 2
    (drop,) = (drop for drop in found.drops if drop.stage == 'label')
    assert (drop.reason, drop.detail) == ('t_new_c_new_unbuildable', NEEDS_SUBMODULE)


@pytest.mark.jvm
@pytest.mark.timeout(300)
@pytest.mark.parametrize('folder', ['/', '${user.home}/../..', '../..'])
def test_source_folders_outside_the_checkout_are_left_out(tmp_path: Path, folder: str) -> None:
    """javac would read all system files below `/`, until its memory or time has ended."""
    foreign = (
        f'<build><sourceDirectory>{folder}</sourceDirectory><resources><resource>'
        f'<directory>{folder}</directory></resource></resources></build>'
    )
    first = {'pom.xml': pom(foreign), **source('Till', '    static int last() { return 1; }\n')}
    tests = junit('TillTest', 'rings: assertEquals(2, Till.last());')
    second = {**source('Till', '    static int last() { return 2; }\n'), **tests}
    found = mined(write(tmp_path / 'repository', [first, second]), tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('built',) * 2
    assert {drop.reason for drop in found.drops} == {'t_new_c_new_compile_error'}
