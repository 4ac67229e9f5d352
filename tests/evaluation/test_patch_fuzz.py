"""Mutated patches: whatever stands in one, it is refused for a reason or applied to one file."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from coevo.evaluation.judging.application import AppliedFile, Refusal, apply_patch, find_refusal
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import Prediction
from coevo.model.words import Track
from tests.evaluation.shop import FILES, Shop
from tests.evaluation.test_baselines import open_court
from tests.fuzz import patches

PATH = 'src/test/java/p/ATest.java'
START = 'package p;\n\nclass ATest {\n    void a() {}\n\n    void b() {}\n}\n'
GOLD = START.replace('a() {}', 'a() { b(); }')

SHORT, LONG, RUN = 400, 20_000, 100


def check(numbers: range, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Read and apply each; nothing may be raised, and nothing be left anywhere."""
    scratch, beside = folder / 'scratch', folder / 'beside'
    scratch.mkdir()
    beside.write_text('as it was')
    monkeypatch.setattr(tempfile, 'tempdir', str(scratch))
    sound, told = patches.seeds(PATH, START, GOLD), Counter[str]()
    for seed in numbers:
        patch = patches.patch(seed, sound)
        refusal = find_refusal(patch, PATH)
        made = apply_patch(patch, PATH, None if seed % 7 == 0 else START.encode())
        if isinstance(made, Refusal):
            assert made.detail, seed
            told[made.detail] += 1
        else:
            assert refusal is None, seed
            assert isinstance(made, AppliedFile)
            told['applied'] += 1
        assert not list(scratch.iterdir()), seed
    assert beside.read_text() == 'as it was'
    assert {file.name for file in folder.iterdir()} == {'scratch', 'beside'}
    return told


def test_some_mutated_patches_are_each_applied_or_refused_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = check(range(SHORT), tmp_path, monkeypatch)
    assert told['applied'] > SHORT / 50
    assert len(told) > 8, 'the mutations reach nothing but the first look'


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize('part', range(10))
def test_many_mutated_patches_are_each_applied_or_refused_without_a_trace(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = LONG // 10
    check(range(SHORT + part * each, SHORT + (part + 1) * each), tmp_path, monkeypatch)


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.timeout(14400)
def test_mutated_patches_are_graded_in_the_sandbox_without_infra(
    shop: Shop, tmp_path: Path
) -> None:
    """Those that apply, judged: rows for every target, and no success without the gold text."""
    with ExitStack() as stack:
        court = open_court(shop, 'bubblewrap', tmp_path, stack)
        judged, seed = 0, 0
        while judged < RUN:
            seed += 1
            track = list(Track)[seed % len(Track)]
            gold = shop.gold(track).patch
            assert gold is not None
            sound = (gold, *patches.seeds(FILES[track], shop.starts[track], shop.starts[track]))
            patch = patches.patch(seed, (gold,) if seed % 4 else sound)
            task = shop.tasks[track]
            if not isinstance(
                apply_patch(patch, FILES[track], shop.starts[track].encode()), AppliedFile
            ):
                continue
            judged += 1
            found = court.judged(track, Prediction(task_id=task.task_id, patch=patch))
            assert len(found) == len(task.targets), seed
            assert all(row.outcome is not TaskOutcome.INFRA for row in found), (seed, found[0].said)
