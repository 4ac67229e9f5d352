-- The funnel, over all walks: what entered each stage, what it kept, and why the rest left.
-- Reads `repositories`, `pairs`, `methods`, `single_revision`, `tasks` and `drops`. One row for a stage and reason; a stage
-- that dropped nothing has one row without a reason. The unit changes from commits to pairs, to test
-- methods, to test files of revisions, to tasks, and in each stage entered = kept + the sum of dropped.

WITH counted AS (
    SELECT stage::VARCHAR AS stage, reason, count(*) AS dropped FROM drops GROUP BY ALL
),
total AS (SELECT stage, sum(dropped)::BIGINT AS dropped FROM counted GROUP BY stage),
dropped_pairs AS (SELECT DISTINCT key AS pair_id, walk FROM drops WHERE stage = 'pair'),
lost AS (
    SELECT
        coalesce(sum(dropped) FILTER (stage = 'pair'), 0) AS pair,
        coalesce(sum(dropped) FILTER (stage = 'filter'), 0) AS filter,
        coalesce(sum(dropped) FILTER (stage = 'publish'), 0) AS publish,
        coalesce(sum(dropped) FILTER (stage = 'track'), 0) AS track
    FROM total
),
kept (place, stage, unit, kept) AS (
    SELECT 1, 'walk', 'commit', (SELECT coalesce(sum(commits_kept), 0) FROM repositories)
    UNION ALL
    SELECT 2, 'pair', 'pair', (SELECT count(*) FROM pairs) - (SELECT pair FROM lost)
    UNION ALL
    SELECT 3, 'filter', 'method', (
        SELECT coalesce(sum(candidates), 0) FROM pairs ANTI JOIN dropped_pairs USING (pair_id, walk)
    ) - (SELECT filter FROM lost)
    UNION ALL
    SELECT 4, 'label', 'method', (SELECT count(*) FROM methods) + (SELECT publish FROM lost)
    UNION ALL
    SELECT 5, 'publish', 'method', (SELECT count(*) FROM methods)
    UNION ALL
    SELECT 6, 'track', 'method', (
        SELECT count(*) FROM methods WHERE label IN ('generation', 'update', 'extension', 'repair')
    ) - (SELECT track FROM lost)
    UNION ALL
    SELECT 7, 'single_revision', 'test_file', (SELECT count(*) FROM single_revision WHERE task_id IS NOT NULL)
    UNION ALL
    SELECT 8, 'task', 'task', (SELECT count(*) FROM tasks)
)
SELECT
    kept.stage,
    kept.unit,
    (kept.kept + coalesce(total.dropped, 0))::BIGINT AS entered,
    kept.kept::BIGINT AS kept,
    counted.reason,
    counted.dropped
FROM kept
LEFT JOIN total USING (stage)
LEFT JOIN counted USING (stage)
-- Where nobody has asked for test files there is no stage for them.
WHERE kept.stage <> 'single_revision' OR kept.kept > 0 OR total.dropped > 0
ORDER BY place, counted.dropped DESC, counted.reason
