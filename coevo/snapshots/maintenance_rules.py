"""The laws of whole-file maintenance (see `coevo.snapshots.rules`). Before schema 2.4 there is none of it."""

from __future__ import annotations

from coevo.model.families import Family, StartBuilder
from coevo.model.maintenance import STAYING, ExpectedAction, find_expected_action
from coevo.model.words import Label, MethodChange
from coevo.snapshots.rules import SnapshotRule

_IS_ONE = f"coalesce(family, '') = '{Family.MAINTENANCE}'"
_STAYING = ', '.join(f"'{member}'" for member in STAYING)
_ACTIONS = ', '.join(
    f"('{member}', '{find_expected_action(member, same_text=False)}')" for member in Label
)
_EACH = '(SELECT *, unnest(maintained) AS one FROM tasks)'

RULES = (
    SnapshotRule(
        name='maintained',
        table='tasks',
        reads_texts=True,
        sql=f"""SELECT task_id, family FROM tasks
            WHERE ({_IS_ONE}) <> (maintained IS NOT NULL)
            OR ({_IS_ONE}) AND (start_builder <> '{StartBuilder.OLD}'
                OR start_file_sha256 IS NULL OR test_patch = ''
                OR len([m FOR m IN maintained IF m.expected_action = '{ExpectedAction.UPDATE}']) = 0
                OR len([m FOR m IN maintained
                    IF m.label IS NOT NULL AND m.expected_action IN ({_STAYING})]) = 0)""",
    ),
    SnapshotRule(
        name='expected_action',
        table='tasks',
        sql=f"""SELECT task_id, one::VARCHAR FROM {_EACH}
            WHERE one.old_method IS NULL AND one.new_method IS NULL
            OR one.label IS NULL AND one.expected_action NOT IN ('{ExpectedAction.KEEP}', '{ExpectedAction.NONE}')
            OR one.label IS NOT NULL AND (one.label, one.expected_action) NOT IN (VALUES {_ACTIONS})""",
    ),
    SnapshotRule(
        name='label_missing',
        table='tasks',
        sql=f"""SELECT task_id, one.old_method, one.new_method FROM {_EACH} t
            WHERE one.label IS NOT NULL AND NOT EXISTS (FROM methods m
                WHERE m.pair_id = t.pair_id AND m.walk = t.walk AND m.test_file = t.test_file
                AND m.label = one.label
                AND split_part(CASE WHEN m.change = '{MethodChange.DELETED}' THEN one.old_method
                    ELSE one.new_method END, '(', 1)
                    = split_part(m.test_class, '.', -1) || '#' || m.test_method)""",
    ),
)
