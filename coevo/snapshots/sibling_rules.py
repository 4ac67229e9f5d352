"""The laws of siblings and leaks (see `coevo.snapshots.rules`). Before schema 1.2 there are none of either."""

from __future__ import annotations

from coevo.model.quality import SiblingState
from coevo.model.reasons import Reason
from coevo.model.words import Stage
from coevo.snapshots.rules import SnapshotRule

_EACH = '(SELECT *, unnest(siblings) AS sibling FROM tasks)'

RULES = (
    SnapshotRule(
        name='sibling_missing',
        table='tasks',
        sql=f"""SELECT task_id, name FROM (
                SELECT *, unnest(sibling.test_methods) AS name FROM {_EACH}) t
            WHERE NOT EXISTS (FROM methods m WHERE m.pair_id = t.pair_id AND m.walk = t.walk
                AND m.test_file = t.sibling.test_file
                AND split_part(m.test_class, '.', -1) || '#' || m.test_method = name)
            AND NOT EXISTS (FROM drops d WHERE d.pair_id = t.pair_id AND d.walk = t.walk
                AND d.stage = '{Stage.LABEL}' AND d.reason = '{Reason.NOT_REPRODUCED}')""",
    ),
    SnapshotRule(
        name='sibling_empty',
        table='tasks',
        sql=f"""SELECT task_id, sibling.test_file FROM {_EACH}
            WHERE len(sibling.test_methods) = 0
            OR (sibling.undone = '{SiblingState.STAYS}') <> (sibling.why IS NOT NULL)
            OR sibling.undone = '{SiblingState.ABSENT}' AND sibling.test_file = test_file""",
    ),
    SnapshotRule(
        name='sibling_patch',
        table='tasks',
        reads_texts=True,
        sql=f"""SELECT task_id, sibling_patch[:80] FROM tasks
            WHERE (siblings IS NULL) <> (sibling_patch IS NULL)
            OR (sibling_patch <> '') <> (len([one FOR one IN siblings IF
                one.undone <> '{SiblingState.STAYS}' AND one.test_file <> test_file]) > 0)""",
    ),
    SnapshotRule(
        name='leak',
        table='tasks',
        sql="""SELECT task_id, leak, nearest FROM tasks
            WHERE NOT leak BETWEEN 0 AND 1 OR NOT nearest BETWEEN 0 AND 1
            OR (leak IS NULL) <> (siblings IS NULL) OR (nearest IS NULL) <> (siblings IS NULL)""",
    ),
    SnapshotRule(
        name='leak',
        table='methods',
        sql="""SELECT m.method_id, m.leak, t.leak FROM methods m LEFT JOIN tasks t USING (task_id)
            WHERE m.leak IS DISTINCT FROM t.leak""",
    ),
)
