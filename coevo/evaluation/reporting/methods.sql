-- Figures of test methods, over first attempts. Reads `methods`: the rows of results, each with the number of its
-- `evaluation`. The module figures.py explains the views.
--
-- A score is a share from 0 to 1, or null if it could not be measured: the paper's ⊥ (TestEvo-Bench, §4.3,
-- A.4 to A.6). Scores of a submitted test are known only if it passes on the new code; Redundant is included.
-- Trouble of coevo's own (`infra`) is in no denominator: a task counts by its other methods, and not at all if it
-- has none.

CREATE TABLE scored AS
SELECT
    *,
    -- over the executable lines of the changed dependencies, and over all lines of their ranges, as A.4 prints Eq. 1
    worth.coverage_pred.covered_lines / nullif(worth.coverage_pred.known_lines, 0) AS coverage_pred,
    worth.coverage_gold.covered_lines / nullif(worth.coverage_gold.known_lines, 0) AS coverage_gold,
    worth.coverage_pred.covered_lines / nullif(worth.coverage_pred.lines, 0) AS range_coverage_pred,
    worth.coverage_gold.covered_lines / nullif(worth.coverage_gold.lines, 0) AS range_coverage_gold,
    -- over the released mutants (A.5, Eqs. 3 and 4); gold's score counts whatever the submitted test does (A.6)
    worth.mutants.pred / nullif(worth.mutants.count, 0) AS mutation_pred,
    CASE
        WHEN worth.mutants IS NOT NULL THEN worth.mutants.gold / nullif(worth.mutants.count, 0)
        WHEN mutation_gold.not_run = 0 THEN mutation_gold.killed / nullif(mutation_gold.count, 0)
    END AS mutation_of_gold,
    worth.mutants.both / nullif(worth.mutants.gold, 0) AS relative_kill,
    -- true if the miner left out mutants
    coalesce(mutation_gold.not_run > 0, false) AS left_out,
    worth.pit.pred / nullif(worth.pit.count, 0) AS pit_pred,
    worth.pit.gold / nullif(worth.pit.count, 0) AS pit_gold
FROM (
    SELECT
        * EXCLUDE (said, output),
        outcome IN ('success', 'redundant', 'weakened') AS passes,
        CASE WHEN passes THEN adequacy END AS worth
    FROM methods
    WHERE attempt = 1
);

-- The methods that count. If methods pass and their adequacy or strict success was not measured for any of them, the
-- figure is not 0 but unknown for the whole track.
CREATE TABLE graded AS
SELECT
    *,
    NOT bool_or(passes) OVER track_rows
        OR bool_or(worth.coverage_pred IS NOT NULL OR worth.coverage_gold IS NOT NULL) OVER track_rows
        AS coverage_known,
    NOT left_out AND bool_or(
        NOT left_out AND (mutation_gold IS NOT NULL OR adequacy.mutants IS NOT NULL)
    ) OVER track_rows AS mutants_known,
    mutants_known AND (
        NOT bool_or(passes AND NOT left_out) OVER track_rows
        OR bool_or(NOT left_out AND worth IS NOT NULL) OVER track_rows
    ) AS kills_known,
    strict_askable AND success_strict IS NOT NULL AND (
        NOT bool_or(strict_askable AND outcome = 'success') OVER track_rows
        OR bool_or(strict_askable AND outcome = 'success' AND success_strict IS NOT NULL) OVER track_rows
    ) AS strict_known,
    NOT bool_or(passes) OVER track_rows
        OR bool_or(passes AND vacuous IS NOT NULL) OVER track_rows AS vacuous_known
FROM scored
WHERE outcome <> 'infra'
WINDOW track_rows AS (PARTITION BY track);

