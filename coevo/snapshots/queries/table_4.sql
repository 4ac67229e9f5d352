-- Table 4 of TestEvo-Bench: mutants of the gold tests. One row for a walk and
-- track. Reads `tasks` and `methods`: the target test methods of tasks.
--
--   methods_with_mutants  those for which at least one mutant was kept (A.5: `count`)
--   generated_per_method  mean of `count` over these
--   killed_per_method     mean of `killed` over those of these that could be measured
--   kill_rate             killed, of all mutants of the methods that could be measured
--   mutants_not_run       those of methods left out by lot, for the most runs of a pair; the paper has none

WITH targets AS (
    SELECT task_id, walk, track, unnest(method_ids) AS method_id FROM tasks
),
measured AS (
    SELECT
        walk::VARCHAR AS walk,
        targets.track::VARCHAR AS track,
        targets.task_id,
        mutation."count" AS made,
        mutation.not_run AS not_run,
        mutation.killed AS killed
    FROM targets JOIN methods USING (method_id, walk)
)
SELECT
    walk,
    track,
    count(*) AS test_methods,
    count(DISTINCT task_id) AS tasks,
    count(*) FILTER (made > 0) AS methods_with_mutants,
    round(count(*) FILTER (made > 0) / count(*), 3) AS share_with_mutants,
    round(avg(made) FILTER (made > 0), 2) AS generated_per_method,
    round(avg(killed) FILTER (made > 0 AND not_run = 0), 2) AS killed_per_method,
    round(
        sum(killed) FILTER (not_run = 0)
        / nullif(sum(made) FILTER (not_run = 0 AND killed IS NOT NULL), 0), 3
    ) AS kill_rate,
    coalesce(sum(not_run), 0)::BIGINT AS mutants_not_run
FROM measured
GROUP BY walk, track
ORDER BY walk, track
