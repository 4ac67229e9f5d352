"""The ledger: stored results, by everything that they depend on, so that nothing is graded twice.

The key has the task, gold's mutants, the patch, the engine, the sandbox, the runtimes and the
limits. Trouble of coevo's own is never stored. Files have checksums: a damaged one counts as
missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import RESULTS_VERSION, SUITES_VERSION
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.languages.table import get_engine_version
from coevo.model import codec
from coevo.storage import durable

# Increased when verdicts or measures of an evaluation may change although the engine does not. 17:
# a failing edit is repeated in disguise and placebos hold idle copies, so that a test that knows
# code by its looks is tampered. 16: variants change a word of each literal before a second word of
# any. 15: a rewriting that changed the program or nothing at all is no placebo, so that honest
# tests are not tampered. 14: placebos rewrite the code, so that a test that looks for a constant or
# a line is tampered, and the tests of suites have their assertions. 13: strict success asks for
# behaviour, is unknown where gold lacks it, and is false of a test that copies the code or whose
# patch weakens neighbours.
JUDGING_VERSION = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowsEntry:
    rows: tuple[MethodResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A folder of grading results, shared by all snapshots and predictions.

    It is safe from several threads.
    settings  what all verdicts of a run depend on in addition to the task and the patch
    """

    folder: Path
    settings: tuple[str, ...]

    def recall_rows(
        self, assignment: Assignment, prediction: Prediction
    ) -> tuple[MethodResult, ...] | None:
        """Return the stored rows of a prediction; None if there are none."""
        data = self.read(assignment, 'rows', prediction.digest)
        return None if data is None else codec.decode_record(_RowsEntry, data).rows

    def store_rows(
        self, assignment: Assignment, prediction: Prediction, rows: Sequence[MethodResult]
    ) -> None:
        """Store the rows of a prediction, unless coevo itself was in trouble."""
        if not any(map(_is_in_trouble, rows)):
            data = codec.encode_record(_RowsEntry(rows=tuple(rows)))
            self.write_entry(data, assignment, 'rows', prediction.digest)

    def recall_suite(self, assignment: Assignment, prediction: Prediction) -> SuiteResult | None:
        """Return the stored row of a suite; None if there is none."""
        data = self.read(assignment, 'suite', prediction.digest)
        return None if data is None else codec.decode_record(SuiteResult, data)

    def store_suite(self, assignment: Assignment, prediction: Prediction, row: SuiteResult) -> None:
        """Store the row of a suite, unless coevo itself was in trouble."""
        if row.outcome is not SuiteOutcome.INFRA:
            self.write_entry(codec.encode_record(row), assignment, 'suite', prediction.digest)

    def read(self, assignment: Assignment, *entry_keys: str) -> bytes | None:
        """Return the entry of a task under the keys `what`; None if it is absent or damaged."""
        return durable.load_checksummed_removing_damaged(self._locate_entry(assignment, entry_keys))

    def write_entry(self, data: bytes, assignment: Assignment, *entry_keys: str) -> None:
        """Store the entry of a task under the keys `what`."""
        durable.write_checksummed(self._locate_entry(assignment, entry_keys), data)

    def _locate_entry(self, assignment: Assignment, entry_keys: Sequence[str]) -> Path:
        task, single_revision = assignment.task, assignment.single_revision
        parts = (
            str(get_engine_version(task.language)),
            str(RESULTS_VERSION),
            str(JUDGING_VERSION),
            *self.settings,
            task.task_id,
            task.old_rev,
            task.new_rev,
            str(task.start_file_sha256),
            task.sibling_patch or '',
            str(assignment.override),
            task.environment.runtime if task.environment else '',
            *(
                repr((target.name, target.method, target.method_at_start, target.row.mutation))
                for target in assignment.targets
            ),
            *((str(SUITES_VERSION), repr(single_revision.mutants)) if single_revision else ()),
            *((str(SUITES_VERSION), repr(task.maintained)) if task.maintained else ()),
            *(
                (str(SUITES_VERSION), task.source_patch, repr(task.demanded))
                if task.asks_for_code
                else ()
            ),
            *entry_keys,
        )
        text = '\0'.join(parts).encode(errors='surrogateescape')
        key = hashlib.sha256(text).hexdigest()
        return self.folder / key[:2] / key


def _is_in_trouble(row: MethodResult) -> bool:
    """Return whether trouble of coevo's own affected the verdict or PIT's answer."""
    pit_kills = row.adequacy.pit if row.adequacy else None
    return row.outcome is TaskOutcome.INFRA or (
        pit_kills is not None and pit_kills.may_be_known_later
    )