-- Scores whose mean over the methods of a task is a sample of a mean over tasks. The paper's wide fields count ⊥ as 0;
-- the others are over methods that have a score.
CREATE TABLE task_scores AS
UNPIVOT (
    SELECT
        track,
        task_id,
        repo,
        CASE WHEN coverage_known THEN coalesce(coverage_pred, 0) END AS "fields.avg_coverage_pred",
        coverage_pred AS "fields.avg_coverage_pred_success",
        CASE WHEN coverage_known THEN coalesce(coverage_gold, 0) END AS "fields.avg_coverage_gold",
        coverage_gold AS "fields.avg_coverage_gold_success",
        CASE WHEN coverage_known THEN coalesce(range_coverage_pred, 0) END AS "fields.avg_range_coverage_pred",
        range_coverage_pred AS "fields.avg_range_coverage_pred_success",
        CASE WHEN coverage_known THEN coalesce(range_coverage_gold, 0) END AS "fields.avg_range_coverage_gold",
        range_coverage_gold AS "fields.avg_range_coverage_gold_success",
        CASE WHEN kills_known THEN coalesce(mutation_pred, 0) END AS "fields.avg_mutation_score_pred",
        CASE WHEN kills_known THEN mutation_pred END AS "fields.avg_mutation_score_pred_success",
        CASE WHEN mutants_known THEN coalesce(mutation_of_gold, 0) END AS "fields.avg_mutation_score_gold",
        CASE WHEN mutants_known THEN mutation_of_gold END AS "fields.avg_mutation_score_gold_success",
        "fields.avg_coverage_pred" AS "coverage.wide",
        coverage_pred AS "coverage.pred",
        CASE WHEN coverage_pred IS NOT NULL THEN coverage_gold END AS "coverage.gold",
        "coverage.gold" AS "coverage.delta.first",
        CASE WHEN coverage_gold IS NOT NULL THEN coverage_pred END AS "coverage.delta.second",
        "fields.avg_range_coverage_pred" AS "range_coverage.wide",
        range_coverage_pred AS "range_coverage.pred",
        CASE WHEN range_coverage_pred IS NOT NULL THEN range_coverage_gold END AS "range_coverage.gold",
        "range_coverage.gold" AS "range_coverage.delta.first",
        CASE WHEN range_coverage_gold IS NOT NULL THEN range_coverage_pred END AS "range_coverage.delta.second",
        "fields.avg_mutation_score_pred" AS "mutation.wide",
        "fields.avg_mutation_score_pred_success" AS "mutation.pred",
        CASE WHEN kills_known AND mutation_pred IS NOT NULL THEN mutation_of_gold END AS "mutation.gold",
        "mutation.gold" AS "mutation.delta.first",
        CASE WHEN kills_known AND mutation_of_gold IS NOT NULL THEN mutation_pred END AS "mutation.delta.second",
        -- over methods of which it can be asked and is known
        CASE WHEN strict_known THEN success_strict::DOUBLE END AS "beyond.success_strict",
        CASE WHEN vacuous_known THEN coalesce(vacuous::DOUBLE, 0) END AS "beyond.vacuous",
        relative_kill AS "beyond.relative_kill",
        worth.coverage_pred.covered_branches / nullif(worth.coverage_pred.branches, 0)
            AS "beyond.branch_coverage_pred",
        worth.coverage_gold.covered_branches / nullif(worth.coverage_gold.branches, 0)
            AS "beyond.branch_coverage_gold",
        worth.reversals.pred / nullif(worth.reversals.count, 0) AS "beyond.reversals_pred",
        worth.reversals.gold / nullif(worth.reversals.count, 0) AS "beyond.reversals_gold",
        oracle_preserved::DOUBLE AS "beyond.oracle_preserved",
        (worth.oracle.count - worth.oracle.lost) / nullif(worth.oracle.count, 0)
            AS "beyond.oracle_preservation",
        worth.mutants.count::DOUBLE AS "beyond.mutants",
        -- null if the language of the test offers no smells
        CASE WHEN NOT list_contains(worth.smells_pred, 'not_offered') THEN len(worth.smells_pred) END::DOUBLE
            AS "beyond.smells_pred",
        CASE WHEN NOT list_contains(worth.smells_gold, 'not_offered') THEN len(worth.smells_gold) END::DOUBLE
            AS "beyond.smells_gold"
    FROM graded
) ON COLUMNS(* EXCLUDE (track, task_id, repo)) INTO NAME figure VALUE score;

-- -- outcomes -------------------------------------------------------------------------------------

-- The tasks of each track in which the cost of at least one is known.
CREATE TABLE task_costs AS
SELECT
    track,
    task_id,
    min(repo) AS repo,
    first(cost_usd ORDER BY test_method, method_id) AS cost_usd,
    first(tokens ORDER BY test_method, method_id)::DOUBLE AS tokens
FROM graded
GROUP BY track, task_id
QUALIFY bool_or(first(cost_usd ORDER BY test_method, method_id) IS NOT NULL) OVER (PARTITION BY track);

-- Caps applied afterwards (Table 10). A task above a cap is HrnsFail, whatever its patch does. So is a task of unknown
-- cost, so that it does not pay to leave out the cost.
CREATE TABLE caps AS
SELECT track, place, cap_usd
FROM (SELECT DISTINCT track FROM task_costs), (VALUES ('1', 3.0), ('2', 1.0), ('3', 0.5)) AS caps (place, cap_usd);

