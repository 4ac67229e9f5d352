-- How many tasks the view `verified` has, by language and track. One row for each, and one for all.
-- Reads `standard_tasks`, `verified` and `methods`.
--
--   measured  of `standard_tasks`, those whose gold was run with mutants and undone changes, and repairs, which need
--             neither; no other can be verified
--   percent   verified tasks, of those that are measured

WITH standard AS (
    SELECT
        task_id,
        language::VARCHAR AS language,
        track::VARCHAR AS track,
        task_id IN (SELECT task_id FROM methods WHERE measured) OR track = 'repair' AS measured,
        task_id IN (SELECT task_id FROM verified) AS is_verified
    FROM standard_tasks
)
SELECT
    coalesce(language, 'all') AS language,
    coalesce(track, 'all') AS track,
    count(*) AS standard_tasks,
    count(*) FILTER (measured) AS measured,
    count(*) FILTER (is_verified) AS verified,
    round(100 * count(*) FILTER (is_verified) / nullif(count(*) FILTER (measured), 0), 1) AS percent
FROM standard
GROUP BY GROUPING SETS ((language, track), ())
ORDER BY ALL
