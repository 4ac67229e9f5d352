"""Paths that contain text of a stranger: what becomes one, and what writing through it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coevo.storage.beneath import PathFault, UnsafePath, find_path_fault, join_beneath

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
def test_a_path_that_leaves_the_root_or_is_no_valid_name_is_refused(root: Path, text: str) -> None:
    assert find_path_fault(text) is REFUSED[text]
    with pytest.raises(UnsafePath) as caught:
        join_beneath(root, text)
    assert caught.value.fault is REFUSED[text]
    assert not root.exists()


@pytest.mark.parametrize('text', ALLOWED)
def test_odd_names_are_written_below_the_root(root: Path, text: str) -> None:
    place = join_beneath(root, text)
    place.replace_file(b'x')
    assert place.path.read_bytes() == b'x'
    assert place.path.resolve().is_relative_to(root)
    assert find_path_fault(text) is None


def test_a_joined_path_cannot_lead_out_of_its_folder(root: Path) -> None:
    for text in ('..', 'x/../../y'):
        with pytest.raises(UnsafePath):
            join_beneath(root, 'a').join_below(text)


def test_a_link_in_the_middle_of_a_path_is_not_followed(root: Path, victim: Path) -> None:
    root.mkdir()
    (root / 'link').symlink_to(victim.parent)
    place = join_beneath(root, 'link', victim.name)
    for write in (place.replace_file, place.create_file):
        with pytest.raises(UnsafePath):
            write(b'overwritten')
    for act in (place.make_folder, place.make_parents_and_get_path, place.remove):
        with pytest.raises(UnsafePath):
            act()
    assert not place.is_file()
    assert victim.read_text() == 'precious'


def test_a_link_at_the_end_of_a_path_is_itself_replaced_or_removed(
    root: Path, victim: Path
) -> None:
    root.mkdir()
    place = join_beneath(root, 'link')
    place.make_symlink(str(victim))
    with pytest.raises(UnsafePath):
        place.make_parents_and_get_path()
    with pytest.raises(FileExistsError):
        place.create_file(b'overwritten')
    place.replace_file(b'a file now')
    assert (root / 'link').read_text() == 'a file now'
    place.remove()
    place.make_symlink(str(victim.parent))
    place.remove()
    assert not place.is_there()
    assert victim.read_text() == 'precious'


def test_a_link_that_appears_after_the_check_is_not_followed(root: Path, victim: Path) -> None:
    place = join_beneath(root, 'folder', victim.name)
    place.path.parent.parent.mkdir()
    (root / 'folder').symlink_to(victim.parent)
    with pytest.raises(UnsafePath):
        place.replace_file(b'overwritten')
    assert victim.read_text() == 'precious'


def test_removing_a_folder_leaves_the_targets_of_its_links(root: Path, victim: Path) -> None:
    place = join_beneath(root, 'folder')
    place.join_below('a/b').replace_file(b'x')
    place.join_below('a/out').make_symlink(str(victim.parent))
    place.remove()
    assert not (root / 'folder').exists()
    assert victim.read_text() == 'precious'
    place.remove()  # nothing is there


def test_a_path_below_a_file_is_refused(root: Path) -> None:
    join_beneath(root, 'a').replace_file(b'x')
    with pytest.raises(UnsafePath):
        join_beneath(root, 'a/b').replace_file(b'y')
    assert (root / 'a').read_bytes() == b'x'


def test_a_failed_write_leaves_the_old_file_and_no_other_file(root: Path) -> None:
    place = join_beneath(root, 'a')
    place.replace_file(b'old')
    with pytest.raises(TypeError):
        place.replace_file('no bytes')  # type: ignore[arg-type]
    assert place.path.read_bytes() == b'old'
    assert [path.name for path in root.iterdir()] == ['a']


def test_written_files_are_readable_by_all_whatever_the_umask(root: Path) -> None:
    before = os.umask(0o077)
    try:
        join_beneath(root, 'a/b').replace_file(b'x')
        join_beneath(root, 'a/program').create_file(b'x', 0o755)
    finally:
        os.umask(before)
    assert [(root / name).stat().st_mode & 0o777 for name in ('a', 'a/b', 'a/program')] == [
        *(0o755, 0o644, 0o755),
    ]


def test_a_local_file_can_be_moved_or_hard_linked_below_the_root(
    root: Path, tmp_path: Path
) -> None:
    for name in ('one', 'other'):
        (tmp_path / name).write_text(name)
    join_beneath(root, 'deep/taken').move_here(tmp_path / 'one')
    join_beneath(root, 'deep/linked').add_hard_link(tmp_path / 'other')
    assert not (tmp_path / 'one').exists()
    assert (root / 'deep/linked').stat().st_nlink == 2
    with pytest.raises(FileExistsError):
        join_beneath(root, 'deep/linked').add_hard_link(tmp_path / 'other')


def test_names_that_differ_in_case_are_two_files(root: Path) -> None:
    join_beneath(root, 'Name').replace_file(b'1')
    join_beneath(root, 'name').replace_file(b'2')
    assert join_beneath(root, 'Name').path.read_bytes() == b'1'
