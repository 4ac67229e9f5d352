-- Figures of suites, a block for each family. Reads `suites`: the rows of `suites.parquet`.
--
-- Some published figures are over all suites, with a 0 for each that did not run, others over the suites that ran
-- (AgoneTest, TAM-Eval). So the name of every figure says which it is. A measure that failed is in neither mean and
-- counts as unknown. A class without branches has no share of branches.

-- Each suite, and whether it solves its task: every test passes or, for maintenance, all that had to be done was done
-- and nothing was done wrongly.
CREATE TABLE suite_rows AS
SELECT
    *,
    outcome IN ('success', 'partly', 'regression', 'exec_fail') AS ran,
    len([test FOR test IN tests IF test.passes]) AS passing,
    [
        {
            'expected_action': test.expected_action,
            'outcome': test.outcome,
            'weaker': test.weaker,
            'known': test.outcome <> 'unknown',
            'harmed': test.outcome IN ('weakened', 'broken', 'deleted_wrongly'),
            'wrong': test.outcome IN ('weakened', 'broken', 'deleted_wrongly')
                AND test.expected_action IN ('keep', 'refine')
                OR test.outcome = 'edited' AND test.expected_action = 'keep'
                OR test.outcome IN ('missed', 'deleted_wrongly') AND test.expected_action = 'update'
                OR test.outcome = 'missed' AND test.expected_action = 'remove'
        }
        FOR test IN maintained
    ] AS asked,
    CASE
        WHEN maintained IS NULL THEN outcome = 'success'
        ELSE len([test FOR test IN asked IF test.wrong]) = 0
    END AS solved
FROM suites;

CREATE TABLE judged AS FROM suite_rows WHERE attempt = 1 AND outcome <> 'infra';

CREATE MACRO share(adequacy, measure) AS
CASE measure
    WHEN 'lines' THEN adequacy.covered_lines / nullif(adequacy.lines, 0)
    WHEN 'branches' THEN adequacy.covered_branches / nullif(adequacy.branches, 0)
    WHEN 'methods' THEN adequacy.covered_methods / nullif(adequacy.methods, 0)
    WHEN 'mutation' THEN adequacy.killed / nullif(adequacy.mutants, 0)
END;

-- Measures of suites on the focus of their tasks, if gold has that measure; else there is nothing to measure. A task
-- without gold (a function that no test executes) has them all.
-- A suite without a passing test has the value 0. The gain over its start is 0 if not every test passes (TAM-Eval's
-- ΔTestCov and ΔMutCov).
CREATE TABLE suite_measures AS
SELECT
    family,
    start_builder,
    measure,
    repo,
    ran,
    CASE WHEN ran AND passing > 0 THEN share(adequacy, measure) ELSE 0 END AS worth,
    CASE WHEN start_adequacy IS NULL THEN 0 ELSE share(start_adequacy, measure) END AS start,
    share(gold_adequacy, measure) AS gold,
    CASE
        WHEN start IS NULL THEN NULL
        WHEN outcome <> 'success' THEN 0
        ELSE share(adequacy, measure) - start
    END AS gain
FROM judged, (VALUES ('lines'), ('branches'), ('methods'), ('mutation')) AS measures (measure)
WHERE share(gold_adequacy, measure) IS NOT NULL OR gold_adequacy.tests = 0;

-- The same measures for the whole family and, where it is known, for each kind of start.
CREATE TABLE placed_measures AS
SELECT [measure] AS heading, * FROM suite_measures
UNION ALL
SELECT ['starts', start_builder, measure], *
FROM suite_measures
WHERE start_builder IS NOT NULL AND measure IN ('lines', 'mutation');

-- Smells are counted as in AgoneTest: the number of tests of a suite with each smell. For a suite that ran they are
-- known only if every test was checked.
CREATE TABLE smelly_suites AS
SELECT family, repo, ran, smell, len([test FOR test IN tests IF list_contains(test.smells, smell)])::DOUBLE AS number
FROM (
    SELECT *
    FROM judged
    WHERE NOT ran OR len([test FOR test IN tests IF test.smells IS NULL]) = 0
)
JOIN (
    SELECT DISTINCT family, unnest(flatten([test.smells FOR test IN tests])) AS smell
    FROM judged
    WHERE ran AND len([test FOR test IN tests IF test.smells IS NULL]) = 0
) USING (family);

