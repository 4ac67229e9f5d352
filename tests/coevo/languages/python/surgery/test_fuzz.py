"""Start files and transplants of files put together by a seed: they always parse, and hold what they should."""

from __future__ import annotations

import ast
import random
import re
from itertools import pairwise

import pytest

from coevo.languages.declarations import Member
from coevo.languages.python.surgery import (
    list_other_tests,
    make_start_file,
    transplant_tests_into_old,
)
from coevo.languages.surgery import Graft, OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod

MEANT = 'twice|is the file at new|on one line'
_TOP = [
    'import os, sys',
    'from a import (  # why\n    helper,\n    LIMIT as limit,\n)',
    'from b import *',
    'try:\n    import json\nexcept ImportError:\n    json = None',
    'LIMIT = 1; OTHER = 2  # two',
    'DATA = [\n    limit,\n]\n# behind',
    '"""A string that stands somewhere."""',
    'sys.path.insert(0, LIMIT)',
    '@fixture\ndef client(helper):\n    yield os',
    'class Helper(object):\n\n    x = 1\n    def run(self): return self.x',
    'if LIMIT:\n    def NAME(client):\n        helper()\nelse:\n    def NAME(): json',
    '# above\n@mark(DATA)\n@other\nasync def NAME(client):\n    """Says."""\n    await Helper()  # so',
    'def NAME(): pass',
    'def NAME():\n    x = """\nzero\n    four\n"""\n    def inner():\n        return x\n    inner()',
    'class TestCLASS(Helper):\n    """About."""\n\nMEMBERS',
    'class TestCLASS: limit = OTHER',
    'if __name__ == "__main__":\n    main()',
]
_MEMBERS = [
    '    def NAME(self):\n        self.helper()\n',
    '    # why\n    @mark\n    def NAME(self, client): pass\n',
    '    def helper(self): return json\n',
    '    x = 1; y = LIMIT\n',
    '    def setup_method(self):\n        self.z = 1\n',
    '    class TestInner:\n        def NAME(self): pass\n',
]


def source(seed: random.Random) -> bytes:
    """A test file; of a name there may be two."""
    pieces = [_filled(piece, seed) for piece in seed.choices(_TOP, k=seed.randint(2, 12))]
    pieces = [p for p in pieces if p.startswith(('import', 'from'))] + pieces
    gaps = [seed.choice(['\n', '\n\n', '\n\n\n']) for _ in pieces]
    text = ''.join(piece + gap for piece, gap in zip(pieces, gaps, strict=True))
    text = text.rstrip() if seed.random() < 0.2 else text
    return text.replace('\n', seed.choice(['\n', '\n', '\r\n'])).encode()


def _filled(piece: str, seed: random.Random) -> str:
    piece = piece.replace('MEMBERS', '\n'.join(seed.choices(_MEMBERS, k=seed.randint(1, 4))))
    return piece.replace('CLASS', seed.choice('ABC')).replace(
        'NAME', f'test_{seed.choice("abcdef")}'
    )


def method(member: Member) -> TestMethod:
    return TestMethod(
        module='.',
        test_file='tests/test_x.py',
        test_class=f'tests.test_x{member.owner}',
        test_method=member.name,
    )


def known(text: bytes) -> dict[tuple[str, str], Member]:
    return {(member.owner, member.name): member for member in list_other_tests(text, [])}


def drawn(seed: random.Random, members: dict[tuple[str, str], Member]) -> list[Member]:
    return [members[key] for key in sorted(members) if seed.random() < 0.5]


@pytest.mark.sampled(50)
@pytest.mark.parametrize('number', range(150))
def test_start_files_parse(number: int) -> None:
    seed = random.Random(number)
    new, old = source(seed), source(seed)
    ast.parse(new)
    tests, before = known(new), known(old)
    chosen = drawn(seed, tests)
    targets = [
        StartTarget(
            method=method(member),
            original=OriginalTest(method=method(before[key]), source=old)
            if (key := (member.owner, member.name)) in before and seed.random() < 0.5
            else None,
        )
        for member in chosen
    ]
    if not targets:
        return
    try:
        start = make_start_file(new, old, targets)
    except StartStateInvalid as error:
        assert re.search(MEANT, str(error))  # noqa: PT017
        return
    assert start is not None
    ast.parse(start)
    left = known(start)
    for target, member in zip(targets, chosen, strict=True):
        key = (member.owner, member.name)
        if target.original is not None:
            assert left[key].hash == before[key].hash
    others = tests.keys() - {(member.owner, member.name) for member in chosen}
    assert others <= left.keys()


@pytest.mark.parametrize('number', range(150))
def test_transplants_parse(number: int) -> None:
    seed = random.Random(number)
    old, new = source(seed), source(seed)
    here, there = known(old), known(new)
    grafts = [
        Graft(new=method(member), old=method(here[key]) if key in here else None)
        for member in drawn(seed, there)
        if (key := (member.owner, member.name))
    ]
    if not grafts:
        return
    try:
        made = transplant_tests_into_old(old, new, grafts)
    except StartStateInvalid as error:
        assert re.search(MEANT, str(error))  # noqa: PT017
        return
    ast.parse(made)
    assert here.keys() <= known(made).keys()


def test_generated_source_files_differ() -> None:
    texts = [source(random.Random(number)) for number in range(20)]
    assert all(one != other for one, other in pairwise(texts))
