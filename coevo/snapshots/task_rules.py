"""Rules for the measurements of methods and the families of tasks (see `coevo.snapshots.rules`)."""

from __future__ import annotations

from coevo.model.families import (
    SINGLE_REVISION_FAMILIES,
    STAYING,
    UNIT_FAMILIES,
    ExpectedAction,
    Family,
    StartBuilder,
    TestRole,
    find_expected_action,
)
from coevo.model.quality import VALID, SiblingState
from coevo.model.reasons import Reason
from coevo.model.words import Label, MethodChange, Stage, Walk
from coevo.snapshots.rules import SnapshotRule

# -- mutants, coverage, start states --

# Before schema 1.2 the coverage was that of the method's own dependencies, and no list was named.
_COVERED = '(CASE WHEN t.dependency_list IS NULL THEN m.coverage ELSE m.task_coverage END)'

# Shares of each method, null if not measured, beside the means that its task states.
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


def _build_wrong_mean_condition(column: str, mean: str) -> str:
    return (
        f'coalesce(abs(any_value({column}) - {mean}) > 1e-9, '
        f'(any_value({column}) IS NULL) <> ({mean} IS NULL))'
    )


_WRONG_MEANS = ' OR '.join(
    (
        _build_wrong_mean_condition(
            'coverage_gold', 'if(bool_or(covered), avg(coalesce(coverage, 0)), NULL)'
        ),
        _build_wrong_mean_condition('coverage_gold_success', 'avg(coverage)'),
        _build_wrong_mean_condition(
            'code_coverage_gold',
            'if(bool_or(code_covered), avg(coalesce(code_coverage, 0)), NULL)',
        ),
        _build_wrong_mean_condition('code_coverage_gold_success', 'avg(code_coverage)'),
        _build_wrong_mean_condition(
            'mutation_score_gold',
            'if(bool_or(mutated AND NOT left_out), '
            'avg(coalesce(score, 0)) FILTER (NOT left_out), NULL)',
        ),
        _build_wrong_mean_condition('mutation_score_gold_success', 'avg(score)'),
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

# -- siblings and leaks: schemas before 1.2 have neither --

_IS_CODE = f"coalesce(family, '') = '{Family.IMPLEMENT}'"
_EACH_SIBLING = '(SELECT *, unnest(siblings) AS sibling FROM tasks)'

SIBLINGS = (
    SnapshotRule(
        name='sibling_missing',
        table='tasks',
        sql=f"""SELECT task_id, name FROM (
                SELECT *, unnest(sibling.test_methods) AS name FROM {_EACH_SIBLING}) t
            WHERE NOT EXISTS (FROM methods m WHERE m.pair_id = t.pair_id AND m.walk = t.walk
                AND m.test_file = t.sibling.test_file
                AND split_part(m.test_class, '.', -1) || '#' || m.test_method = name)
            AND NOT EXISTS (FROM drops d WHERE d.pair_id = t.pair_id AND d.walk = t.walk
                AND d.stage = '{Stage.LABEL}' AND d.reason = '{Reason.NOT_REPRODUCED}')""",
    ),
    SnapshotRule(
        name='sibling_empty',
        table='tasks',
        sql=f"""SELECT task_id, sibling.test_file FROM {_EACH_SIBLING}
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
        sql=f"""SELECT task_id, leak, nearest FROM tasks
            WHERE NOT leak BETWEEN 0 AND 1 OR NOT nearest BETWEEN 0 AND 1
            OR (leak IS NULL) <> (siblings IS NULL OR {_IS_CODE})
            OR (nearest IS NULL) <> (siblings IS NULL OR {_IS_CODE})""",
    ),
    SnapshotRule(
        name='leak',
        table='methods',
        sql="""SELECT m.method_id, m.leak, t.leak FROM methods m LEFT JOIN tasks t USING (task_id)
            WHERE m.leak IS DISTINCT FROM t.leak""",
    ),
)

# -- whole test files at one revision, and the suite tasks made of them --

_NAMES = ', '.join(f"'{family}'" for family in SINGLE_REVISION_FAMILIES)
_SUITES = f"coalesce(family, '{Family.COEVOLUTION}') IN ({_NAMES})"
_UNITS = ', '.join(f"'{family}'" for family in UNIT_FAMILIES)

SUITES = (
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
            OR (len(executing_tests) = 0) <> coalesce(tests = 0, false)
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
            adequacy.tests <> tests OR adequacy.passing <> passing OR (passing = 0) <> (tests = 0) OR unstable <> 0
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
            OR (start_builder = '{StartBuilder.AS_IS}' OR gold_adequacy.tests = 0)
                <> (test_patch = '')
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

# -- whole-file maintenance: schemas before 2.4 have none --

_IS_ONE = f"coalesce(family, '') = '{Family.MAINTENANCE}'"
_STAYING = ', '.join(f"'{member}'" for member in STAYING)
_ACTIONS, _ACTIONS_OF_NEW = (
    ', '.join(
        f"('{member}', '{find_expected_action(member, same_text=False, was_there=was_there)}')"
        for member in Label
    )
    for was_there in (True, False)
)
_EACH_MAINTAINED = '(SELECT *, unnest(maintained) AS one FROM tasks)'

MAINTENANCE = (
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
        sql=f"""SELECT task_id, one::VARCHAR FROM {_EACH_MAINTAINED}
            WHERE one.old_method IS NULL AND one.new_method IS NULL
            OR one.label IS NULL AND one.expected_action NOT IN ('{ExpectedAction.KEEP}', '{ExpectedAction.NONE}')
            OR one.label IS NOT NULL AND (one.label, one.expected_action) NOT IN (VALUES {_ACTIONS})
                AND NOT (one.old_method IS NULL
                    AND (one.label, one.expected_action) IN (VALUES {_ACTIONS_OF_NEW}))""",
    ),
    SnapshotRule(
        name='label_missing',
        table='tasks',
        sql=f"""SELECT task_id, one.old_method, one.new_method FROM {_EACH_MAINTAINED} t
            WHERE one.label IS NOT NULL AND NOT EXISTS (FROM methods m
                WHERE m.pair_id = t.pair_id AND m.walk = t.walk AND m.test_file = t.test_file
                AND m.label = one.label
                AND split_part(CASE WHEN m.change = '{MethodChange.DELETED}' THEN one.old_method
                    ELSE one.new_method END, '(', 1)
                    = split_part(m.test_class, '.', -1) || '#' || m.test_method)""",
    ),
)

# -- code for given tests: schemas before 3 have none --

_TARGET, _SIBLING = f"'{TestRole.TARGET}'", f"'{TestRole.SIBLING}'"

IMPLEMENT = (
    SnapshotRule(
        name='demanded',
        table='tasks',
        reads_texts=True,
        sql=f"""SELECT task_id, family FROM tasks
            WHERE ({_IS_CODE}) <> (demanded IS NOT NULL)
            OR ({_IS_CODE}) AND (start_builder <> '{StartBuilder.OLD_CODE}'
                OR start_file_sha256 IS NULL OR test_patch <> '' OR source_patch = ''
                OR len([d FOR d IN demanded IF d.role = {_TARGET}
                    AND d.test_file = test_file]) = 0
                OR len([d FOR d IN demanded IF d.role NOT IN ({_TARGET}, {_SIBLING})
                    OR (d.role = {_TARGET}) <> (d.test_file = test_file)]) > 0)""",
    ),
    SnapshotRule(
        name='demanded_unproven',
        table='tasks',
        sql="""SELECT task_id, one.test_method FROM (SELECT *, unnest(demanded) AS one FROM tasks) t
            WHERE NOT EXISTS (FROM methods m
                WHERE m.method_id = one.method_id AND m.pair_id = t.pair_id AND m.walk = t.walk
                AND m.test_file = one.test_file AND m.task_id IS NOT NULL
                AND m.t_new_c_new = 'pass'
                AND m.t_new_c_old IN ('fail', 'error', 'timeout', 'compile_error'))""",
    ),
)

RULES = (*MUTANTS, *GOLD, *SIBLINGS, *SUITES, *MAINTENANCE, *IMPLEMENT)