-- Compile errors of tests: each error counts once for a suite, however many tests it breaks. The code of a file that
-- cannot be parsed is `unreadable`, since its tests cannot be found.
CREATE TABLE suite_errors AS
SELECT DISTINCT family, task_id, test.error_class AS class, coalesce(test.signature, '') AS signature
FROM (SELECT family, task_id, unnest(tests) AS test FROM judged)
WHERE test.error_class IS NOT NULL
UNION
SELECT family, task_id, 'syntax', 'unreadable' FROM judged WHERE outcome = 'cmpl_fail' AND len(tests) = 0;

-- Suites with tests whose assertions are all counted (TAM-Eval, VI.B).
CREATE TABLE asserting_suites AS
SELECT
    family,
    repo,
    len(tests)::DOUBLE AS tests,
    list_sum([test.assertions FOR test IN tests])::DOUBLE AS assertions,
    list_sum([test.lines FOR test IN tests]) AS lines
FROM judged
WHERE len(tests) > 0 AND len([test FOR test IN tests IF test.assertions IS NULL]) = 0;

-- The tests of maintenance tasks, each with its expected action and outcome.
CREATE TABLE maintained_tests AS
SELECT family, repo, unnest(asked) AS test FROM judged;

-- The tests beside the targets by which submitted code was graded.
CREATE TABLE demanded_tests AS
SELECT family, repo, unnest(demanded) AS test FROM judged;

-- -- figures --------------------------------------------------------------------------------------

CREATE VIEW suite_scores AS
SELECT family, repo, ['success'] AS heading, (outcome = 'success')::DOUBLE AS score FROM judged
UNION ALL
SELECT family, repo, ['starts', start_builder, 'success'], (outcome = 'success')::DOUBLE
FROM judged
WHERE start_builder IS NOT NULL
UNION ALL
SELECT family, repo, ['ran'], ran::DOUBLE FROM judged
UNION ALL
SELECT family, repo, ['builds'], coalesce(builds, false)::DOUBLE FROM judged
UNION ALL
SELECT family, repo, ['passing'], coalesce(passing / nullif(len(tests), 0), 0) FROM judged
UNION ALL
SELECT
    family,
    repo,
    ['unique_lines'],
    CASE WHEN passing > 0 THEN reach.unique_lines ELSE 0 END / nullif(coalesce(gold_adequacy.lines, adequacy.lines), 0)
FROM judged
UNION ALL
-- the share of failing tests whose cause another failing test shares
SELECT family, repo, ['cascading'], len([test FOR test IN broken IF test.cascade IS NOT NULL]) / nullif(len(broken), 0)
FROM (
    SELECT *, [test FOR test IN tests IF test.outcome <> 'skipped' AND NOT test.passes] AS broken
    FROM judged
    WHERE ran
)
UNION ALL
SELECT family, repo, ['passing_alone'], len([test FOR test IN alone IF test.passes]) / nullif(len(alone), 0)
FROM (SELECT *, [test FOR test IN tests IF test.cascade IS NULL] AS alone FROM judged WHERE ran)
UNION ALL
SELECT family, repo, heading || ['over_all'], worth FROM placed_measures
UNION ALL
SELECT family, repo, heading || ['over_ran'], worth FROM placed_measures WHERE ran
UNION ALL
SELECT family, repo, heading || ['start'], coalesce(start, 0) FROM placed_measures WHERE worth IS NOT NULL
UNION ALL
SELECT family, repo, heading || ['gold'], gold FROM placed_measures WHERE worth IS NOT NULL
UNION ALL
SELECT family, repo, heading || ['gain'], gain FROM placed_measures
UNION ALL
SELECT family, repo, ['texts', 'smells', smell, 'over_all'], CASE WHEN ran THEN number ELSE 0 END FROM smelly_suites
UNION ALL
SELECT family, repo, ['texts', 'smells', smell, 'over_ran'], number FROM smelly_suites WHERE ran
UNION ALL
SELECT family, repo, ['texts', 'assertions', figure], CASE figure
        WHEN 'tests' THEN tests
        WHEN 'of_suite' THEN assertions
        WHEN 'of_test' THEN assertions / tests
        ELSE assertions / nullif(lines, 0)
    END
FROM asserting_suites, (VALUES ('tests'), ('of_suite'), ('of_test'), ('of_line')) AS figures (figure)
UNION ALL
-- not over successes without tests that are not shown
SELECT family, repo, ['implement', 'strict'], success_strict::DOUBLE FROM judged WHERE success_strict IS NOT NULL
UNION ALL
SELECT family, repo, ['implement', 'overfitted'], (NOT success_strict)::DOUBLE
FROM judged
WHERE outcome = 'success' AND success_strict IS NOT NULL
UNION ALL
SELECT
    family,
    repo,
    ['implement', CASE test.role WHEN 'kept' THEN 'kept' WHEN 'sibling' THEN 'siblings' ELSE 'variants' END],
    test.holds::DOUBLE
