"""Programs that are written otherwise and do the same."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random

import pytest

from coevo.languages.rewriters import REWRITERS
from coevo.languages.rewriting import RewriteKind, apply_rewrites
from coevo.languages.table import LANGUAGES

PYTHON = """\
import functools

LIMIT = 3


class Asked:
    asked = 0

    def __bool__(self):
        type(self).asked += 1
        return self.value

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return ('reflected', other)


def counts(one, other):
    Asked.asked = 0
    if one and not other or one:
        return 'yes', Asked.asked
    return 'no', Asked.asked


def sums(values, text='abc'):
    total = 0
    word = 'xyz'
    for value in values:
        if value is None or value == 7:
            continue
        total = value + 10 if value > LIMIT else total - value * 2
    found = [v for v in values if v not in (None, 2)]
    return total, found, text.upper() + word, f'{total} of {len(found)}', 2.5 / 2


def fails(value):
    return value < 1


def reads_its_names():
    amount = 5
    return locals()


def keeps(amount):
    held = amount
    return 'held {held}'.format(held=held)


def inner(values):
    count = 1

    def add(more):
        nonlocal count
        count += more
        return count

    return functools.reduce(lambda total, value: total + add(value), values, 0)


def matches(value):
    match value:
        case 10:
            return 'ten'
        case {'key': 20}:
            return 'key'
        case _:
            return not value
"""
JAVA = """\
package shop;

@interface Mark { int value(); }

@Mark(10)
public class Till {
    static final int RATE = 10;
    final String name = "till";
    byte small = 10;
    int sum = 10;

    byte narrow() { return 10; }
    int price(int count, String text) {
        int base = 10;
        int other = 20;
        switch (count) { case 10: return 30; default: }
        char letter = count > 5 ? 'a' : 'b';
        java.util.function.Supplier<Integer> later = () -> 10;
        if (count >= 10 && !text.equals("plain")) {
            return base + count;
        }
        String both = "a" + "b";
        return both == "ab" ? other : -10;
    }
}
"""
GO = """\
package till

const Rate = 10

type Kind int

var sizes [10]int

func Price(count int, kind Kind, text string) (int, error) {
	base := 10
	other := 20
	label := "fee"
	_ = label
	switch count {
	case 10:
		return 30, nil
	}
	if count >= 10 && text != "plain" {
		return base + count, nil
	}
	if kind == 10 {
		return other, nil
	}
	return -10, nil
}

func Twice(count int) int { return count * 2 }
"""
SOURCES = {'python': PYTHON, 'java': JAVA, 'go': GO}
# Texts that only a literal can be, or that have no type of their own.
KEPT = {
    'python': (
        'case 10:',
        "case {'key': 20}:",
        '(held=held)',
        'return locals()',
    ),
    'java': (
        '@Mark(10)',
        'RATE = 10;',
        'name = "till";',
        'byte small = 10;',
        'byte narrow() { return 10; }',
        'case 10:',
        "? 'a' : 'b'",
        '() -> 10;',
        '"a" + "b"',
    ),
    'go': ('const Rate = 10', '[10]int', 'case 10:', 'Kind int'),
}


def rewrite(language: str, seed: int) -> str:
    source, draw = SOURCES[language].encode(), Random(seed)
    listing = REWRITERS[language].list_rewrites(source, [(0, len(source))], draw)
    assert {rewrite.kind for rewrite in listing.rewrites} == set(RewriteKind)
    return apply_rewrites(source, listing.rewrites, draw, listing.support).decode()


def test_each_language_has_a_rewriter() -> None:
    assert REWRITERS.keys() == SOURCES.keys() <= LANGUAGES.keys()


@pytest.mark.parametrize('language', SOURCES)
def test_rewriting_is_drawn_and_keeps_lines_and_what_must_be_a_literal(language: str) -> None:
    texts = [rewrite(language, seed) for seed in range(4)]
    assert texts == [rewrite(language, seed) for seed in range(4)]
    assert len(set(texts)) == 4
    lines = SOURCES[language].splitlines()
    for text in texts:
        differing = [
            (old, new) for old, new in zip(lines, text.splitlines(), strict=False) if old != new
        ]
        assert len(differing) > 8
        assert all(old.strip() and new.strip() for old, new in differing)
        assert [kept for kept in KEPT[language] if kept not in text] == []


@pytest.mark.parametrize('language', SOURCES)
def test_only_the_given_spans_are_rewritten_and_no_broken_file(language: str) -> None:
    source = SOURCES[language].encode()
    rewriter = REWRITERS[language]
    at = source.index(b'20')
    (first,) = rewriter.list_rewrites(source, [(at, at + 2)], Random(1)).rewrites[:1] or (None,)
    if language != 'python':  # there it is part of a pattern
        assert first is not None
        assert [source[piece.start : piece.end] for piece in first.pieces] == [b'20']
    broken = source.replace(b')', b'', 1) if language == 'python' else source[:-3] + b'(('
    assert rewriter.list_rewrites(broken, [(0, len(broken))], Random(1)).rewrites == ()


@pytest.mark.parametrize('seed', range(3))
def test_rewritten_python_does_the_same(tmp_path: Path, seed: int) -> None:
    results = []
    for name, text in {'old': PYTHON, 'new': rewrite('python', seed)}.items():
        (tmp_path / f'{name}.py').write_text(text)
        names = runpy.run_path(str(tmp_path / f'{name}.py'))
        asked = names['Asked']
        with pytest.raises(TypeError) as trouble:
            names['fails'](asked(True))
        results.append(
            [
                *(
                    names['counts'](asked(a), asked(b))
                    for a in (False, True)
                    for b in (False, True)
                ),
                names['sums']([1, None, 7, 9, 2, 4, 8]),
                str(trouble.value).replace('Asked', ''),
                names['reads_its_names'](),
                names['keeps'](4),
                names['inner']([1, 2, 3]),
                [names['matches'](value) for value in (10, {'key': 20}, 0, 'x')],
            ]
        )
    assert results[0] == results[1]


def rewrite_all(language: str, source: bytes, seed: int) -> bytes:
    draw = Random(seed)
    listing = REWRITERS[language].list_rewrites(source, [(0, len(source))], draw)
    return apply_rewrites(source, listing.rewrites, draw, listing.support)


# Each has a way to be misread; `result` is what it says.
TRAPS = """\
import os


