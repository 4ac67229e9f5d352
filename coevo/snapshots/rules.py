"""Rules that hold between the tables of a snapshot, each as a query for the rows that break it.

The first column of a query identifies the row, the others help to see what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coevo.model.families import RELEASED_FAMILIES, Family
from coevo.model.labels import CELL_ORDER, TRACKS
from coevo.model.reasons import BY_STAGE, Reason
from coevo.model.words import BreakageCause, Stage, Track, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRule:
    """A rule as an SQL query that gives the rows of `table` which break it.

    reads_texts  whether it reads third-party text, which a code-free edition does not have
    """

    name: str
    table: str
    sql: str
    reads_texts: bool = False


def _build_reference_rule(
    table: str, row: str, column: str, target: str, *keys: str
) -> SnapshotRule:
    """Return the rule that every row of a table finds the row of `target` that it refers to."""
    same = ' AND '.join(f't.{key} = {table}.{key}' for key in keys)
    sql = f'SELECT {row}, {column} FROM {table} WHERE NOT EXISTS (FROM {target} t WHERE {same})'
    return SnapshotRule(name=f'{target}_missing', table=table, sql=sql)


_TRACKED = ', '.join(f"'{label}'" for label in TRACKS)
_REASONS = ', '.join(
    f"('{stage}', '{stage.unit}', '{reason}')"
    for stage, reasons in BY_STAGE.items()
    for reason in reasons
)

_LABELLED = ', '.join(f"'{family}'" for family in RELEASED_FAMILIES)
# As `tasks.test_methods` names a method; overloads have one name.
_SHORT_NAME = "string_split(m.test_class, '.')[-1] || '#' || m.test_method"
_FROM_LABELS = f"coalesce(family, '') IN ({_LABELLED})"

# Stages at which a method is excluded for good; at `track` it keeps its label.
_METHOD_STAGES = f"'{Stage.FILTER}', '{Stage.LABEL}', '{Stage.PUBLISH}'"


def _build_id_rule(
    table: str, column: str, *parts: str, more: str = '[]', where: str = 'true'
) -> SnapshotRule:
    """Return the rule that an id is the hash of the columns `parts` and the list `more`.

    A path with escapes also breaks this query; `verification` checks such rows again.
    """
    names = f'list_concat([{", ".join(parts)}], {more})'
    sql = f"""SELECT {column}, {names} FROM {table}
        WHERE {where} AND {column} <> sha256(array_to_string({names}, chr(0)))[:16]
        ORDER BY ALL"""
    return SnapshotRule(name='id', table=table, sql=sql)


IDS = (
    _build_id_rule('pairs', 'pair_id', 'repo', 'language', 'old_rev', 'new_rev'),
    _build_id_rule(
        'tasks',
        'task_id',
        'repo',
        'language',
        'old_rev',
        'new_rev',
        f"CASE WHEN walk = '{Walk.SINGLE_REVISION}' OR {_FROM_LABELS} THEN family ELSE track END",
        'test_file',
        more=f"CASE WHEN family = '{Family.FILE}' THEN [start_builder::VARCHAR] "
        'WHEN unit IS NOT NULL THEN [unit] ELSE [] END',
    ),
    _build_id_rule(
        'single_revision',
        'suite_id',
        'pair_id',
        'test_file',
        more='list_filter([family::VARCHAR, start_builder::VARCHAR, unit], lambda one: one IS NOT NULL)',
    ),
    _build_id_rule(
        'methods',
        'method_id',
        'pair_id',
        "CASE WHEN change = 'deleted' THEN 'deleted' ELSE 'standing' END",
        'test_file',
        'test_class',
        'test_method',
        more='parameters',
    ),
    _build_id_rule(
        'drops',
        'key',
        'pair_id',
        "CASE WHEN change = 'deleted' THEN 'deleted' ELSE 'standing' END",
        'test_file',
        'test_class',
        'test_method',
        more='parameters',
        where='test_method IS NOT NULL',
    ),
)

REFERENCES = (
    _build_reference_rule(
        'methods', 'method_id', 'pair_id', 'pairs', 'pair_id', 'walk', 'old_rev', 'new_rev'
    ),
    _build_reference_rule(
        'tasks', 'task_id', 'pair_id', 'pairs', 'pair_id', 'walk', 'old_rev', 'new_rev'
    ),
    _build_reference_rule('cells', 'method_id', 'pair_id', 'pairs', 'pair_id', 'walk'),
    _build_reference_rule('refactorings', 'pair_id', 'number', 'pairs', 'pair_id', 'walk'),
    *(
        _build_reference_rule(
            table, 'method_id', 'pair_id', 'methods', 'method_id', 'walk', 'pair_id'
        )
        for table in ('dependency_map', 'mutants', 'reversals')
    ),
    _build_reference_rule('pairs', 'pair_id', 'repo', 'repositories', 'repo', 'language', 'walk'),
    _build_reference_rule('tasks', 'task_id', 'repo', 'repositories', 'repo', 'language', 'walk'),
    SnapshotRule(
        name='pairs_missing',
        table='drops',
        sql=f"""SELECT key, pair_id FROM drops d WHERE stage <> '{Stage.WALK}' AND NOT EXISTS (
            FROM pairs p WHERE p.pair_id = d.pair_id AND p.walk = d.walk)""",
    ),
    SnapshotRule(
        name='methods_missing',
        table='cells',
        sql=f"""SELECT DISTINCT method_id, walk FROM cells c
            WHERE NOT EXISTS (FROM methods m WHERE m.method_id = c.method_id AND m.walk = c.walk)
            AND NOT EXISTS (FROM drops d WHERE d.key = c.method_id AND d.walk = c.walk
                AND d.stage = '{Stage.LABEL}')""",
    ),
    SnapshotRule(
        name='methods_missing',
        table='tasks',
        sql="""SELECT task_id, id FROM (SELECT *, unnest(method_ids) AS id FROM tasks) t
            WHERE NOT EXISTS (FROM methods m WHERE m.method_id = id AND m.walk = t.walk
                AND m.track = t.track AND m.pair_id = t.pair_id AND m.test_file = t.test_file
                AND m.task_id = t.task_id)""",
    ),
    SnapshotRule(
        name='methods_missing',
        table='tasks',
        sql=f"""SELECT task_id, method_ids, test_methods FROM tasks
            WHERE (len(method_ids) = 0) <> (walk = 'single_revision' OR {_FROM_LABELS})
            OR len(list_distinct(test_methods)) <> len(test_methods)
            OR len(test_methods) <> (SELECT count(DISTINCT {_SHORT_NAME}) FROM methods m
                WHERE m.walk = tasks.walk AND list_contains(tasks.method_ids, m.method_id))""",
    ),
    SnapshotRule(
        name='methods_missing',
        table='tasks',
        sql="""SELECT t.task_id, m.method_id FROM tasks t JOIN methods m
            USING (task_id, pair_id, walk) WHERE NOT list_contains(t.method_ids, m.method_id)""",
    ),
    SnapshotRule(
        name='tasks_missing',
        table='methods',
        sql="""SELECT method_id, task_id FROM methods m WHERE task_id IS NOT NULL AND NOT EXISTS (
            FROM tasks t JOIN repositories USING (repo, language, walk)
            WHERE t.task_id = m.task_id AND repositories.family = (SELECT any_value(r.family)
                FROM repositories r WHERE r.repo = m.repo))""",
    ),
    SnapshotRule(
        name='original_missing',
        table='methods',
        sql="""SELECT method_id, duplicate_of FROM methods m WHERE duplicate_of IS NOT NULL
            AND NOT EXISTS (FROM methods o JOIN repositories USING (repo, language, walk)
                WHERE o.method_id = m.duplicate_of AND o.walk = m.walk AND o.duplicate_of IS NULL
                AND family = (SELECT any_value(r.family) FROM repositories r
                    WHERE r.repo = m.repo))""",
    ),
    SnapshotRule(
        name='near_original_missing',
        table='methods',
        sql="""SELECT method_id, near_duplicate_of FROM methods m
            WHERE near_duplicate_of IS NOT NULL AND NOT EXISTS (
                FROM methods o WHERE o.method_id = m.near_duplicate_of
                AND (o.repo, o.test_class, o.test_method, o.parameters)
                    <> (m.repo, m.test_class, m.test_method, m.parameters))""",
    ),
    SnapshotRule(
        name='not_withdrawn',
        table='withdrawn',
        sql="""SELECT id, reissued FROM withdrawn w
            WHERE reissued <> (id IN (SELECT task_id FROM tasks))
            OR w."table" = 'methods' AND id IN (SELECT method_id FROM methods)""",
    ),
)

FUNNEL = (
    SnapshotRule(
        name='funnel_walk',
        table='repositories',
        sql=f"""SELECT repo, walk, commits_visited, commits_kept, dropped FROM (
            SELECT *, (SELECT count(*) FROM drops d WHERE d.stage = '{Stage.WALK}'
                AND d.repo = r.repo AND d.walk = r.walk
                AND coalesce(d.language, r.language) = r.language) AS dropped FROM repositories r)
            WHERE commits_visited <> commits_kept + dropped""",
    ),
    SnapshotRule(
        name='funnel_pair',
        table='pairs',
        sql=f"""SELECT pair_id, candidates, labelled, dropped FROM (
            SELECT *,
                (SELECT count(*) FROM methods m
                    WHERE m.pair_id = p.pair_id AND m.walk = p.walk) AS labelled,
                (SELECT count(DISTINCT key) FROM drops d
                    WHERE d.pair_id = p.pair_id AND d.walk = p.walk
                    AND d.stage IN ({_METHOD_STAGES})) AS dropped,
                EXISTS (FROM drops d WHERE d.key = p.pair_id AND d.walk = p.walk
                    AND d.stage = '{Stage.PAIR}') AS gone
            FROM pairs p)
            WHERE labelled + dropped <> CASE WHEN gone THEN 0 ELSE candidates END""",
    ),
    SnapshotRule(
        name='tests_compared',
        table='pairs',
        sql="""SELECT pair_id, tests_compared, candidates, tests_alike, tests_undrawn FROM pairs
            WHERE tests_compared <> candidates + tests_alike + coalesce(tests_undrawn, 0)
            OR (tests_compared IS NULL) <> (tests_alike IS NULL)""",
    ),
    SnapshotRule(
        name='unlike_the_project',
        table='drops',
        sql=f"""SELECT d.key, d.pair_id FROM drops d JOIN pairs p USING (pair_id, walk)
            WHERE d.reason = '{Reason.UNLIKE_THE_PROJECT}'
            AND p.umpire_old IS NULL AND p.umpire_new IS NULL""",
    ),
    SnapshotRule(
        name='kept_and_dropped',
        table='methods',
        sql=f"""SELECT method_id, stage, reason FROM methods m JOIN drops d
            ON d.key = m.method_id AND d.walk = m.walk
            WHERE stage IN ({_METHOD_STAGES})""",
    ),
    SnapshotRule(
        name='funnel_track',
        table='methods',
        sql=f"""SELECT method_id, label, track FROM methods m
            WHERE (coalesce(label IN ({_TRACKED}), false) AND track IS NULL) <> EXISTS (
                FROM drops d WHERE d.key = m.method_id AND d.walk = m.walk
                AND d.stage = '{Stage.TRACK}')""",
    ),
    SnapshotRule(
        name='funnel_task',
        table='methods',
        sql=f"""SELECT method_id, track FROM methods m
            WHERE track IS NOT NULL AND task_id IS NULL AND NOT EXISTS (
                FROM drops d WHERE d.pair_id = m.pair_id AND d.stage = '{Stage.TASK}')""",
    ),
    SnapshotRule(
        name='unpublished',
        table='drops',
        sql=f"""SELECT d.key, d.reason, p.license FROM drops d JOIN pairs p USING (pair_id, walk)
            WHERE d.stage = '{Stage.PUBLISH}' AND d.reason <> '{Reason.WITHDRAWN}'
            AND (d.reason = '{Reason.LICENCE_UNKNOWN}') <> (p.license IS NULL)""",
    ),
    *(
        SnapshotRule(
            name='unpublished',
            table=table,
            sql=f"""SELECT pair_id, d.reason FROM {table} JOIN drops d USING (pair_id, walk)
                WHERE d.stage = '{Stage.PUBLISH}'""",
        )
        for table in ('methods', 'cells', 'tasks', 'refactorings')
    ),
    SnapshotRule(
        name='reason',
        table='drops',
        sql=f"""SELECT key, stage, unit, reason FROM drops
            WHERE (stage, unit, reason) NOT IN (VALUES {_REASONS})""",
    ),
    # What was mined before this column counted only files of the language.
    SnapshotRule(
        name='test_only',
        table='methods',
        sql=f"""SELECT method_id, cause FROM methods m JOIN pairs p USING (pair_id, walk)
            WHERE m.cause = '{BreakageCause.PRODUCTION}' AND p.test_only
            AND p.changed_kinds IS NOT NULL""",
    ),
    SnapshotRule(
        name='changed_kinds',
        table='pairs',
        sql="""SELECT pair_id, source_changed FROM pairs
            WHERE changed_kinds IS NOT NULL AND source_changed <> (len(changed_kinds) > 0)""",
    ),
    SnapshotRule(
        name='sandbox', table='pairs', sql="SELECT pair_id FROM pairs WHERE sandbox = 'none'"
    ),
    # Gold is strict only if it runs and fails with an edit of the change.
    SnapshotRule(
        name='strict_askable',
        table='methods',
        sql="""SELECT method_id, task_id FROM methods m WHERE strict_askable AND (task_id IS NULL
            OR NOT EXISTS (FROM reversals r WHERE (r.method_id, r.walk) = (m.method_id, m.walk)
                AND outcome IN ('fail', 'error', 'timeout'))
            AND NOT EXISTS (FROM mutants u WHERE (u.method_id, u.walk) = (m.method_id, m.walk)
                AND outcome IN ('fail', 'error', 'timeout')))""",
    ),
    SnapshotRule(
        name='strict_askable',
        table='tasks',
        sql="""SELECT t.task_id FROM tasks t JOIN methods m
            ON list_contains(t.method_ids, m.method_id) AND m.walk = t.walk
            GROUP BY t.task_id, t.strict_askable
            HAVING t.strict_askable IS DISTINCT FROM CASE
                WHEN count(m.strict_askable) = count(*) OR NOT bool_and(m.strict_askable)
                THEN bool_and(m.strict_askable) END""",
    ),
    SnapshotRule(
        name='verified',
        table='tasks',
        sql=f"""SELECT task_id, track, reached FROM tasks
            WHERE (reached IS NULL) <> (focus_agreed IS NULL)
            OR NOT list_has_all([d.name FOR d IN dependencies], coalesce(reached, []))
            OR focus_agreed AND len(reached) = 0
            OR (moved OR len(shown_by) > 0) AND track <> '{Track.GENERATION}'""",
    ),
)

_END_DATES = ('old_author_date', 'old_committer_date', 'new_author_date', 'new_committer_date')
_OTHER_DATES = ' OR '.join(f't.{date} IS DISTINCT FROM p.{date}' for date in _END_DATES)

_PARENTS = ', '.join(f"'{walk}'" for walk in (Walk.PARENTS, Walk.FIRST_PARENT))


def _build_same_ancestry_as_pair_rule(table: str, row: str) -> SnapshotRule:
    """Return the rule that the ancestry of a row is that of its pair.

    It does not apply to snapshots of a schema before 1.2, whose rows have no ancestry.
    """
    return SnapshotRule(
        name='ancestry',
        table=table,
        sql=f"""SELECT {row}, t.old_is_ancestor FROM {table} t JOIN pairs p USING (pair_id, walk)
            WHERE t.old_is_ancestor IS DISTINCT FROM p.old_is_ancestor AND (
                t.old_is_ancestor IS NOT NULL
                OR EXISTS (FROM {table} WHERE old_is_ancestor IS NOT NULL))""",
    )


ANCESTRY = (
    # A parent is an ancestor. Only walks over states may pair commits that are no ancestors of each
    # other.
    SnapshotRule(
        name='ancestry',
        table='pairs',
        sql=f"""SELECT pair_id, walk FROM pairs
            WHERE walk IN ({_PARENTS}) AND NOT old_is_ancestor""",
    ),
    _build_same_ancestry_as_pair_rule('methods', 'method_id'),
    _build_same_ancestry_as_pair_rule('tasks', 'task_id'),
)

DATES = (
    SnapshotRule(
        name='gap',
        table='pairs',
        sql="""SELECT pair_id, gap_hours FROM (
            SELECT *, (epoch(new_committer_date) - epoch(old_committer_date)) / 3600 AS hours
            FROM pairs)
            WHERE (gap_hours IS NULL) <> (hours IS NULL) OR abs(gap_hours - hours) > 0.001""",
    ),
    SnapshotRule(
        name='dates_of_pair',
        table='tasks',
        sql=f"""SELECT t.task_id, t.pair_id FROM tasks t JOIN pairs p USING (pair_id, walk)
            WHERE {_OTHER_DATES}""",
    ),
    SnapshotRule(
        name='licence_of_pair',
        table='tasks',
        sql="""SELECT t.task_id, t.license, p.license FROM tasks t JOIN pairs p
            USING (pair_id, walk) WHERE t.license IS DISTINCT FROM p.license""",
    ),
    SnapshotRule(
        name='date_after_commit',
        table='methods',
        sql="""SELECT method_id, contamination_date::VARCHAR
            FROM methods m JOIN pairs p USING (pair_id, walk)
            WHERE contamination_date > new_author_date OR contamination_date > new_committer_date""",
    ),
    SnapshotRule(
        name='date_after_parts',
        table='tasks',
        sql="""SELECT t.task_id, any_value(t.contamination_date)::VARCHAR
            FROM (SELECT *, unnest(method_ids) AS method_id FROM tasks) t
            JOIN methods m USING (method_id, walk) GROUP BY t.task_id
            HAVING any_value(t.contamination_date) > min(m.contamination_date)
            OR any_value(t.contamination_date) IS NOT NULL
                AND count(m.contamination_date) < count(*)""",
    ),
    SnapshotRule(
        name='date_without_basis',
        table='methods',
        sql="""SELECT method_id, contamination_basis FROM methods
            WHERE contamination_date IS NOT NULL
            AND coalesce(contamination_basis, 'shallow') = 'shallow'""",
    ),
)


def _build_run_selects() -> Iterator[str]:
    for cell in CELL_ORDER:
        yield f"""SELECT method_id, walk, '{cell}' AS cell, {cell} AS outcome,
            {cell}_passes AS passes, {cell}_runs AS runs FROM methods WHERE {cell} IS NOT NULL"""


RUNS = (
    SnapshotRule(
        name='runs',
        table='methods',
        sql=f"""SELECT method_id, cell, s.runs, count(c.cell), s.passes
            FROM ({' UNION ALL '.join(_build_run_selects())}) s LEFT JOIN cells c USING (method_id, walk, cell)
            GROUP BY method_id, walk, cell, s.outcome, s.passes, s.runs
            HAVING count(c.cell) <> s.runs
            OR count(*) FILTER (c.outcome = 'pass') <> s.passes
            OR count(*) FILTER (c.outcome = s.outcome) = 0""",
    ),
)

RULES = (*REFERENCES, *FUNNEL, *RUNS, *ANCESTRY, *DATES)
