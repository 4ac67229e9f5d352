-- The project's own command as the umpire: how often it was asked, how often it ran, and the share of the
-- methods that were run here about which it disagrees. Reads `pairs`, `methods` and `drops`. One row for a
-- language. Revisions are ends of pairs; one that several pairs share counts for each.

WITH asked AS (
    SELECT
        language,
        count(umpire_old) + count(umpire_new) AS revisions_asked,
        count(*) FILTER (umpire_old = 'ran') + count(*) FILTER (umpire_new = 'ran') AS revisions_run
    FROM pairs
    GROUP BY language
),
outcomes AS (
    SELECT p.language, d.reason
    FROM drops d JOIN pairs p USING (pair_id, walk)
    WHERE d.stage = 'label'
    UNION ALL
    SELECT p.language, NULL
    FROM methods JOIN pairs p USING (pair_id, walk)
),
counted AS (
    SELECT language, count(*) AS methods, count(*) FILTER (reason = 'unlike_the_project') AS unlike_the_project
    FROM outcomes
    GROUP BY language
)
SELECT
    asked.language,
    asked.revisions_asked,
    asked.revisions_run,
    coalesce(counted.methods, 0) AS methods,
    coalesce(counted.unlike_the_project, 0) AS unlike_the_project,
    round(100 * counted.unlike_the_project / nullif(counted.methods, 0), 2) AS percent
FROM asked
LEFT JOIN counted USING (language)
ORDER BY asked.language
