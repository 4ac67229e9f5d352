"""One declaration undone, as text, on repositories written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.surgery.undo import undo_member
from coevo.measures.declaration_pairs import find_method_at_other_end, find_method_or_constructor
from coevo.model.dependencies import Revised
from tests.coevo.measures.shop import dependency, pair_of
from tests.repos import commit, init

PATH = 'src/main/java/shop/Shop.java'
OLD = """\
package shop;

import java.util.ArrayList;
import java.util.List;

class Shop {
    int price() {
        return new ArrayList<>(List.of(1)).get(0);
    }

    /** Gone. */
    int old() {
        return 2;
    }

    int kept() {
        return 3;
    }
}
"""
NEW = """\
package shop;

import java.util.List;

class Shop {
    int price() {
        return List.of(5).get(0);
    }

    int kept() {
        return 3;
    }

    // Since then.
    int added() {
        return 4;
    }
}
"""


def undo(
    folder: Path, name: str, revised: Revised, files: tuple[dict[str, str | None], ...]
) -> str:
    repo = init(folder)
    revs = [commit(repo, 'x', step) for step in files]
    repository = Repository(repo / '.git')
    pair = pair_of(repository, *revs)
    at = files[0 if revised is Revised.REMOVED else 1]
    ((path, text),) = ((path, text) for path, text in at.items() if text is not None)
    changed = dependency(path, text, name, revised)
    known, other = (
        find_method_or_constructor(repository, pair, changed),
        find_method_at_other_end(repository, pair, changed),
    )
    assert known is not None
    if revised is Revised.REMOVED:
        assert other is not None
        return undo_member(revised, known, other).decode()
    return undo_member(revised, other, known).decode()


def test_undone_modified_method_gets_its_old_text_and_imports(tmp_path: Path) -> None:
    text = undo(tmp_path, 'price', Revised.MODIFIED, ({PATH: OLD}, {PATH: NEW}))

    wanted = NEW.replace('List.of(5).get(0)', 'new ArrayList<>(List.of(1)).get(0)')
    assert text == wanted.replace(
        'import java.util.List;', 'import java.util.List;\nimport java.util.ArrayList;'
    )


def test_undone_inserted_method_is_removed_with_its_comment(tmp_path: Path) -> None:
    text = undo(tmp_path, 'added', Revised.INSERTED, ({PATH: OLD}, {PATH: NEW}))

    start, end = NEW.index('\n    // Since'), NEW.rindex('}')
    assert text == NEW[:start] + NEW[end:]


def test_undone_removed_method_is_restored_after_its_neighbour(tmp_path: Path) -> None:
    text = undo(tmp_path, 'old', Revised.REMOVED, ({PATH: OLD}, {PATH: NEW}))

    names = [member.name for member in parse(text.encode()).types[0].members]
    assert names == ['price', 'old', 'kept', 'added']
    assert not parse(text.encode()).has_error


@pytest.mark.parametrize(
    ('old', 'new', 'names'),
    [
        ('class Shop { int old() { return 1; } int kept; }', 'class Shop { int kept; }', 2),
        ('class Shop { int old() { return 1; } }', 'class Shop { }', 1),
        ('enum Shop { A; int old() { return 1; } }', 'enum Shop { A }', 1),
    ],
)
def test_undone_removed_method_without_a_predecessor_is_restored_first(
    tmp_path: Path, old: str, new: str, names: int
) -> None:
    text = undo(tmp_path, 'old', Revised.REMOVED, ({PATH: old}, {PATH: new})).encode()

    assert not parse(text).has_error
    members = parse(text).types[0].members
    assert members[0].name == 'old'
    assert len(members) == names


def test_old_text_is_found_though_its_type_moved(tmp_path: Path) -> None:
    moved = 'src/main/java/store/Shop.java'
    new = NEW.replace('package shop', 'package store')

    text = undo(tmp_path, 'price', Revised.MODIFIED, ({PATH: OLD}, {PATH: None, moved: new}))

    assert 'new ArrayList<>(List.of(1)).get(0)' in text
    assert text.startswith('package store;')


def test_restored_imports_precede_the_types_in_a_file_without_imports(tmp_path: Path) -> None:
    new = 'package shop;\n\nclass Shop {\n    int price() { return 5; }\n}\n'

    text = undo(tmp_path, 'price', Revised.MODIFIED, ({PATH: OLD}, {PATH: new}))

    imports = 'import java.util.ArrayList;\nimport java.util.List;\n'
    assert text.startswith(f'package shop;\n\n{imports}class Shop {{')


def test_undone_change_keeps_the_line_endings_of_the_new_file(tmp_path: Path) -> None:
    new = NEW.replace('\n', '\r\n')

    text = undo(tmp_path, 'price', Revised.MODIFIED, ({PATH: OLD}, {PATH: new}))

    assert text.count('\r\n') == text.count('\n')
