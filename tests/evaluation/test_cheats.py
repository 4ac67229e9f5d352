"""Python tests that read the code, on equal programs and through a whole evaluation."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from types import CodeType

import pytest

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import Placebo
from coevo.evaluation.records import MethodResult, Prediction
from coevo.git.patches import make_file_patch
from coevo.languages.python.surgery.rewriting import list_rewrites
from coevo.languages.rewriting import RewriteKind, apply_rewrites
from coevo.model.profiles import load_profile
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.coevo.languages.python.shops import PROJECT
from tests.evaluation.cheats.python_cheats import CHEATS, GOLD, HONEST, KNOWING, NEW, OLD
from tests.projects import mined, write

# Runs all tests of a file, and prints those that fail.
RUNNER = """
import json, test_quay
failing = []
for name, test in list(vars(test_quay).items()):
    if name.startswith('test_'):
        try:
            test()
        except Exception:
            failing.append(name)
print(json.dumps(failing))
"""
# Those that a whole evaluation is asked for: it runs each with all mutants.
GRADED = (
    'constant in co_consts',
    'dis',
    'names by getattr',
    'names anywhere',
    'length of co_code at least',
    'gold',
    'mock of a global',
    'snapshot',
)
FIXTURE = '9 108\n10 114\n'


def fill(body: str) -> str:
    """The body of a test with what only the new code knows of itself."""
    whole = compile(NEW, 'quay.py', 'exec', dont_inherit=True)
    inner = [one for one in whole.co_consts if isinstance(one, CodeType)]
    (code,) = (one for one in inner if one.co_name == 'fare')
    source = NEW[NEW.index('def fare') : NEW.index('\n\n\ndef name_fare') + 1]
    known = {
        'co_code': hashlib.md5(code.co_code).hexdigest(),
        'len_co_code': len(code.co_code),
        'sizes': (code.co_stacksize, len(code.co_names), len(code.co_consts)),
        'consts': code.co_consts,
        'source': hashlib.sha256(source.encode()).hexdigest(),
        'size': len(NEW),
    }
    for name, value in known.items():
        body = body.replace(f'@{name}@', str(value))
    return body


def write_tests(bodies: Mapping[str, str]) -> str:
    tests = (f'def test_{number}():\n{fill(body)}' for number, body in enumerate(bodies.values()))
    return 'from quay import fare\n\n\n' + '\n\n'.join(tests)


def rewrite(seed: int) -> bytes:
    """The new code with all of `fare` rewritten."""
    source, draw = NEW.encode(), Random(seed)
    span = source.index(b'def fare'), source.index(b'def name_fare')
    listing = list_rewrites(source, [span], draw)
    assert {rewrite.kind for rewrite in listing.rewrites} == set(RewriteKind) - {
        RewriteKind.TEXT
    } - {RewriteKind.ORDER}
    return apply_rewrites(source, listing.rewrites, draw, listing.support)


def list_failing(folder: Path, code: bytes) -> set[str]:
    """The names of the cheats and honest tests that fail on some code."""
    every = {**CHEATS, **KNOWING, **HONEST}
    folder.mkdir()
    (folder / 'quay.py').write_bytes(code)
    (folder / 'fares.txt').write_text(FIXTURE)
    (folder / 'test_quay.py').write_text(write_tests(every))
    command = [sys.executable, '-c', RUNNER]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60)
    names = list(every)
    return {names[int(name.removeprefix('test_'))] for name in json.loads(done.stdout)}


def test_each_cheat_passes_on_new_code_and_fails_on_an_equal_program(tmp_path: Path) -> None:
    assert list_failing(tmp_path / 'new', NEW.encode()) == set()
    for seed in range(2):
        assert list_failing(tmp_path / f'equal{seed}', rewrite(seed)) == set(CHEATS)


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp('cheats')
    head = {
        'pyproject.toml': PROJECT,
        'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
    }
    old = 'from quay import fare\n\n\ndef test_fare():\n    assert fare(9) == 103\n'
    new = f'from quay import fare\n\n\ndef test_fare():{GOLD}'
    steps = [
        {**head, 'quay.py': OLD, 'fares.txt': FIXTURE, 'test_quay.py': old},
        {'quay.py': NEW, 'test_quay.py': new},
    ]
    profile = replace(load_profile('whole'), refactorings=False, measure_runs=200)
    mined(write(folder / 'repository', steps), folder / 'store', profile=profile)
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder


@pytest.mark.slow
def test_cheats_are_tampered_and_honest_tests_are_not(folder: Path, tmp_path: Path) -> None:
    (task,) = load_assignments(folder / 'snapshot')
    start = 'from quay import fare\n\n\ndef test_fare():\n    assert fare(9) == 103\n'
    every = {name: {**CHEATS, **KNOWING, **HONEST}[name] for name in GRADED}
    predictions = []
    for number, body in enumerate(every.values(), 1):
        text = f'from quay import fare\n\n\ndef test_fare():\n{fill(body)}'
        patch = make_file_patch('test_quay.py', start, text).encode()
        predictions.append(Prediction(task_id=task.task_id, patch=patch, attempt=number))
    options = EvaluationOptions(
        snapshot=folder / 'snapshot',
        predictions=predictions,
        clones=folder / 'store',
        cache=tmp_path,
    )
    rows: dict[str, MethodResult] = dict(
        zip(every, sorted(evaluate(options).rows, key=lambda row: row.attempt), strict=True)
    )
    tampered = {name for name, row in rows.items() if row.tampered == 'sees_edits'}
    assert tampered == set(GRADED) & {*CHEATS, *KNOWING}
    assert not any(rows[name].success_strict for name in tampered)
    assert rows['gold'].success_strict
    assert rows['gold'].placebo is Placebo.REWRITTEN
