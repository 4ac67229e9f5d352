"""PIT's report, read as what it is: text that mined code may have written."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from coevo.languages.mutation_tools import ByteCodeMutant

MOST_BYTES = 64 << 20

# Of a mutant that was run, or that no run can reach; of others nothing is known.
_KNOWN = ('KILLED', 'SURVIVED', 'TIMED_OUT', 'MEMORY_ERROR', 'NO_COVERAGE')
_DETECTED = ('KILLED', 'TIMED_OUT', 'MEMORY_ERROR')


def parse_report(report: bytes) -> tuple[ByteCodeMutant, ...] | None:
    """The mutants of a report, in its order; None where it is none of PIT's.

    PIT declares no entities: whoever does is not read at all.
    """
    if len(report) > MOST_BYTES or b'<!' in report:
        return None
    try:
        return tuple(_parse_mutants(ElementTree.fromstring(report)))
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def _parse_mutants(root: ElementTree.Element) -> Iterator[ByteCodeMutant]:
    for mutation in root.iterfind('mutation'):
        status = mutation.attrib['status']
        yield ByteCodeMutant(
            type=_get_text(mutation, 'mutatedClass'),
            method=_get_text(mutation, 'mutatedMethod'),
            descriptor=_get_text(mutation, 'methodDescription'),
            line=int(_get_text(mutation, 'lineNumber')),
            mutator=_get_text(mutation, 'mutator'),
            index=','.join(index.text or '' for index in mutation.iterfind('indexes/index')),
            killed=status in _DETECTED if status in _KNOWN else None,
        )


def _get_text(mutation: ElementTree.Element, name: str) -> str:
    text = mutation.findtext(name)
    if not text:
        raise ValueError(f'a mutation without {name}')
    return text
