"""PIT's report, read as what it is: text that mined code may have written."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from coevo.languages.mutation_tools import ByteCodeMutant

MOST_BYTES = 64 << 20

# Of a mutant that was run, or that no run can reach; of others nothing is known.
_KNOWN = ('KILLED', 'SURVIVED', 'TIMED_OUT', 'MEMORY_ERROR', 'NO_COVERAGE')
_DETECTED = ('KILLED', 'TIMED_OUT', 'MEMORY_ERROR')


def read_report(report: bytes) -> tuple[ByteCodeMutant, ...] | None:
    """The mutants of a report, in its order; None where it is none of PIT's.

    PIT declares no entities: whoever does is not read at all.
    """
    if len(report) > MOST_BYTES or b'<!' in report:
        return None
    try:
        return tuple(_mutants(ElementTree.fromstring(report)))
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def _mutants(root: ElementTree.Element) -> Iterator[ByteCodeMutant]:
    for one in root.iterfind('mutation'):
        status = one.attrib['status']
        yield ByteCodeMutant(
            type=_text(one, 'mutatedClass'),
            method=_text(one, 'mutatedMethod'),
            descriptor=_text(one, 'methodDescription'),
            line=int(_text(one, 'lineNumber')),
            mutator=_text(one, 'mutator'),
            index=','.join(index.text or '' for index in one.iterfind('indexes/index')),
            killed=status in _DETECTED if status in _KNOWN else None,
        )


def _text(mutation: ElementTree.Element, name: str) -> str:
    found = mutation.findtext(name)
    if not found:
        raise ValueError(f'a mutation without {name}')
    return found
