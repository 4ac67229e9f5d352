"""The laws of what is measured of methods: mutants, coverage, start states (see `coevo.snapshots.rules`)."""

from __future__ import annotations

from coevo.model.quality import VALID
from coevo.snapshots.rules import SnapshotRule

# Before 1.2 it was of a method's own dependencies, and no list was named.
_COVERED = '(CASE WHEN t.dependency_list IS NULL THEN m.coverage ELSE m.task_coverage END)'

# A method's shares, None where they could not be measured, and their means over a task's methods.
_SHARES = f"""
    SELECT t.task_id, t.coverage_gold, t.coverage_gold_success, t.code_coverage_gold,
        t.code_coverage_gold_success, t.mutation_score_gold, t.mutation_score_gold_success,
        m.mutation IS NOT NULL AS mutated, m.task_coverage IS NOT NULL AS code_covered,
        {_COVERED} IS NOT NULL AS covered,
        {_COVERED}.covered_lines / nullif({_COVERED}.lines, 0) AS coverage,
        m.task_coverage.covered_lines / nullif(m.task_coverage.known_lines, 0) AS code_coverage,
        coalesce(m.mutation.not_run > 0 AND m.mutation.killed IS NULL, false) AS left_out,
        m.mutation.killed / nullif(m.mutation.count - m.mutation.not_run, 0) AS score
    FROM (SELECT *, unnest(method_ids) AS method_id FROM tasks) t
    JOIN methods m USING (method_id, walk)"""


def _build_mean_condition(column: str, mean: str) -> str:
    return (
        f'coalesce(abs(any_value({column}) - {mean}) > 1e-9, '
        f'(any_value({column}) IS NULL) <> ({mean} IS NULL))'
    )


_WRONG_MEANS = ' OR '.join(
    (
        _build_mean_condition(
            'coverage_gold', 'if(bool_or(covered), avg(coalesce(coverage, 0)), NULL)'
        ),
        _build_mean_condition('coverage_gold_success', 'avg(coverage)'),
        _build_mean_condition(
            'code_coverage_gold',
            'if(bool_or(code_covered), avg(coalesce(code_coverage, 0)), NULL)',
        ),
        _build_mean_condition('code_coverage_gold_success', 'avg(code_coverage)'),
        _build_mean_condition(
            'mutation_score_gold',
            'if(bool_or(mutated AND NOT left_out), '
            'avg(coalesce(score, 0)) FILTER (NOT left_out), NULL)',
        ),
        _build_mean_condition('mutation_score_gold_success', 'avg(score)'),
    )
)

GOLD = (
    SnapshotRule(
        name='gold',
        table='tasks',
        sql=f'SELECT task_id FROM ({_SHARES}) GROUP BY task_id HAVING {_WRONG_MEANS}',
    ),
    SnapshotRule(
        name='start_state',
        table='tasks',
        sql=f"""SELECT t.task_id, m.isolated.start
            FROM (SELECT *, unnest(method_ids) AS method_id FROM tasks) t
            JOIN methods m USING (method_id, walk) WHERE m.isolated.start <> '{VALID}'""",
    ),
)

MUTANTS = (
    SnapshotRule(
        name='mutants_emitted',
        table='methods',
        sql="""SELECT method_id, mutation.emitted FROM methods WHERE mutation.emitted <>
            mutation.count + mutation.compile_failed + mutation.redundant + mutation.capped_out
            + mutation.not_checked""",
    ),
    SnapshotRule(
        name='mutants_counted',
        table='methods',
        sql="""SELECT m.method_id, any_value(m.mutation)::VARCHAR, count(u.mutant_id)
            FROM methods m LEFT JOIN mutants u USING (method_id, walk)
            GROUP BY m.method_id, m.walk
            HAVING coalesce(any_value(m.mutation.count), 0) <> count(u.mutant_id)
            OR any_value(m.mutation.equal_compiled) <> count(*) FILTER (u.equal_compiled)
            OR any_value(m.mutation.killed) <> count(*) FILTER (u.killed)
            OR any_value(m.mutation.not_run) <> count(u.mutant_id) FILTER (u.outcome IS NULL)
                AND any_value(m.mutation.killed) IS NOT NULL""",
    ),
    SnapshotRule(
        name='mutant_not_run',
        table='mutants',
        sql="""SELECT method_id, mutant_id FROM mutants
            WHERE (outcome IS NULL) <> (killed IS NULL)""",
    ),
)

RULES = (*MUTANTS, *GOLD)
