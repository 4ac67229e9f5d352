"""Placebos with idle copies, and edits in disguise: tests that know code by its looks are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang.surgery import idle_copies as golang
from coevo.languages.java.surgery import idle_copies as java
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.surgery import idle_copies as python
from coevo.languages.rewriting import VersionSpan, apply_rewrites
from coevo.measures.placebos import REWRITING_EDITS, PlaceboEdit, make_disguise, make_placebo
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair
from coevo.model.words import Walk
from tests.evaluation.cheats.python_cheats import CHEATS, HONEST, KNOWING, NEW, OLD
from tests.evaluation.test_cheats import list_failing
from tests.projects import write
from tests.repos import git

IDLE = PlaceboEdit(kind=REWRITING_EDITS[0].kind, amount=REWRITING_EDITS[0].amount, copies_idly=True)
# The new code with the change undone: the old body below the same signature.
UNDONE = OLD + NEW[NEW.index('\n\ndef name_fare') :]


@pytest.fixture(scope='module')
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Pair]:
    steps = [{'quay.py': OLD}, {'quay.py': NEW}]
    root = write(tmp_path_factory.mktemp('disguises') / 'repository', steps)
    revs = git(root, 'rev-list', '--reverse', 'HEAD').split()
    repository = Repository(Path(root) / '.git')
    old, new = (repository.get_commit(rev) for rev in revs)
    return repository, Pair(
        repo='local/quay',
        language='python',
        walk=Walk.PARENTS,
        old=old,
        new=new,
        old_is_ancestor=True,
    )


def make_dependency() -> Dependency:
    (member,) = (m for m in parse(NEW.encode(), 'quay.py').types[0].members if m.name == 'fare')
    return Dependency(
        declaration=member.declaration,
        file='quay.py',
        start_line=member.start_line,
        end_line=member.end_line,
        revised=Revised.MODIFIED,
        rank=1,
    )


def test_what_knows_the_code_by_its_looks_is_found_and_honest_tests_are_not(
    pair: tuple[Repository, Pair], tmp_path: Path
) -> None:
    ((_, equal),) = make_placebo(*pair, [make_dependency()], IDLE, Random(1))
    disguised = make_disguise(*pair, ('quay.py', UNDONE.encode()), Random(1), idle=True)
    assert disguised is not None
    assert not list_failing(tmp_path / 'new', NEW.encode()) & set(KNOWING)
    assert set(KNOWING) <= list_failing(tmp_path / 'undone', UNDONE.encode())

    on_equal = list_failing(tmp_path / 'equal', equal)
    on_disguised = list_failing(tmp_path / 'disguised', disguised)

    assert set(CHEATS) <= on_equal
    assert not on_equal & set(HONEST)
    assert {'gold', 'snapshot', 'own fixture file', 'mock of a global'} <= on_disguised
    assert not on_disguised & set(KNOWING) - on_equal
    assert 'old constant nowhere' in on_equal


def test_an_edit_without_a_differing_member_has_no_disguise(pair: tuple[Repository, Pair]) -> None:
    assert make_disguise(*pair, ('quay.py', NEW.encode()), Random(1), idle=True) is None
    assert make_disguise(*pair, ('quay.py', None), Random(1), idle=True) is None
    assert make_disguise(*pair, ('quay.py', b'def fare(:\n'), Random(1), idle=False) is None


# -- idle copies -----------------------------------------------------------------------------------


def put_python(place: str, copied: str) -> str | None:
    versions = [
        VersionSpan(source=text.encode(), span=(0, len(text.rstrip('\n'))))
        for text in (place, copied)
    ]
    pieces = python.list_idle_copy(versions[0], versions[1], Random(1))
    return apply_rewrites(place.encode(), (), Random(1), pieces).decode() if pieces else None


def test_an_idle_copy_in_python_stands_behind_the_docstring_and_never_runs() -> None:
    place = 'def price(n):\n    """Tell."""\n    return n\n'
    copied = 'def price(n):\n  total = n\n  if n > 3:\n    total = 4\n  return total\n'
    text = put_python(place, copied)
    assert text is not None
    program = [sys.executable, '-c', f'{text}print(price(7), price.__doc__)']
    said = subprocess.run(program, capture_output=True, check=True, timeout=60).stdout
    assert said == b'7 Tell.\n'
    assert '        if n > 3:' in text


@pytest.mark.parametrize(
    ('place', 'copied'),
    [
        ('def f():\n    return RATE\n', 'def f():\n    RATE = 3\n    return RATE\n'),
        ('def f():\n    return 1\n', 'def f():\n    yield 1\n'),
        ('def f():\n    yield 1\n', 'def f():\n    return 1\n'),
        ('def f():\n    return 1\n', 'def f():\n    global rate\n    rate = 1\n'),
        ('def f(self):\n    return 1\n', 'def f(self):\n    return super().f()\n'),
        ('def f():\n    return locals()\n', 'def f():\n    a = 1\n    return a\n'),
        ('def f(): return 1\n', 'def f():\n    return 2\n'),
        ('def f():\n    """Only a text."""\n', 'def f():\n    return 2\n'),
    ],
)
def test_there_is_no_idle_copy_in_python_that_could_change_the_function(
    place: str, copied: str
) -> None:
    assert put_python(place, copied) is None


def test_an_idle_copy_in_go_stands_under_a_variable_that_nothing_sets() -> None:
    place = 'package p\n\nfunc F(n int) int {\n\treturn n\n}\n'
    copied = 'package p\n\nfunc F(n int) int {\n\tm := n\n\treturn m + 1\n}\n'
    start, end = place.index('func'), len(place) - 1
    pieces = golang.list_idle_copy(
        VersionSpan(source=place.encode(), span=(start, end)),
        VersionSpan(source=copied.encode(), span=(start, len(copied) - 1)),
        Random(1),
    )
    text = apply_rewrites(place.encode(), (), Random(1), pieces).decode()
    flag = text.rstrip().split()[-2]
    assert text.startswith(f'package p\n\nfunc F(n int) int {{\nif {flag} {{\n\tm := n\n')
    assert text.endswith(f'\n\treturn n\n}}\n\nvar {flag} bool\n')


@pytest.mark.parametrize('body', ['int m = n; return m + 1;', 'Runnable r = () -> { }; return n;'])
def test_an_idle_copy_in_java_adds_no_member(body: str) -> None:
    place = 'class A {\n    int f(int n) { return n; }\n}\n'
    copied = f'class A {{\n    int f(int n) {{ {body} }}\n}}\n'
    versions = [
        VersionSpan(source=text.encode(), span=(text.index('int f'), text.rindex('\n}')))
        for text in (place, copied)
    ]
    pieces = java.list_idle_copy(versions[0], versions[1], Random(1))
    if '->' in body:
        assert pieces == ()
    else:
        text = apply_rewrites(place.encode(), (), Random(1), pieces).decode()
        assert '.isEmpty()) { int m = n; return m + 1; }\n return n; }' in text
