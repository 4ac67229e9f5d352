"""Edits of no effect: other text and byte code, the same program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.languages.measures import PlaceboKind
from coevo.measures.placebos import (
    PLAIN_EDITS,
    REWRITING_EDITS,
    SINGLE_REWRITE,
    PlaceboEdit,
    make_placebo,
)
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair
from coevo.model.words import Walk
from tests.coevo.languages.java.jvm import javac
from tests.projects import write
from tests.repos import git

PATH = 'src/main/java/shop/Till.java'
NEW = """package shop;
public abstract class Till extends Drawer {
    private int sum;
    public Till() {
        super(3); // of a drawer
        sum = 1;
    }
    public Till(int n) {
        this();
    }
    public int price(int n) {
        if (n > 3) { return n; }
        switch (n) { case 1: return 4; default: }
        Runnable later = () -> { };
        return -n;
    }
    void nothing() { }
    abstract int fee();
}
"""
OLD = NEW.replace('    void nothing() { }\n', '    void nothing() { }\n    void gone() { }\n')


@pytest.fixture(scope='module')
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Pair]:
    root = write(tmp_path_factory.mktemp('placebos') / 'repository', [{PATH: OLD}, {PATH: NEW}])
    revs = git(root, 'rev-list', '--reverse', 'HEAD').split()
    repository = Repository(Path(root) / '.git')
    old, new = (repository.get_commit(rev) for rev in revs)
    return repository, Pair(
        repo='local/shop',
        language='java',
        walk=Walk.PARENTS,
        old=old,
        new=new,
        old_is_ancestor=True,
    )


NAMES = ('public Till()', 'public Till(int n)', 'public int price(int n)', 'void nothing()')


def dependency(declaration: str) -> Dependency:
    gone = declaration == 'void gone()'
    file = parse((OLD if gone else NEW).encode())
    members = file.types[0].members
    (member,) = (one for one in members if one.declaration == declaration)
    return Dependency(
        declaration=declaration,
        file=PATH,
        start_line=member.start_line,
        end_line=member.end_line,
        revised=Revised.REMOVED if gone else Revised.MODIFIED,
        rank=1,
    )


def made(pair: tuple[Repository, Pair], names: Sequence[str], kind: PlaceboKind, seed: int) -> str:
    edit = PlaceboEdit(kind=kind)
    found = make_placebo(*pair, [dependency(name) for name in names], edit, Random(seed))
    ((path, text),) = found
    assert path == PATH
    return text.decode()


@pytest.mark.parametrize('name', NAMES)
def test_a_placebo_statement_is_inserted_where_it_is_valid(
    pair: tuple[Repository, Pair], name: str
) -> None:
    texts = {made(pair, [name], PlaceboKind.IN_PLACE, seed) for seed in range(20)}
    assert len(texts) == 20
    for text in texts:
        assert not parse(text.encode()).has_error
        changed = [
            new for old, new in zip(NEW.split('\n'), text.split('\n'), strict=True) if old != new
        ]
        assert len(changed) == 1
    moved = made(pair, [name], PlaceboKind.MOVED, 1)
    assert moved.count('\n') > NEW.count('\n')
    assert ' '.join(NEW.split()) != ' '.join(moved.split())


def test_bodiless_and_removed_declarations_get_a_comment_as_placebo(
    pair: tuple[Repository, Pair],
) -> None:
    for name in ('abstract int fee()', 'void gone()'):
        text = made(pair, [name], PlaceboKind.IN_PLACE, 1)
        assert '/* ' in text
        assert parse(text.encode()).hash == parse(NEW.encode()).hash


def test_one_placebo_edits_several_declarations_together(
    pair: tuple[Repository, Pair],
) -> None:
    text = made(pair, NAMES, PlaceboKind.IN_PLACE, 1)
    old, new = (parse(one.encode()).types[0].members for one in (NEW, text))
    differing = [a.declaration for a, b in zip(old, new, strict=True) if a.hash != b.hash]
    assert differing == list(NAMES)
    assert make_placebo(*pair, [], PLAIN_EDITS[0], Random(1)) == ()


def test_a_rewriting_placebo_rewrites_all_declarations_or_a_single_node(
    pair: tuple[Repository, Pair],
) -> None:
    dependencies = [dependency(name) for name in NAMES]
    moved, in_place = (
        dict(make_placebo(*pair, dependencies, edit, Random(3)))[PATH] for edit in REWRITING_EDITS
    )
    assert moved.count(b'\n') > NEW.count('\n') == in_place.count(b'\n')
    for text in (moved, in_place):
        assert not parse(text).has_error
        assert b'if (n > 3)' not in text
    (single,) = (text for _, text in make_placebo(*pair, dependencies, SINGLE_REWRITE, Random(3)))
    changed = [
        line
        for line, old in zip(single.decode().split('\n'), NEW.split('\n'), strict=True)
        if line != old
    ]
    assert len(changed) == 1
    assert make_placebo(*pair, dependencies, SINGLE_REWRITE, Random(3)) == ((PATH, single),)
    # nothing can be rewritten in a method without a body
    assert make_placebo(*pair, [dependency('void nothing()')], SINGLE_REWRITE, Random(1)) == ()


@pytest.mark.slow
@pytest.mark.jvm
def test_every_drawn_placebo_compiles(pair: tuple[Repository, Pair], tmp_path: Path) -> None:
    drawer = 'package shop;\nclass Drawer { Drawer(int n) { } }\n'
    for seed in range(20):
        for kind in PlaceboKind:
            texts = {'Till': made(pair, NAMES, kind, seed), 'Drawer': drawer}
            for name, text in texts.items():
                file = tmp_path / f'sources/{kind}{seed}/{name}.java'
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text.replace('package shop;', f'package {kind}{seed};'))
    javac(tmp_path / 'sources', tmp_path / 'classes', ())
    compiled = list((tmp_path / 'classes').rglob('Till.class'))
    assert len(compiled) == 20 * len(PlaceboKind)
    # who compares the names in class files sees each of them
    assert all(b'java/lang/String' in one.read_bytes() for one in compiled)
    assert 'String' not in NEW
