"""An evaluation in parts, each judged by a process of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.parts import EvaluationPart
from coevo.evaluation.reporting.report import NAME, write_report
from coevo.evaluation.results import write_results
from coevo.model.errors import Fatal
from coevo.model.words import Track
from flows.batches.contained import BatchLimits
from flows.live.evaluate import EvaluationJob, grade_part_and_merge_if_last, list_ungraded_parts
from tests.evaluation.rows import row
from tests.evaluation.shop import Shop
from tests.settings_files import settings

LIMITS = BatchLimits(seconds=600, memory_gib=4)


def job_of(shop: Shop, out: Path, parts: int) -> EvaluationJob:
    task = shop.tasks[Track.UPDATE].task.task_id
    out.mkdir(exist_ok=True)
    quick = settings(out, adequacy=False)
    words = ('--store', str(shop.store), '--only-tasks', task, *quick)
    return EvaluationJob(
        snapshot=str(shop.snapshot), predictions='gold', out=out, parts=parts, words=words
    )


@pytest.mark.slow
@pytest.mark.jvm
def test_last_graded_part_merges_the_results(shop: Shop, tmp_path: Path) -> None:
    job = job_of(shop, tmp_path / 'results', 1)
    assert list_ungraded_parts(job) == (1,)
    heard: list[str] = []
    report = grade_part_and_merge_if_last(
        job, EvaluationPart(number=1, count=1), LIMITS, heard.append
    )
    assert list_ungraded_parts(job) == ()
    assert report is not None
    assert report.tasks == 1
    assert any(line.startswith('1 task, 2 methods: success 2') for line in heard)
    (folder,) = job.part_folders
    assert (job.out / NAME).read_bytes() == (folder / NAME).read_bytes()


@pytest.mark.slow
def test_part_that_cannot_be_graded_raises_the_message_of_the_command(
    shop: Shop, tmp_path: Path
) -> None:
    job = job_of(shop, tmp_path / 'results', 2)
    with pytest.raises(Fatal, match='which is too few for 2 parts; use fewer parts'):
        grade_part_and_merge_if_last(job, EvaluationPart(number=2, count=2), LIMITS, print)
    nowhere = replace(job, snapshot=str(tmp_path / 'nowhere'))
    with pytest.raises(Fatal, match='nowhere'):
        grade_part_and_merge_if_last(nowhere, EvaluationPart(number=1, count=2), LIMITS, print)
    with pytest.raises(Fatal, match='part 1 was ended: it took too much time'):
        grade_part_and_merge_if_last(
            job, EvaluationPart(number=1, count=1), BatchLimits(seconds=0, memory_gib=4), print
        )


def test_part_without_a_report_is_listed_as_ungraded(shop: Shop, tmp_path: Path) -> None:
    job = job_of(shop, tmp_path / 'results', 3)
    job.get_part_folder(1).mkdir(parents=True)
    job.get_part_folder(2).mkdir()
    write_results(job.get_part_folder(1), [row('a')])
    write_results(job.get_part_folder(2), [row('b')])
    write_report(job.get_part_folder(2), [row('b')], ())
    assert list_ungraded_parts(job) == (1, 3)
