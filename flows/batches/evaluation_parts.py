"""An evaluation in parts: `coevo evaluate --part` for each in a process of its own, then one merge.

    OUT/parts/1-of-4/   results of a part, as `coevo evaluate` writes them
    OUT/                those of all, once each part has its report

Nobody waits for the others: whoever finishes the last part finds all of them there. Two that finish
at once write the same bytes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coevo.display.redaction import strip_secrets
from coevo.evaluation.merging import merge
from coevo.evaluation.parts import EvaluationPart
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import NAME as REPORT
from coevo.model.errors import Fatal
from flows.batches.contained import BatchLimits, run_command
from flows.batches.jobs import FATAL

_COMMAND = (sys.executable, '-m', 'flows.batches.evaluation_process')


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJob:
    """What is judged in how many parts. All paths are folders that every worker reaches.

    snapshot     a folder, a URL or a month, as `coevo evaluate` takes it
    predictions  a path, or `gold`
    words        more options of `coevo evaluate`
    """

    snapshot: str
    predictions: str
    out: Path
    parts: int
    words: tuple[str, ...] = ()

    def get_part_folder(self, number: int) -> Path:
        return self.out / 'parts' / f'{number}-of-{self.parts}'  # own name: numbers

    @property
    def part_folders(self) -> tuple[Path, ...]:
        return tuple(map(self.get_part_folder, range(1, self.parts + 1)))


def list_ungraded_parts(job: EvaluationJob) -> tuple[int, ...]:
    """The numbers of the parts that have no report yet."""
    numbers = range(1, job.parts + 1)
    return tuple(
        number for number in numbers if not (job.get_part_folder(number) / REPORT).exists()
    )


def grade_part(
    job: EvaluationJob, part: EvaluationPart, limits: BatchLimits, hear: Callable[[str], None]
) -> Report | None:
    """Judge one part; the report of all where it was the last one, else None.

    Fatal, with the command's own sentence, where the part cannot be judged.
    """
    words = (
        'evaluate', job.snapshot, job.predictions, '--out', str(job.get_part_folder(part.number)),
        '--part', f'{part.number}/{part.count}', *job.words,
    )  # fmt: skip
    ended = run_command(
        _COMMAND,
        '\0'.join(words).encode() + b'\n',
        limits,
        hear=lambda line: hear(line.decode('utf-8', 'replace').rstrip()),
        over=lambda: False,
        environment=strip_secrets(os.environ),
    )
    if ended.stop is not None:
        raise Fatal(f'part {part.number} was ended: it took too much {ended.stop}')
    if ended.status == FATAL:
        raise Fatal(ended.last_line)
    if not (job.get_part_folder(part.number) / REPORT).exists():
        raise Fatal(
            f'part {part.number} ended with status {ended.status} and no report: {ended.last_line}'
        )
    return None if list_ungraded_parts(job) else merge(job.part_folders, job.out)
