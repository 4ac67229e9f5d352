-- What the executions say of test methods: methods by label, track and cause.
-- One row for a walk and each of these, without pairs of branches that interleave. Reads `methods`. A label without a track is no task; its cause often says why.

SELECT
    walk::VARCHAR AS walk,
    coalesce(label::VARCHAR, 'none') AS label,
    track::VARCHAR AS track,
    cause::VARCHAR AS cause,
    count(*) AS methods,
    count(DISTINCT repo) AS repositories
FROM methods
WHERE old_is_ancestor IS NOT false
GROUP BY ALL
ORDER BY walk, methods DESC, label, track, cause
