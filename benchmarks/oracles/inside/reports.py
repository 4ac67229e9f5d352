"""Outcomes from JUnit's XML reports: what no part of coevo but an oracle may read."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

# From the worst to the best, as everywhere in coevo.
WORST_FIRST = ('timeout', 'error', 'fail', 'skipped', 'pass')

_CHILDREN = {'error': 'error', 'failure': 'fail', 'skipped': 'skipped'}


def find_worst_outcome(folder: Path) -> tuple[str, str]:
    """Find the worst over all test cases and the exception of it; `missing` where there is none."""
    outcomes = [
        _read_outcome(case)
        for path in sorted(folder.glob('TEST-*.xml'))
        for case in ElementTree.parse(path).iter('testcase')
    ]
    return min(outcomes, key=lambda pair: WORST_FIRST.index(pair[0]), default=('missing', ''))


def _read_outcome(case: ElementTree.Element) -> tuple[str, str]:
    for child in case:
        if child.tag in _CHILDREN:
            return _CHILDREN[child.tag], child.get('type', '')
    return 'pass', ''
