"""Libraries pass the folders of a class path only where nobody can tell."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from coevo.languages.java.processes.plan import move_libraries_first

FOLDERS = ('/w/./target/test-classes', '/w/./target/classes')
LIBRARY = '/repo/lib.jar'
BEFORE = (*FOLDERS, LIBRARY)
AFTER = (LIBRARY, *FOLDERS)


def arranged(tmp_path: Path, in_tree: str, in_jar: str) -> tuple[str, ...]:
    file = tmp_path / 'layer' / 'target/classes' / in_tree
    file.parent.mkdir(parents=True)
    file.write_text('')
    with zipfile.ZipFile(tmp_path / 'lib.jar', 'w') as jar:
        jar.writestr('META-INF/MANIFEST.MF', '')
        jar.writestr(in_jar, '')
    return move_libraries_first(BEFORE, [tmp_path / 'layer'], {LIBRARY: tmp_path / 'lib.jar'})


@pytest.mark.parametrize(
    ('in_tree', 'in_jar'),
    [
        ('shop/Till.class', 'lib/Tool.class'),
        ('org/shop/Till.class', 'org/lib/Tool.class'),
        ('META-INF/services/shop.Till', 'META-INF/services/lib.Tool'),
        ('module-info.class', 'module-info.class'),
    ],
)
def test_library_that_shares_no_name_with_the_tree_moves_first(
    tmp_path: Path, in_tree: str, in_jar: str
) -> None:
    assert arranged(tmp_path, in_tree, in_jar) == AFTER


@pytest.mark.parametrize(
    ('in_tree', 'in_jar'),
    [
        ('lib/Tool.class', 'lib/Tool.class'),
        ('lib/Other.class', 'lib/Tool.class'),
        ('log.properties', 'log.properties'),
        ('META-INF/services/lib.Tool', 'META-INF/services/lib.Tool'),
        ('META-INF/MANIFEST.MF', 'lib/Tool.class'),
        ('lib', 'lib/Tool.class'),
    ],
)
def test_library_that_shares_a_name_with_the_tree_stays_behind_it(
    tmp_path: Path, in_tree: str, in_jar: str
) -> None:
    assert arranged(tmp_path, in_tree, in_jar) == BEFORE


def test_class_path_keeps_its_order_if_a_jar_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / 'lib.jar').write_text('no archive')
    assert move_libraries_first(BEFORE, [tmp_path], {LIBRARY: tmp_path / 'lib.jar'}) == BEFORE


def test_library_never_moves_before_a_jar_of_the_tree(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / 'lib.jar', 'w') as jar:
        jar.writestr('lib/Tool.class', '')
    places = ('/w/lib/own.jar', LIBRARY)
    assert move_libraries_first(places, [tmp_path], {LIBRARY: tmp_path / 'lib.jar'}) == places
