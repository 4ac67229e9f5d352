"""An evaluation in parts, each judged by a process of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.parts import Part
from coevo.evaluation.reporting.report import NAME
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import write_results
from coevo.model.errors import Fatal
from coevo.model.words import Track
from flows.batches.contained import BatchLimits
from flows.batches.evaluation_parts import EvaluationJob
from flows.batches.evaluation_parts import judge
from flows.batches.evaluation_parts import unjudged
from tests.evaluation.rows import row
from tests.evaluation.shop import Shop

LIMITS = BatchLimits(seconds=600, memory_gib=4)


def job_of(shop: Shop, out: Path, parts: int) -> EvaluationJob:
    task = shop.tasks[Track.UPDATE].task.task_id
    words = ('--store', str(shop.store), '--tasks', task, '--no-adequacy')
    return EvaluationJob(
        snapshot=str(shop.snapshot), predictions='gold', out=out, parts=parts, words=words
    )


@pytest.mark.jvm
def test_the_last_part_puts_the_results_together(shop: Shop, tmp_path: Path) -> None:
    job = job_of(shop, tmp_path / 'results', 1)
    assert unjudged(job) == (1,)
    heard: list[str] = []
    report = judge(job, Part(number=1, count=1), LIMITS, heard.append)
    assert unjudged(job) == ()
    assert report is not None
    assert report.tasks == 1
    assert any(line.startswith('1 task, 2 methods: success 2') for line in heard)
    (folder,) = job.folders
    assert (job.out / NAME).read_bytes() == (folder / NAME).read_bytes()


def test_what_cannot_be_judged_is_said_in_the_command_s_own_words(
    shop: Shop, tmp_path: Path
) -> None:
    job = job_of(shop, tmp_path / 'results', 2)
    with pytest.raises(Fatal, match='of which no 2 parts can be made: ask for fewer'):
        judge(job, Part(number=2, count=2), LIMITS, print)
    nowhere = replace(job, snapshot=str(tmp_path / 'nowhere'))
    with pytest.raises(Fatal, match='nowhere'):
        judge(nowhere, Part(number=1, count=2), LIMITS, print)
    with pytest.raises(Fatal, match='part 1 was ended: it took too much time'):
        judge(job, Part(number=1, count=1), BatchLimits(seconds=0, memory_gib=4), print)


def test_a_part_without_its_report_is_to_be_judged(shop: Shop, tmp_path: Path) -> None:
    job = job_of(shop, tmp_path / 'results', 3)
    job.folder(1).mkdir(parents=True)
    job.folder(2).mkdir()
    write_results(job.folder(1), [row('a')])
    write_results(job.folder(2), [row('b')])
    write_report(job.folder(2), [row('b')], ())
    assert unjudged(job) == (1, 3)
