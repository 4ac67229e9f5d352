-- Tasks of co-evolution by language and by the half-year in which their new revision was committed. Reads
-- `tasks`. What is older than 2015 is `Older`, what Git has no readable date of is `Unknown`.

SELECT
    CASE
        WHEN committed IS NULL THEN 'Unknown'
        WHEN year(committed) < 2015 THEN 'Older'
        ELSE year(committed) || ' H' || (CASE WHEN month(committed) <= 6 THEN 1 ELSE 2 END)
    END AS half_year,
    count(*) FILTER (language = 'go') AS go,
    count(*) FILTER (language = 'java') AS java,
    count(*) FILTER (language = 'python') AS python,
    count(*) AS tasks
FROM (
    SELECT language::VARCHAR AS language, new_committer_date AT TIME ZONE 'UTC' AS committed
    FROM tasks
    WHERE coalesce(family::VARCHAR, 'coevolution') = 'coevolution'
)
GROUP BY half_year
ORDER BY half_year = 'Unknown', half_year <> 'Older', half_year
