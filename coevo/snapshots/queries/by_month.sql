-- Tasks of co-evolution by month. One row for a walk, date, month (in UTC) and track. Reads `tasks`.
--
--   by  `committed`: the month in which the new revision was committed
--       `public`: the month since which the answer may have been public, which a model's training
--       cutoff is compared with
-- A date that is unknown has the month `Unknown`.

SELECT walk, "by", month, track, count(*) AS tasks
FROM (
    SELECT
        walk::VARCHAR AS walk, 'committed' AS "by", track::VARCHAR AS track,
        coalesce(strftime(new_committer_date AT TIME ZONE 'UTC', '%Y-%m'), 'Unknown') AS month
    FROM tasks WHERE coalesce(family::VARCHAR, 'coevolution') = 'coevolution'
    UNION ALL
    SELECT
        walk::VARCHAR, 'public', track::VARCHAR,
        coalesce(strftime(contamination_date AT TIME ZONE 'UTC', '%Y-%m'), 'Unknown')
    FROM tasks WHERE coalesce(family::VARCHAR, 'coevolution') = 'coevolution'
)
GROUP BY walk, "by", month, track
ORDER BY walk, "by", month = 'Unknown', month, track
