"""Defects in tests of toys. Fulfils `coevo.languages.measures.DefectInsertion`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coevo.languages.declarations import Member
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNRESOLVED = frozenset({Outcome.COMPILE_ERROR})


def insert_defects(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    for test in tests:
        head, _, body = test.source.partition(': ')
        others = [one.source.partition(': ')[2] for one in tests if one is not test]
        text = {
            Defect.MISSED_ASSERTS: re.sub(r'is (\S+) \S+', r'call \1', body),
            Defect.NO_NEW_COVERED_LOGIC: others[0] if others else body,
            Defect.UNDEFINED_ENTITY: re.sub(r'is (\S+)', r'is \1_', body),
            Defect.RUNTIME_ERRORS: f'throw Injected then {body}',
            Defect.SYNTAX_ERROR: f'{body} then "',
        }.get(kind, body)
        if text != body:
            line = f'{head}: {text}'.encode()
            yield source[: test.start_byte] + line + source[test.end_byte :]
