"""What toys measure of tests: defects put into them, mutants of the code, why a test is not linked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from coevo.languages.declarations import Member
from coevo.languages.measures import ErrorClass
from coevo.languages.mutation import Mutant
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNKNOWN_NAME_OUTCOMES = frozenset({Outcome.COMPILE_ERROR})


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


def classify_error(signature: str) -> ErrorClass:
    """The one thing that a toy can lack is a name."""
    is_name = signature.startswith('unknown ')
    return ErrorClass.CANNOT_FIND_SYMBOL if is_name else ErrorClass.SYNTAX


def is_installed() -> bool:
    return True


def make_mutants(source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
    """Each number one more."""
    return tuple(
        Mutant(
            line=number,
            original=text,
            mutated=re.sub(r'\d+$', lambda found: str(int(found[0]) + 1), text),
        )
        for number, text in enumerate(source.decode().splitlines(), start=1)
        if number in lines and re.search(r'\d+$', text)
    )
