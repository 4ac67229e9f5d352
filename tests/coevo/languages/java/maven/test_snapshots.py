"""Snapshots that are gone are replaced by releases, or by the project's own POM."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coevo.languages.java.building.session import JvmAnswer
from coevo.languages.java.maven.snapshots import (
    Replacement,
    find_replacement,
    load_poms,
    replace_versions_temporarily,
    rewrite_poms,
)
from coevo.model.words import Label
from tests.projects import junit, mined, pom, source, write

LIBRARY = '<dependency><artifactId>{}</artifactId><version>{}</version></dependency>'


def rewritten(text: str, *replacements: Replacement) -> str:
    return rewrite_poms({Path('pom.xml'): text.encode()}, replacements)[Path('pom.xml')].decode()


def test_versions_of_the_named_artifact_alone_are_replaced_also_by_way_of_a_property() -> None:
    text = (
        '<project><version>3-SNAPSHOT</version><properties><core.v>3-SNAPSHOT</core.v>'
        '<other.v>3-SNAPSHOT</other.v></properties>{}{}{}<parent><artifactId>core</artifactId>'
        '<version> 3-SNAPSHOT </version></parent></project>'
    )
    libraries = (('core', '${core.v}'), ('core', '3-SNAPSHOT'), ('other', '3-SNAPSHOT'))
    shown = text.format(*(LIBRARY.format(*pair) for pair in libraries))
    replacement = Replacement(artifact='core', snapshot='3-SNAPSHOT', version='3')
    wanted = (('core', '${core.v}'), ('core', '3'), ('other', '3-SNAPSHOT'))
    assert rewritten(shown, replacement) == text.replace('<core.v>3-SNAPSHOT', '<core.v>3').replace(
        ' 3-SNAPSHOT ', ' 3 '
    ).format(*(LIBRARY.format(*pair) for pair in wanted))


@pytest.mark.parametrize(
    ('absent', 'version'),
    [
        ('g:base:2-SNAPSHOT', '2'),
        ('g:own:2-SNAPSHOT', '5-SNAPSHOT'),
        ('g:own:5-SNAPSHOT', '5'),
        ('g:base:[1,2)', None),
    ],
)
def test_own_projects_replace_their_snapshots_and_releases_all_others(
    tmp_path: Path, absent: str, version: str | None
) -> None:
    (tmp_path / 'pom.xml').write_text(
        '<project><artifactId>own</artifactId><version>5-SNAPSHOT</version></project>'
    )
    failure = {'kind': 'snapshot_dependency', 'absent': absent}
    answer = JvmAnswer(report={'projects': [{'failure': failure}]}, files=(), cpu_seconds=0.0)
    found = find_replacement(answer, load_poms(tmp_path))
    assert (found and found.version) == version


def test_poms_are_as_they_were_after_a_build(tmp_path: Path) -> None:
    text = f'<project>{LIBRARY.format("a", "1-SNAPSHOT")}</project>'
    (tmp_path / 'sub').mkdir()
    (tmp_path / 'sub/pom.xml').write_text(text)
    one = Replacement(artifact='a', snapshot='1-SNAPSHOT', version='1')
    with replace_versions_temporarily(tmp_path, load_poms(tmp_path), [one]):
        assert '<version>1</version>' in (tmp_path / 'sub/pom.xml').read_text()
    assert (tmp_path / 'sub/pom.xml').read_text() == text


@pytest.mark.parametrize('instead', ['nothing', 'pipe', 'link'])
def test_poms_are_as_they_were_whatever_a_build_puts_in_their_place(
    tmp_path: Path, instead: str
) -> None:
    pom_file, other = tmp_path / 'tree/pom.xml', tmp_path / 'other'
    pom_file.parent.mkdir()
    pom_file.write_text(LIBRARY.format('a', '1-SNAPSHOT'))
    other.write_text('of the host')
    one = Replacement(artifact='a', snapshot='1-SNAPSHOT', version='1')
    with replace_versions_temporarily(pom_file.parent, load_poms(pom_file.parent), [one]):
        pom_file.unlink()
        if instead == 'pipe':
            os.mkfifo(pom_file)
        if instead == 'link':
            pom_file.symlink_to(other)
    assert pom_file.read_text() == LIBRARY.format('a', '1-SNAPSHOT')
    assert other.read_text() == 'of the host'


HAMCREST = """<dependencies><dependency><groupId>org.hamcrest</groupId>
    <artifactId>hamcrest</artifactId><version>2.2-SNAPSHOT</version></dependency>"""
STALE = '<parent><groupId>shop</groupId><artifactId>root</artifactId><version>1-SNAPSHOT</version>'
ROOT = """<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId>
    <artifactId>root</artifactId><version>2-SNAPSHOT</version><packaging>pom</packaging><modules>
    <module>till</module></modules></project>"""


@pytest.mark.jvm
@pytest.mark.slow
def test_gone_snapshots_of_others_and_stale_parents_are_replaced_and_told(tmp_path: Path) -> None:
    till = pom().replace('<dependencies>', HAMCREST)
    till = till.replace('<modelVersion>', f'{STALE}</parent><modelVersion>')
    steps = [
        {
            'pom.xml': ROOT,
            'till/pom.xml': till,
            **{
                f'till/{path}': text
                for path, text in {
                    **source('Till', f'    public static int price() {{ return {n}; }}\n'),
                    **junit('TillTest', f'sells: assertEquals({n}, Till.price());'),
                }.items()
            },
        }
        for n in (1, 2)
    ]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (update,) = found.methods
    assert update.label is Label.UPDATE
    assert update.override == ('hamcrest-2.2-for-2.2-SNAPSHOT+root-2-SNAPSHOT-for-1-SNAPSHOT')
