"""Files that not every Python reads: they are told of alone, and take nobody along."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.verdicts import MainSources, RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import method, shop

FILES = {
    'till.py': 'def price():\n\treturn 1\n',
    'till_of_two.py': "print 'of Python 2'\n",
    'tests/test_tabs.py': 'import till\n\n\ndef test_any():\n\tassert till.price() == 1\n',
    'tests/test_mixed.py': 'def test_any():\n\tif 1:\n        pass\n',
    'tests/test_old.py': "def test_any():\n    print 'of Python 2'\n",
    'tests/test_needs_old.py': 'import till_of_two\n\n\ndef test_any():\n    pass\n',
    'tests/test_encoded.py': (
        "# -*- coding: latin-1 -*-\n\n\ndef test_any():\n    assert len('\u00e9') == 2\n"
    ),
    'tests/pr\u00fcf_test.py': 'import till\n\n\ndef test_any():\n    assert till.price()\n',
}
PASS, TORN = Outcome.PASS, Outcome.COMPILE_ERROR

TOLD = {
    'tests/test_tabs.py': PASS,
    'tests/test_mixed.py': TORN,
    'tests/test_old.py': TORN,
    'tests/test_needs_old.py': TORN,
    'tests/test_encoded.py': PASS,
    'tests/pr\u00fcf_test.py': PASS,
}


@pytest.mark.slow
def test_unreadable_file_breaks_no_other_file(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, {'README': ''}) as place:
        cell = place.cell(place.new, place.new)
        for sources in (None, MainSources()):
            told = {}
            for path in TOLD:
                test = method('test_any', file=path)
                verdict = place.built.find_compile_verdict(cell, test)
                conditions = RunConditions(cpu_limit=3.0, sources=sources)
                found = verdict or place.run(test, conditions=conditions).verdicts[0]
                told[path] = found and found.outcome
            assert told == TOLD
