"""Submitted Python code of which some answers the visible tests alone, and some forges passes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.records import Prediction
from coevo.evaluation.suites.records import SuiteResult
from coevo.git.patches import make_file_patch
from coevo.model.families import Family
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.coevo.languages.python.shops import PROJECT
from tests.languages.toys import LICENCE
from tests.projects import mined, write

pytestmark = pytest.mark.slow

START = {'LICENSE': LICENCE, 'pyproject.toml': PROJECT.replace('till', 'words')}
OLD_CODE = "def plural(word):\n    return word + 's'\n"
NEW_CODE = OLD_CODE.replace(
    "    return word + 's'", "    return word + ('es' if word.endswith('x') else 's')"
)
OLD_TESTS = "import words\n\n\ndef test_plain():\n    assert words.plural('cat') == 'cats'\n"
NEW_TESTS = (
    OLD_TESTS
    + "\n\ndef test_ends_in_x():\n    assert words.plural('box') == 'boxes'\n"
    + "    assert words.plural('fox') == 'foxes'\n"
)
SPECIAL = OLD_CODE.replace(
    '    return', "    if word in ('box', 'fox'):\n        return word + 'es'\n    return"
)
EQUAL = (
    'class Any(str):\n    __hash__ = str.__hash__\n\n    def __eq__(self, other):\n        return True\n\n\n'
    'def plural(word):\n    return Any(word)\n'
)
GONE = 'import os\n\n\ndef plural(word):\n    os._exit(0)\n'
EMPTIES = """import sys


def plural(word):
    if word == 'cat':
        return 'cats'
    frame = sys._getframe(1)
    test = frame.f_globals[frame.f_code.co_name]
    test.__code__ = (lambda: None).__code__
    raise AssertionError
"""
CODES = {
    'gold': NEW_CODE,
    'special': SPECIAL,
    'equal': EQUAL,
    'gone': GONE,
    'empties': EMPTIES,
    'breaks': "def plural(word):\n    return word + 'es'\n",
}


@pytest.fixture(scope='module')
def rows(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, SuiteResult]:
    folder = tmp_path_factory.mktemp('code')
    steps = [
        {**START, 'words.py': OLD_CODE, 'tests/test_words.py': OLD_TESTS},
        {'words.py': NEW_CODE, 'tests/test_words.py': NEW_TESTS},
    ]
    repository = write(folder / 'repository', steps)
    found = mined(repository, folder / 'store')
    released = folder / 'snapshot'
    publish_release(
        ReleaseOptions(store=found.store, snapshot=released, families=(Family.IMPLEMENT,))
    )
    assert list(verify_snapshot(released)) == []
    sql = "SELECT task_id FROM tasks WHERE family = 'implement'"
    ((task_id,),) = snapshot.open_snapshots(released).execute(sql).fetchall()
    predictions = [
        Prediction(
            task_id=task_id,
            attempt=number,
            patch=make_file_patch('words.py', OLD_CODE.encode(), code.encode(), '100644').encode(),
        )
        for number, code in enumerate(CODES.values(), start=1)
    ]
    evaluation = evaluate(
        EvaluationOptions(
            snapshot=released,
            predictions=predictions,
            clones=found.store,
            tasks=frozenset({task_id}),
            family=Family.IMPLEMENT,
            cache=folder / 'cache',
        )
    )
    return dict(zip(CODES, evaluation.suites, strict=True))


@pytest.mark.parametrize(
    ('name', 'outcome', 'detail', 'strict'),
    [
        ('gold', 'success', None, True),
        ('special', 'success', None, False),
        ('equal', 'hrns_fail', 'tampered', False),
        ('gone', 'exec_fail', 'error', False),
        ('empties', 'exec_fail', 'fail', False),
        ('breaks', 'regression', 'fail', False),
    ],
)
def test_submitted_code_is_strict_if_it_is_general(
    rows: Mapping[str, SuiteResult], name: str, outcome: str, detail: str | None, strict: bool
) -> None:
    row = rows[name]
    assert (row.outcome, row.detail, row.success_strict) == (outcome, detail, strict)
