-- Figure 2 of TestEvo-Bench: tasks by the half-year in which their new revision was committed.
-- Reads `tasks`. One row for a walk, half-year (in UTC) and track; what is older than 2015 is `Older`,
-- what Git has no readable date of is `Unknown`. Whole files of a change (`maintenance`) are left out.

SELECT
    walk,
    CASE
        WHEN committed IS NULL THEN 'Unknown'
        WHEN year(committed) < 2015 THEN 'Older'
        ELSE year(committed) || ' H' || (CASE WHEN month(committed) <= 6 THEN 1 ELSE 2 END)
    END AS half_year,
    track,
    count(*) AS tasks
FROM (
    SELECT
        walk::VARCHAR AS walk,
        track::VARCHAR AS track,
        new_committer_date AT TIME ZONE 'UTC' AS committed
    FROM tasks
    WHERE walk = 'single_revision' OR len(method_ids) > 0
)
GROUP BY walk, half_year, track
ORDER BY walk, half_year = 'Unknown', half_year <> 'Older', half_year, track