-- The outcome of each method under every heading to which it counts. Half-years (Figure 4) are in UTC and in order of
-- time, named as in `figure_2` of a snapshot's statistics; those with few methods are left out.
CREATE TABLE counted AS
SELECT track, []::VARCHAR[] AS heading, NULL AS name, '' AS suffix, task_id, repo, outcome FROM graded
UNION ALL BY NAME
SELECT track, []::VARCHAR[] AS heading, '_by_module' AS suffix, task_id, repo, outcome_by_module AS outcome
FROM scored
WHERE outcome_by_module <> 'infra'
UNION ALL BY NAME
SELECT
    track,
    ['half_years', (name = 'Unknown')::INT || (name <> 'Older')::INT || name] AS heading,
    name,
    '' AS suffix,
    task_id,
    repo,
    outcome
FROM (
    SELECT
        *,
        make_timestamp(epoch_us(new_date)) AS committed,
        CASE
            WHEN committed IS NULL THEN 'Unknown'
            WHEN year(committed) < 2015 THEN 'Older'
            ELSE year(committed) || ' H' || (CASE WHEN month(committed) <= 6 THEN 1 ELSE 2 END)
        END AS name
    FROM graded
)
QUALIFY count(*) OVER (PARTITION BY track, name) >= 20
UNION ALL BY NAME
SELECT track, coalesce(cause, 'unknown') AS name, ['causes', name] AS heading, '' AS suffix, task_id, repo, outcome
FROM graded
UNION ALL BY NAME
SELECT
    track,
    ['costs', 'caps', place] AS heading,
    '' AS suffix,
    task_id,
    repo,
    CASE WHEN cost_usd <= cap_usd THEN outcome ELSE 'hrns_fail' END AS outcome
FROM graded
JOIN caps USING (track);

CREATE VIEW rates AS
SELECT
    counted.* EXCLUDE (outcome),
    rate,
    (outcome = rate)::DOUBLE AS score
FROM counted,
    (
        VALUES ('success'), ('redundant'), ('weakened'), ('exec_fail'), ('cmpl_fail'), ('hrns_fail')
    ) AS rates (rate)
WHERE
    (rate <> 'redundant' OR track IN ('generation', 'extension'))
    AND (rate <> 'weakened' OR track = 'extension');

-- -- figures --------------------------------------------------------------------------------------

CREATE VIEW samples_of_methods AS
SELECT ['tracks', track] || string_split(figure, '.') AS path, min(repo) AS repo, list(score) AS sample
FROM task_scores
GROUP BY track, figure, task_id
UNION ALL
SELECT ['tracks', track] || heading || ['macro' || suffix, rate], min(repo), list(score)
FROM rates
WHERE heading[1] IS DISTINCT FROM 'costs'
GROUP BY track, heading, suffix, rate, task_id
UNION ALL
SELECT ['tracks', track] || heading || ['micro' || suffix, rate], repo, [score] FROM rates
UNION ALL
-- an empty figure for a track in which coevo's own trouble hit every method
SELECT ['tracks', track, average || suffix, rate], NULL, NULL
FROM (SELECT DISTINCT track, rate FROM scored, (VALUES ('redundant'), ('weakened')) AS own (rate)
    WHERE track = 'extension' OR (track = 'generation' AND rate = 'redundant')),
    (VALUES ('macro'), ('micro')) AS averages (average), (VALUES (''), ('_by_module')) AS verdicts (suffix)
UNION ALL
SELECT ['tracks', track, 'costs', 'caps', place, 'avg_tokens'], repo, [tokens]
FROM task_costs
JOIN caps USING (track)
WHERE cost_usd <= cap_usd AND tokens IS NOT NULL
UNION ALL
SELECT ['tracks', track, 'costs', 'caps', place, 'avg_cost_usd'], repo, [cost_usd]
FROM task_costs
JOIN caps USING (track)
WHERE cost_usd <= cap_usd
UNION ALL
SELECT ['tracks', track, 'pit', side], repo, [CASE side WHEN 'pred' THEN pit_pred ELSE pit_gold END]
FROM graded, (VALUES ('pred'), ('gold')) AS sides (side)
WHERE pit_pred IS NOT NULL AND pit_gold IS NOT NULL;

