"""What of a dependency can be undone alone, as text, on repositories written here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.measures.parts import UndoablePart, list_undoable_parts
from coevo.model.dependencies import Dependency, Revised
from tests.coevo.measures.shop import pair_of
from tests.repos import commit, init

PATH = 'src/main/java/shop/Shop.java'
RESOURCE = 'src/main/resources/greeting.txt'

Files = Mapping[str, str | None]


def shop(*body: str, head: str = 'class Shop', imports: str = '') -> str:
    lines = ''.join(f'    {line}\n' for line in body)
    return f'package shop;\n\n{imports}{head} {{\n{lines}}}\n'


def parts(
    folder: Path,
    old: Files,
    new: Files,
    name: str = 'shop.Shop',
    at: str = PATH,
    revised: Revised | None = None,
) -> tuple[UndoablePart, ...]:
    """Those of the rest of a type, or of the resource at a path, by what the pair did to it."""
    repo = init(folder)
    before = commit(repo, 'old', old)
    after = commit(repo, 'new', {**dict.fromkeys(old), **new})
    repository = Repository(repo / '.git')
    ends = old.get(at), new.get(at)
    lines, declaration = (0, 0), 'resource'
    spans = [_type(text, name) if at.endswith('.java') else (text and 'resource') for text in ends]
    alone = Revised.INSERTED if spans[1] else Revised.REMOVED
    revised = revised or (Revised.MODIFIED if all(spans) else alone)
    if at.endswith('.java'):
        text = ends[0] if revised is Revised.REMOVED else ends[1]
        assert text is not None
        (found,) = (one for one in parse(text.encode()).types if one.name == name)
        lines, declaration = (found.start_line, found.end_line), found.declaration
    dependency = Dependency(
        name=name,
        declaration=declaration,
        file=at,
        start_line=lines[0],
        end_line=lines[1],
        revised=revised,
        rank=1,
    )
    return list_undoable_parts(repository, pair_of(repository, before, after), dependency)


def _type(text: str | None, name: str) -> bool:
    return text is not None and any(one.name == name for one in parse(text.encode()).types)


def told(found: tuple[UndoablePart, ...]) -> list[tuple[str, str]]:
    return [(str(part.revised), part.declaration) for part in found]


def texts(found: tuple[UndoablePart, ...]) -> list[str | None]:
    made = []
    for part in found:
        path, content = part.versions[0].edit
        assert path == PATH
        made.append(None if content is None else content.decode())
    return made


def test_each_changed_field_and_initialiser_is_an_undoable_part(tmp_path: Path) -> None:
    old = shop(
        'int most = 3;', 'int same = 1;', 'static { go(1); }', 'int gone = 2;', 'void m() { }'
    )
    new = shop('int most = 5;', 'int fresh;', 'int  same=1;', 'static { go(2); }', 'void m() { }')
    found = parts(tmp_path, {PATH: old}, {PATH: new})
    assert told(found) == [
        ('modified', 'int most'),
        ('inserted', 'int fresh'),
        ('modified', 'static {…}'),
        ('removed', 'int gone'),
    ]
    assert [part.start_line for part in found] == [4, 5, 7, 7]
    assert len({part.key for part in found}) == 4
    most, fresh, start, gone = texts(found)
    assert most == new.replace('most = 5', 'most = 3')
    assert fresh == new.replace('    int fresh;\n', '')
    assert start == new.replace('go(2)', 'go(1)')
    assert gone is not None
    assert [m.name for m in parse(gone.encode()).types[0].members][-2:] == ['gone', 'm']


def test_initialisers_are_matched_by_text_and_then_by_order(tmp_path: Path) -> None:
    old = shop('static { a(); }', 'static { b(); }', '{ c(); }')
    new = shop('static { b(); }', 'static { d(); }', '{ c(); }')
    found = parts(tmp_path, {PATH: old}, {PATH: new})
    assert told(found) == [('modified', 'static {…}')]
    assert texts(found) == [new.replace('d()', 'a()')]


def test_fields_of_one_declaration_are_one_part(tmp_path: Path) -> None:
    old, new = shop('int a = 1, b = 2;'), shop('int a = 1, b = 3;')
    found = parts(tmp_path, {PATH: old}, {PATH: new})
    assert texts(found) == [old]


def test_an_undone_field_brings_the_imports_it_needs(tmp_path: Path) -> None:
    old = shop('List<?> goods;', imports='import java.util.List;\n\n')
    new = shop('Object goods;')
    (text,) = texts(parts(tmp_path, {PATH: old}, {PATH: new}))
    assert text is not None
    assert text.startswith('package shop;\n\nimport java.util.List;\nclass Shop {')
    assert 'List<?> goods;' in text


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('class Shop', 'public final class Shop'),
        ('class Shop extends Till', 'class Shop'),
        ('class Shop<T>', 'class Shop<T extends Number>'),
        ('@Old class Shop', '@New(1) class Shop'),
        ('record Shop(int a)', 'record Shop(int a, int b)'),
    ],
)
def test_a_changed_type_header_is_an_undoable_part(tmp_path: Path, old: str, new: str) -> None:
    body = 'void m() { }'
    before, after = shop(body, head=old), shop(body, head=new)
    found = parts(tmp_path, {PATH: before}, {PATH: after})
    assert [part.revised for part in found] == [Revised.MODIFIED]
    assert texts(found) == [before]


def test_the_constants_of_an_enum_belong_to_its_header(tmp_path: Path) -> None:
    old = shop('A, B(2), C;', 'int n;', head='enum Shop')
    new = shop('A, B(3);', 'int n;', head='enum Shop')
    (text,) = texts(parts(tmp_path, {PATH: old}, {PATH: new}))
    assert text == old


def test_a_type_header_that_differs_only_in_its_name_is_no_part(tmp_path: Path) -> None:
    """Who uses a renamed type names it otherwise: undone alone it would never compile."""
    moved = 'src/main/java/store/Shop.java'
    new = shop('int n;').replace('package shop', 'package store')
    old = {PATH: shop('int n;')}
    assert parts(tmp_path, old, {moved: new}, 'store.Shop', moved, Revised.MODIFIED) == ()


def test_a_moved_type_keeps_its_new_path_and_gets_its_old_fields(tmp_path: Path) -> None:
    moved = 'src/main/java/store/Shop.java'
    new = shop('int n = 2;').replace('package shop', 'package store')
    repo_files = {PATH: shop('int n = 1;')}
    (part,) = parts(tmp_path, repo_files, {moved: new}, 'store.Shop', moved, Revised.MODIFIED)
    assert part.versions[0].edit == (moved, new.replace('n = 2', 'n = 1').encode())


def test_undoing_a_new_type_removes_its_file_if_it_holds_no_other_type(tmp_path: Path) -> None:
    inner = shop('static class Inner { }')
    assert texts(parts(tmp_path / 'a', {'README': 'x'}, {PATH: inner})) == [None]
    found = parts(
        tmp_path / 'b',
        {PATH: shop('int n;')},
        {PATH: shop('int n;', 'class In { }')},
        'shop.Shop$In',
    )
    assert told(found) == [('inserted', 'class In')]
    assert texts(found) == [shop('int n;')]


def test_undoing_a_removed_type_restores_it(tmp_path: Path) -> None:
    old = shop('int n;', 'class In { int k; }')
    whole = parts(tmp_path / 'a', {PATH: old, 'README': 'x'}, {'README': 'y'})
    assert told(whole) == [('removed', 'class Shop')]
    assert texts(whole) == [old]
    nested = parts(tmp_path / 'b', {PATH: old}, {PATH: shop('int n;')}, 'shop.Shop$In')
    (text,) = texts(nested)
    assert text is not None
    assert [one.name for one in parse(text.encode()).types] == ['shop.Shop', 'shop.Shop$In']
    beside = old + 'class Other { int k; }\n'
    second = parts(tmp_path / 'c', {PATH: beside}, {PATH: old}, 'shop.Other')
    (text,) = texts(second)
    assert text is not None
    assert not parse(text.encode()).has_error
    assert 'shop.Other' in [one.name for one in parse(text.encode()).types]


def test_a_removed_type_inside_a_removed_type_cannot_be_restored(tmp_path: Path) -> None:
    old = shop('class In { int k; }')
    (part,) = parts(tmp_path, {PATH: old, 'README': 'x'}, {'README': 'y'}, 'shop.Shop$In')
    assert part.stages == ()


def test_a_source_template_among_the_resources_is_undone_as_a_resource(tmp_path: Path) -> None:
    path = 'src/main/resources/archetype/App.java'
    old, new = {path: 'package ${package};'}, {path: 'package ${package}.app;'}
    repo = init(tmp_path)
    revs = [commit(repo, 'x', files) for files in (old, new)]
    repository = Repository(repo / '.git')
    dependency = Dependency(
        name=path,
        declaration='resource',
        file=path,
        start_line=0,
        end_line=0,
        revised=Revised.MODIFIED,
        rank=1,
    )
    (part,) = list_undoable_parts(repository, pair_of(repository, *revs), dependency)
    assert part.versions[0].edit == (path, b'package ${package};')


def test_an_undone_resource_gets_its_old_content(tmp_path: Path) -> None:
    def undone(name: str, old: Files, new: Files) -> list[object]:
        keep = {'README': name}
        found = parts(tmp_path / name, {**old, **keep}, {**new, **keep}, RESOURCE, RESOURCE)
        return [(part.revised, part.declaration, part.versions[0].edit) for part in found]

    here, there = {RESOURCE: 'hello'}, {RESOURCE: 'ahoy'}
    assert undone('a', here, there) == [('modified', 'resource', (RESOURCE, b'hello'))]
    assert undone('b', {}, there) == [('inserted', 'resource', (RESOURCE, None))]
    assert undone('c', here, {}) == [('removed', 'resource', (RESOURCE, b'hello'))]
