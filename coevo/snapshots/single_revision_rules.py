"""The laws of test files as they stand, and of the suites that tasks are made of (see `coevo.snapshots.rules`)."""

from __future__ import annotations

from coevo.model.families import SINGLE_REVISION_FAMILIES, UNIT_FAMILIES, Family, StartBuilder
from coevo.model.reasons import Reason
from coevo.model.words import Stage, Walk
from coevo.snapshots.rules import SnapshotRule

_NAMES = ', '.join(f"'{family}'" for family in SINGLE_REVISION_FAMILIES)
_SUITES = f"coalesce(family, '{Family.COEVOLUTION}') IN ({_NAMES})"
_UNITS = ', '.join(f"'{family}'" for family in UNIT_FAMILIES)

RULES = (
    SnapshotRule(
        name='pairs_missing',
        table='single_revision',
        sql=f"""SELECT suite_id, pair_id FROM single_revision s WHERE walk <> '{Walk.SINGLE_REVISION}'
            OR NOT EXISTS (FROM pairs p WHERE p.pair_id = s.pair_id AND p.walk = s.walk
                AND p.new_rev = s.new_rev AND p.old_rev = s.new_rev)""",
    ),
    SnapshotRule(
        name='funnel_single_revision',
        table='single_revision',
        sql=f"""SELECT suite_id, task_id FROM single_revision s
            WHERE (task_id IS NULL) <> EXISTS (FROM drops d WHERE d.walk = s.walk AND (
                d.key = s.suite_id AND d.stage = '{Stage.SINGLE_REVISION}'
                OR s.adequacy IS NOT NULL AND s.task_id IS NULL AND d.repo = s.repo
                AND d.reason = '{Reason.TASK_WITHDRAWN}'))""",
    ),
    SnapshotRule(
        name='tasks_missing',
        table='single_revision',
        sql="""SELECT suite_id, task_id FROM single_revision s WHERE task_id IS NOT NULL AND NOT EXISTS (
            FROM tasks t WHERE t.task_id = s.task_id AND t.test_file = s.test_file
            AND (t.pair_id = s.pair_id OR list_contains(t.also_at, s.pair_id)))""",
    ),
    SnapshotRule(
        name='single_revision_missing',
        table='tasks',
        reads_texts=True,
        sql=f"""SELECT task_id, test_file FROM tasks t WHERE {_SUITES} AND NOT EXISTS (
            FROM single_revision s WHERE s.task_id = t.task_id AND s.pair_id = t.pair_id
            AND s.walk = t.walk AND s.test_file = t.test_file AND s.adequacy = t.gold_adequacy
            AND s.focus = t.focus
            AND coalesce(s.family, t.family) = t.family
            AND coalesce(s.start_builder, t.start_builder) = t.start_builder
            AND coalesce(s.start_patch, t.test_patch) = t.test_patch
            AND s.start_adequacy IS NOT DISTINCT FROM t.start_adequacy
            AND s.contamination_date IS NOT DISTINCT FROM t.contamination_date)""",
    ),
    SnapshotRule(
        name='family',
        table='tasks',
        sql=f"""SELECT task_id, family, walk FROM tasks
            WHERE ({_SUITES}) <> (walk = '{Walk.SINGLE_REVISION}')
            OR ({_SUITES}) <> (focus IS NOT NULL AND gold_adequacy IS NOT NULL)""",
    ),
    SnapshotRule(
        name='unit',
        table='single_revision',
        sql=f"""SELECT suite_id, unit FROM single_revision
            WHERE (coalesce(family, '') IN ({_UNITS})) <> (unit IS NOT NULL)
            OR (coalesce(family, '') = '{Family.FUNCTION}') <> (executing_tests IS NOT NULL)
            OR len(executing_tests) = 0
            OR complexity IS NOT NULL AND executing_tests IS NULL""",
    ),
    SnapshotRule(
        name='unit_of_single_revision',
        table='tasks',
        sql="""SELECT t.task_id, t.unit FROM tasks t JOIN single_revision s
            ON s.task_id = t.task_id AND s.pair_id = t.pair_id AND s.walk = t.walk
            WHERE t.unit IS DISTINCT FROM s.unit OR t.complexity IS DISTINCT FROM s.complexity
            OR t.executing_tests IS DISTINCT FROM len(s.executing_tests)
            OR t.executing_files IS DISTINCT FROM len(list_distinct(
                list_transform(s.executing_tests, lambda one: one.test_file)))""",
    ),
    SnapshotRule(
        name='suite_counted',
        table='single_revision',
        sql="""SELECT suite_id, adequacy::VARCHAR FROM single_revision WHERE adequacy IS NOT NULL AND (
            adequacy.tests <> tests OR adequacy.passing <> passing OR passing = 0 OR unstable <> 0
            OR adequacy.covered_lines > adequacy.lines
            OR adequacy.covered_branches > adequacy.branches
            OR adequacy.covered_methods > adequacy.methods
            OR coalesce(adequacy.mutants, 0) <> len([m FOR m IN mutants IF m.killed IS NOT NULL])
            OR coalesce(adequacy.killed, 0) <> len([m FOR m IN mutants IF m.killed]))""",
    ),
    SnapshotRule(
        name='start',
        table='tasks',
        reads_texts=True,
        sql=f"""SELECT task_id, start_builder FROM tasks WHERE {_SUITES} AND (
            (start_builder = '{StartBuilder.ABSENT}') <> (start_file_sha256 IS NULL)
            OR (start_builder = '{StartBuilder.AS_IS}') <> (test_patch = '')
            OR start_builder = '{StartBuilder.AS_IS}'
                AND start_adequacy IS DISTINCT FROM gold_adequacy)""",
    ),
    SnapshotRule(
        name='unpublished',
        table='single_revision',
        sql=f"""SELECT suite_id, d.reason FROM single_revision s JOIN drops d USING (pair_id, walk)
            WHERE d.stage = '{Stage.PUBLISH}'""",
    ),
)