CREATE VIEW track_counts AS
UNPIVOT (
    SELECT
        track,
        count(DISTINCT task_id) FILTER (outcome <> 'infra') AS "tasks",
        count(*) FILTER (outcome <> 'infra') AS "methods",
        count(DISTINCT repo) FILTER (outcome <> 'infra') AS "repositories",
        count(DISTINCT task_id) FILTER (outcome = 'infra') AS "infra_tasks",
        count(*) FILTER (outcome = 'infra') AS "infra_methods",
        count(*) FILTER (outcome <> 'infra' AND strict_askable) AS "beyond.strict_askable",
        count(*) FILTER (outcome <> 'infra' AND strict_askable AND success_strict IS NULL)
            AS "beyond.success_strict_unknown",
        count(*) FILTER (passes AND vacuous IS NULL) AS "beyond.vacuous_unknown"
    FROM scored
    GROUP BY track
) ON COLUMNS(* EXCLUDE (track)) INTO NAME figure VALUE number;

-- The cost curve (Figure 5). Tasks without a known cost count in the denominator only.
CREATE TABLE cost_curve AS
SELECT
    track,
    printf('%012d', row_number() OVER by_cost) AS place,
    cost_usd,
    sum(count(cost_usd)) OVER by_cost / any_value(tasks) AS share
FROM (SELECT track, cost_usd, count(*) OVER (PARTITION BY track) AS tasks FROM task_costs)
WHERE cost_usd IS NOT NULL
GROUP BY track, cost_usd
WINDOW by_cost AS (PARTITION BY track ORDER BY cost_usd);

CREATE VIEW counts_of_methods AS
SELECT ['tracks', track] || string_split(figure, '.') AS path, number FROM track_counts
UNION ALL
SELECT ['tracks', track, 'details', detail], count(*) FROM scored WHERE detail IS NOT NULL GROUP BY ALL
UNION ALL
SELECT ['tracks', track, 'exits', exit_status], count(*)
FROM (
    SELECT track, last(exit_status ORDER BY test_method, method_id) AS exit_status
    FROM scored
    GROUP BY track, task_id
)
WHERE exit_status IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT ['tracks', track, 'beyond', 'smells', smell, side], count(*)
FROM (
    SELECT track, 'pred' AS side, unnest(worth.smells_pred) AS smell FROM graded
    UNION ALL
    SELECT track, 'gold', unnest(worth.smells_gold) FROM graded
)
GROUP BY ALL
UNION ALL
SELECT ['tracks', track] || heading || ['tasks'], count(DISTINCT task_id)
FROM counted
WHERE name IS NOT NULL
GROUP BY track, heading
UNION ALL
SELECT ['tracks', track] || heading || ['methods'], count(*)
FROM counted
WHERE name IS NOT NULL
GROUP BY track, heading
UNION ALL
SELECT ['tracks', track, 'costs', 'tasks'], count(*) FROM task_costs GROUP BY track
UNION ALL
SELECT ['tracks', track, 'costs', 'tasks_without_cost'], count(*) - count(cost_usd) FROM task_costs GROUP BY track
UNION ALL
SELECT ['tracks', track, 'costs', 'caps', place, 'tasks_within'], count(*) FILTER (cost_usd <= cap_usd)
FROM task_costs
JOIN caps USING (track)
GROUP BY ALL
UNION ALL
SELECT ['tracks', track, 'pit', 'troubles', trouble], count(*)
FROM (SELECT track, coalesce(worth.pit.trouble_pred, worth.pit.trouble_gold) AS trouble FROM graded)
WHERE trouble IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT ['tracks', track, 'costs', 'curve', place, 'cost_usd'], cost_usd FROM cost_curve
UNION ALL
SELECT ['tracks', track, 'costs', 'curve', place, 'share'], share FROM cost_curve
UNION ALL
SELECT DISTINCT ['tracks', track, 'costs', 'caps', place, 'cap_usd'], cap_usd FROM caps
UNION ALL
SELECT ['tracks', track, 'costs', 'caps', place, 'kept'], count(*) FILTER (cost_usd <= cap_usd) / count(*)
FROM task_costs
JOIN caps USING (track)
GROUP BY ALL;

CREATE VIEW words_of_methods AS
SELECT DISTINCT ['tracks', track, 'track'] AS path, track AS word FROM scored
UNION ALL
SELECT DISTINCT ['tracks', track] || heading || ['name'], name FROM counted WHERE name IS NOT NULL
UNION ALL
-- PIT ran, even if nothing is known of either test
SELECT DISTINCT ['tracks', track, 'pit'], NULL FROM graded WHERE worth.pit IS NOT NULL;
