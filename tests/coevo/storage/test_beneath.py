"""Paths that contain text of a stranger: what becomes one, and what writing through it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coevo.storage.beneath import PathFault
from coevo.storage.beneath import UnsafePath
from coevo.storage.beneath import beneath
from coevo.storage.beneath import path_fault

REFUSED = {
    '': PathFault.EMPTY,
    '.': PathFault.EMPTY,
    './/.': PathFault.EMPTY,
    '/etc/passwd': PathFault.ABSOLUTE,
    '//x': PathFault.ABSOLUTE,
    '..': PathFault.UPWARDS,
    'a/../../b': PathFault.UPWARDS,
    'a/..': PathFault.UPWARDS,
    'a\0b': PathFault.NUL,
    'a' * 256: PathFault.NAME_TOO_LONG,
    'ä' * 128: PathFault.NAME_TOO_LONG,  # 256 bytes
    'a/' * 3000 + 'b': PathFault.PATH_TOO_LONG,
    'a/' * 256 + 'b': PathFault.TOO_DEEP,
    '\ud800': PathFault.UNWRITABLE,
}
ALLOWED = (
    *(
        'a',
        'a/b',
        './a//b/',
        'con',
        'NUL',
        '...',
        '..a',
        'a..',
        '~root',
        '-rf',
        'a\\..\\b',
        'a b',
        '\n',
    ),
    *('ä' * 127, 'a' * 255, 'a/' * 255 + 'b', '\udcff'),  # the last is a byte that is no UTF-8
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / 'root'


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file beside the root that nothing may touch."""
    file = tmp_path / 'victim' / 'precious.txt'
    file.parent.mkdir()
    file.write_text('precious')
    return file


@pytest.mark.parametrize('text', REFUSED)
def test_what_leaves_the_root_or_is_no_name_is_refused(root: Path, text: str) -> None:
    assert path_fault(text) is REFUSED[text]
    with pytest.raises(UnsafePath) as caught:
        beneath(root, text)
    assert caught.value.fault is REFUSED[text]
    assert not root.exists()


@pytest.mark.parametrize('text', ALLOWED)
def test_odd_names_are_written_below_the_root(root: Path, text: str) -> None:
    place = beneath(root, text)
    place.write(b'x')
    assert place.path.read_bytes() == b'x'
    assert place.path.resolve().is_relative_to(root)
    assert path_fault(text) is None


def test_a_second_text_cannot_lead_out_of_the_first(root: Path) -> None:
    for text in ('..', 'x/../../y'):
        with pytest.raises(UnsafePath):
            beneath(root, 'a').below(text)


def test_a_link_on_the_way_is_not_followed(root: Path, victim: Path) -> None:
    root.mkdir()
    (root / 'link').symlink_to(victim.parent)
    place = beneath(root, 'link', victim.name)
    for write in (place.write, place.create):
        with pytest.raises(UnsafePath):
            write(b'overwritten')
    for act in (place.make_folder, place.prepare, place.remove):
        with pytest.raises(UnsafePath):
            act()
    assert not place.is_file()
    assert victim.read_text() == 'precious'


def test_a_link_at_the_end_is_replaced_or_removed_itself(root: Path, victim: Path) -> None:
    root.mkdir()
    place = beneath(root, 'link')
    place.link_symbolically(str(victim))
    with pytest.raises(UnsafePath):
        place.prepare()
    with pytest.raises(FileExistsError):
        place.create(b'overwritten')
    place.write(b'a file now')
    assert (root / 'link').read_text() == 'a file now'
    place.remove()
    place.link_symbolically(str(victim.parent))
    place.remove()
    assert not place.is_there()
    assert victim.read_text() == 'precious'


def test_a_link_that_appears_after_the_check_is_not_followed(root: Path, victim: Path) -> None:
    place = beneath(root, 'folder', victim.name)
    place.path.parent.parent.mkdir()
    (root / 'folder').symlink_to(victim.parent)
    with pytest.raises(UnsafePath):
        place.write(b'overwritten')
    assert victim.read_text() == 'precious'


def test_removing_a_folder_leaves_what_its_links_lead_to(root: Path, victim: Path) -> None:
    place = beneath(root, 'folder')
    place.below('a/b').write(b'x')
    place.below('a/out').link_symbolically(str(victim.parent))
    place.remove()
    assert not (root / 'folder').exists()
    assert victim.read_text() == 'precious'
    place.remove()  # nothing is there


def test_a_file_in_the_way_of_a_folder_is_refused(root: Path) -> None:
    beneath(root, 'a').write(b'x')
    with pytest.raises(UnsafePath):
        beneath(root, 'a/b').write(b'y')
    assert (root / 'a').read_bytes() == b'x'


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(root: Path) -> None:
    place = beneath(root, 'a')
    place.write(b'old')
    with pytest.raises(TypeError):
        place.write('no bytes')  # type: ignore[arg-type]
    assert place.path.read_bytes() == b'old'
    assert [path.name for path in root.iterdir()] == ['a']


def test_what_is_written_can_be_read_by_all_whatever_the_umask(root: Path) -> None:
    before = os.umask(0o077)
    try:
        beneath(root, 'a/b').write(b'x')
        beneath(root, 'a/program').create(b'x', 0o755)
    finally:
        os.umask(before)
    assert [(root / name).stat().st_mode & 0o777 for name in ('a', 'a/b', 'a/program')] == [
        *(0o755, 0o644, 0o755),
    ]


def test_a_file_of_ours_is_taken_or_linked_under_a_name(root: Path, tmp_path: Path) -> None:
    for name in ('one', 'other'):
        (tmp_path / name).write_text(name)
    beneath(root, 'deep/taken').take(tmp_path / 'one')
    beneath(root, 'deep/linked').link_to(tmp_path / 'other')
    assert not (tmp_path / 'one').exists()
    assert (root / 'deep/linked').stat().st_nlink == 2
    with pytest.raises(FileExistsError):
        beneath(root, 'deep/linked').link_to(tmp_path / 'other')


def test_names_that_differ_in_case_are_two_files(root: Path) -> None:
    beneath(root, 'Name').write(b'1')
    beneath(root, 'name').write(b'2')
    assert beneath(root, 'Name').path.read_bytes() == b'1'
