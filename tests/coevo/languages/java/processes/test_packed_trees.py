"""A tree as one file: the upper layer hides the lower one, and nothing else tells them apart."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

from coevo.languages.java.processes.packed_trees import MOST_PACKED, PackedTrees, pack_tree


def layer(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        place = folder / name.replace('__', '/')
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_packed_tree_overlays_its_layers_without_removed_files(tmp_path: Path) -> None:
    lower = layer(tmp_path / 'lower', a='1', d__b='1', d__gone='1')
    upper = layer(tmp_path / 'upper', d__b='2', e='2')
    (lower / 'link').symlink_to('a')
    (lower / 'a').chmod(0o755)
    place = pack_tree(tmp_path / 'packed', [lower, tmp_path / 'nowhere', upper], ['d/gone'])
    with tarfile.open(place) as archive:
        names = archive.getnames()
    out = tmp_path / 'out'
    out.mkdir()
    subprocess.run(['tar', '-xf', place, '-C', out], check=True)
    assert names == ['a', 'd', 'd/b', 'e', 'link']
    assert [(out / name).read_text() for name in ('a', 'd/b', 'e', 'link')] == ['1', '2', '2', '1']
    assert os.access(out / 'a', os.X_OK)
    assert (out / 'link').is_symlink()


def test_packed_tree_reveals_edited_files_only_by_content(tmp_path: Path) -> None:
    """Not the bytes of its entry: no date, owner or place, and no other number of entries."""
    lower = layer(tmp_path / 'lower', a='1', b='2')
    upper = layer(tmp_path / 'upper', a='1')
    os.utime(upper / 'a', (1, 1))
    plain = pack_tree(tmp_path / 'packed', [lower], [])
    edited = pack_tree(tmp_path / 'packed', [lower, upper], [])
    assert plain.read_bytes() == edited.read_bytes()
    assert plain.name != edited.name


def test_only_the_most_recently_used_archives_are_kept(tmp_path: Path) -> None:
    lower = layer(tmp_path / 'lower', a='1')
    trees = PackedTrees(tmp_path / 'packed')
    first = trees.get_or_pack_archive([lower], [])
    for number in range(MOST_PACKED + 2):
        trees.get_or_pack_archive([lower, tmp_path / str(number)], [])
        assert trees.get_or_pack_archive([lower], []) == first
    assert len(list((tmp_path / 'packed').iterdir())) == MOST_PACKED
