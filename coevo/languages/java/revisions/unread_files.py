"""Find test files whose classes are nested too deeply; no compiler gets them.

javac takes time cubic in the nesting depth before it reports that a class name is too long: a depth
of 1,500 takes hours, and nothing else of the module would be compiled.
"""

from __future__ import annotations

from coevo.git.repository import Repository
from coevo.languages.java.reading.standard_folders import classify_path
from coevo.languages.java.reading.syntax import MOST_BYTES, MOST_NESTED, parse
from coevo.languages.layout import Side
from coevo.languages.nesting import may_nest_deeper

_SUFFIX = '.java'


def find_unread_tests(repository: Repository, rev: str) -> frozenset[str]:
    """Return the paths of a revision's Java test files whose classes are nested too deeply.

    Files that are merely too long are not included: compiling them takes time linear in their
    length.
    """
    return frozenset(
        path
        for path, entry in repository.tree(rev).items()
        if path.endswith(_SUFFIX)
        and _is_test_source(path)
        and _is_too_deeply_nested(repository.blob(entry.oid))
    )


def name_test_class(path: str) -> str:
    """Return the qualified class name that the path of a test file implies."""
    placement = classify_path(path)
    assert placement is not None, 'it is a test file'
    inner = placement.relative.partition('/')[2]  # drop the folder of the programming language
    return inner.removesuffix(_SUFFIX).replace('/', '.')


def _is_test_source(path: str) -> bool:
    placement = classify_path(path)
    return placement is not None and placement.side is Side.TEST and not placement.is_resource


def _is_too_deeply_nested(content: bytes) -> bool:
    short = len(content) <= MOST_BYTES
    return short and may_nest_deeper(content, MOST_NESTED) and parse(content).unreadable