def shadowed(types):
    names = [type for type in types]
    return type(names).__name__


def inner(values):
    def add():
        sorted = 1
        return sorted

    return sorted(values) + [add()]


def glued(x):
    assert(x) == x
    if x:
        return-x + (1 if x else-1)
    return(x).real


def ordered():
    a = 1
    b = 2
    return list(locals())


class Once:
    asked = 0

    def __lt__(self, other):
        return self

    def __bool__(self):
        Once.asked += 1
        return False


def chained():
    if Once() < Once() < Once():
        return 'yes'
    return Once.asked


result = [shadowed([1]), inner([3, 2]), glued(4), glued(0), ordered(), chained()]
"""


@pytest.mark.parametrize('seed', range(4))
def test_python_that_is_easily_misread_does_the_same(tmp_path: Path, seed: int) -> None:
    results = []
    for name, text in {
        'old': TRAPS.encode(),
        'new': rewrite_all('python', TRAPS.encode(), seed),
    }.items():
        (tmp_path / f'{name}.py').write_bytes(text)
        results.append(runpy.run_path(str(tmp_path / f'{name}.py'))['result'])
    assert results[0] == results[1] == ['list', [2, 3, 1], -3, 0, ['a', 'b'], 1]


def test_go_keeps_the_order_in_which_a_package_is_initialised() -> None:
    text = rewrite_all('go', GO.encode(), 1).decode()
    assert '//go:noinline' in text
    declared = [line for line in text.splitlines() if line.startswith('var p')]
    assert declared
    # only what has an initial value takes part in that order
    assert not [line for line in declared if '=' in line]


def test_go_number_that_may_be_octal_stays() -> None:
    source = b'package till\n\nfunc Less(x float64) bool { return x > 010 }\n'
    assert b'010' in rewrite_all('go', source, 1)


@pytest.mark.parametrize(
    ('language', 'source'),
    [
        ('python', b'# coding: latin-1\ndef f():\n    return "caf\xe9" + "x"\n'),
        ('java', b'class A { String f(String s) { return s + "caf\xe9"; } }\n'),
    ],
)
def test_text_in_another_encoding_stays(language: str, source: bytes) -> None:
    assert b'"caf\xe9"' in rewrite_all(language, source, 1)


@pytest.mark.parametrize('seed', range(6))
def test_lone_swap_of_statements_is_never_dropped(seed: int) -> None:
    source = b'def f():\n    a = 1\n    b = 2\n    return a, b\n'
    listing = REWRITERS['python'].list_rewrites(source, [(0, len(source))], Random(1))
    (swap,) = (each for each in listing.rewrites if each.kind is RewriteKind.ORDER)
    assert b'b = 2\n    a = 1\n' in apply_rewrites(source, [swap], Random(seed))
