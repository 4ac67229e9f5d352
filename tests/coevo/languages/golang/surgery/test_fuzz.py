"""Start files and transplants of files put together by a seed: they parse, and import what they use."""

from __future__ import annotations

import random
import re

import pytest

from coevo.languages.golang.surgery import (
    list_other_tests,
    make_start_file,
    transplant_tests_into_old,
)
from coevo.languages.golang.surgery.pieces import make_outline
from coevo.languages.surgery import Graft, OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod

MEANT = 'twice|is the file at new'
PACKAGES = ('fmt', 'os', 'strings', 'net/url', 'a.b/c/v2', 'gopkg.in/yaml.v2')
_NAMES = ('fmt', 'os', 'strings', 'url', 'c', 'yaml')
_TOP = [
    'var NAME = Q.A',
    'var (\n\t// why\n\tNAME, two = 1, Q.B // so\n\n\tthree = helper\n)',
    'const (\n\tone = iota // Q.C\n\tNAME\n)',
    'type NAME struct {\n\tQ.T\n\tother *list\n}',
    'func (n *NAME) Run() { Q.Run(`\nraw `) }',
    'var _ Q.I = (*list)(nil)',
    'type list []NAME',
    'func helper(Q string) { _ = Q.Len() }',
    'func ExampleNAME() {\n\tQ.Print(two)\n\t// Output: a\n}',
    'func init() { Q.Set() }',
    'var x = 1; var y = Q.D',
]

_TESTS = [
    '// free\n\n// TestNAME is.\nfunc TestNAME(t *testing.T) { // open\n\tQ.A()\n\thelper(one)\n}',
    'func TestNAME(t *testing.T) { Q := list{}; Q.Run() }',
    'func TestNAME(t *testing.T) { for _, Q := range Q.All() { Q.Run(three) } }',
]


def source(seed: random.Random) -> bytes:
    pieces = seed.choices(_TOP, k=seed.randint(2, 9))
    tests = (seed.choice(_TESTS).replace('NAME', name) for name in 'ABC')
    pieces += [test for test in tests if seed.random() < 0.7]
    seed.shuffle(pieces)
    pieces = [_filled(piece, seed) for piece in pieces]
    body = ''.join(piece + seed.choice(['\n', '\n\n']) for piece in pieces)
    used = [p for p, name in zip(PACKAGES, _NAMES, strict=True) if _is_used(body, name)]
    lines = [f'"{path}"' for path in ('testing', *used)]
    seed.shuffle(lines)
    if seed.random() < 0.7:
        head = 'import (\n\t' + seed.choice(['\n\t', '\n\n\t']).join(lines) + '\n)\n'
    else:
        head = ''.join(f'import {line} // so\n' for line in lines)
    text = f'// About.\n\npackage a\n\n{head}\n{body}'
    return text.replace('\n', seed.choice(['\n', '\n', '\r\n'])).encode()


def _is_used(body: str, name: str) -> bool:
    return name in make_outline(f'package a\n{body}'.encode()).qualifiers


def _filled(piece: str, seed: random.Random) -> str:
    return piece.replace('NAME', seed.choice('ABC')).replace('Q', seed.choice(_NAMES))


def method(name: str) -> TestMethod:
    return TestMethod(module='.', test_file='a_test.go', test_class='a', test_method=name)


def imports_are_exact(text: bytes) -> bool:
    """But for `testing`, which a file without tests need not have used before."""
    file = make_outline(text)
    names = [file.bound[one.path] for one in file.imports if one.path != 'testing']
    used = file.qualifiers - {'testing', 't'}
    return len(set(names)) == len(names) and used & set(_NAMES) == set(names)


@pytest.mark.parametrize('number', range(60))
def test_random_start_file_imports_exactly_the_packages_it_uses(number: int) -> None:
    seed = random.Random(number)
    new, old = source(seed), source(seed)
    known, before = ([m.name for m in list_other_tests(text, [])] for text in (new, old))
    targets = [
        StartTarget(
            method=method(name),
            original=OriginalTest(method=method(name), source=old)
            if name in before and seed.random() < 0.7
            else None,
        )
        for name in dict.fromkeys(known)
        if seed.random() < 0.6
    ]
    try:
        start = make_start_file(new, old, targets)
    except StartStateInvalid as error:
        if re.search(MEANT, str(error)) is None:
            raise
        return
    assert start is not None
    assert imports_are_exact(start), start.decode()
    left = [m.name for m in list_other_tests(start, [])]
    removed = {t.method.test_method for t in targets if t.original is None}
    assert set(left) >= set(known) - removed


@pytest.mark.parametrize('number', range(60))
def test_random_transplant_contains_the_new_tests(number: int) -> None:
    seed = random.Random(1000 + number)
    new, old = source(seed), source(seed)
    chosen = [m.name for m in list_other_tests(new, []) if seed.random() < 0.6]
    before = [m.name for m in list_other_tests(old, [])]
    grafts = [
        Graft(new=method(name), old=method(name) if name in before else None)
        for name in dict.fromkeys(chosen)
    ]
    if not grafts:
        return
    try:
        made = transplant_tests_into_old(old, new, grafts)
    except StartStateInvalid as error:
        if re.search(MEANT, str(error)) is None:
            raise
        return
    assert imports_are_exact(made), made.decode()
    assert set(chosen) <= {m.name for m in list_other_tests(made, [])}