FROM demanded_tests
UNION ALL
-- over tasks with at least one test to update
SELECT family, repo, ['maintenance', 'done'], solved::DOUBLE
FROM judged
WHERE len([test FOR test IN asked IF test.expected_action = 'update' AND test.known]) > 0
UNION ALL
SELECT family, repo, ['maintenance', rate], CASE rate
        WHEN 'harmed' THEN test.harmed
        WHEN 'wrong_deletions' THEN test.outcome = 'deleted_wrongly'
        WHEN 'additions' THEN test.outcome = 'added'
        ELSE test.wrong
    END::DOUBLE
FROM maintained_tests
JOIN (
    VALUES
        ('missed_updates', ['update']),
        ('false_edits', ['keep']),
        ('harmed', ['keep', 'refine']),
        ('wrong_deletions', ['keep', 'refine', 'update']),
        ('missed_deletions', ['remove']),
        ('additions', ['add'])
) AS rates (rate, actions) ON list_contains(actions, test.expected_action)
WHERE test.known;

CREATE VIEW samples_of_suites AS
SELECT ['families', family] || heading AS path, repo, [score] AS sample FROM suite_scores WHERE score IS NOT NULL;

CREATE VIEW counts_of_suites AS
SELECT ['families', family, 'tasks'] AS path, count(*) AS number FROM judged GROUP BY family
UNION ALL
SELECT ['families', family, 'repositories'], count(DISTINCT repo) FROM judged GROUP BY family
UNION ALL
SELECT ['families', family, 'infra'], count(*) FILTER (outcome = 'infra')
FROM suite_rows
WHERE attempt = 1
GROUP BY family
UNION ALL
SELECT ['families', family, 'outcomes', outcome], count(*) FROM judged GROUP BY ALL
UNION ALL
SELECT ['families', family, 'details', detail], count(*)
FROM suite_rows
WHERE attempt = 1 AND detail IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'starts', start_builder, 'tasks'], count(*)
FROM judged
WHERE start_builder IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT ['families', family] || heading || ['unknown'], count(*) FILTER (worth IS NULL)
FROM placed_measures
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'texts', 'smells_unknown'], count(*)
FROM judged
WHERE ran AND len([test FOR test IN tests IF test.smells IS NULL]) > 0
GROUP BY family
UNION ALL
SELECT ['families', family, 'texts', 'fixes', fix.rule], count(*)
FROM (SELECT family, unnest(fixes) AS fix FROM judged)
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'texts', 'errors', class, 'suites'], count(DISTINCT task_id) FROM suite_errors GROUP BY ALL
UNION ALL
SELECT ['families', family, 'texts', 'errors', class, 'errors'], count(*) FROM suite_errors GROUP BY ALL
UNION ALL
-- the code of an error is the part of its signature before the symbol or the place
SELECT ['families', family, 'texts', 'errors', class, 'codes', code], count(*)
FROM (SELECT *, split_part(split_part(split_part(signature, ' ', 1), '@', 1), ':', 1) AS code FROM suite_errors)
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'texts', 'failures', split_part(coalesce(nullif(test.signature, ''), '?'), '@', 1)], count(*)
FROM (SELECT family, unnest(tests) AS test FROM judged)
WHERE test.outcome IN ('fail', 'error')
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'maintenance', 'outcomes', test.expected_action || ' ' || test.outcome], count(*)
FROM maintained_tests
GROUP BY ALL
UNION ALL
SELECT ['families', family, 'maintenance', 'unknown'], count(*) FROM maintained_tests WHERE NOT test.known GROUP BY ALL
UNION ALL
SELECT ['families', family, 'maintenance', 'strength_unknown'], count(*)
FROM maintained_tests
WHERE test.outcome = 'edited' AND test.weaker IS NULL
GROUP BY ALL;

CREATE VIEW words_of_suites AS
SELECT DISTINCT ['families', family, 'family'] AS path, family AS word FROM suite_rows WHERE attempt = 1
UNION ALL
SELECT DISTINCT ['families', family, 'starts', start_builder, 'start_builder'], start_builder
FROM judged
WHERE start_builder IS NOT NULL
UNION ALL
SELECT ['families', family, 'starts', start_builder, 'scenario'], first(scenario ORDER BY task_id)
FROM judged
WHERE start_builder IS NOT NULL
GROUP BY family, start_builder
UNION ALL
SELECT DISTINCT ['families', family, 'maintenance'], NULL FROM judged WHERE maintained IS NOT NULL
UNION ALL
SELECT DISTINCT ['families', family, 'implement'], NULL FROM judged WHERE family = 'implement';
