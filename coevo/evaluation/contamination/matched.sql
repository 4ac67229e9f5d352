-- Success before a moment minus success after it, in strata of similar tasks: those of one repository and family
-- with gold patches of similar size. The result has a row for each repository with a stratum that has tasks on both
-- sides. `attempted` has a row for each task: task_id, repo, family, changed_lines, date, success (0 to 1).
-- The weight of a stratum is the precision of its difference, b * a / (b + a). The estimate is
-- sum(points) / sum(weight).
WITH strata AS (
    SELECT repo, family,
        CASE WHEN $sized THEN floor(log2(greatest(changed_lines, 1)) / 2) END AS size,
        count(*) FILTER (date < $moment) AS before,
        count(*) FILTER (date >= $moment) AS after,
        avg(success) FILTER (date < $moment) AS success_before,
        avg(success) FILTER (date >= $moment) AS success_after
    FROM attempted
    WHERE date >= $first AND date < $last AND NOT (date >= $gap AND date < $resumed)
    GROUP BY ALL
    HAVING before > 0 AND after > 0
)
SELECT repo,
    sum(before * after / (before + after) * (success_before - success_after)) AS points,
    sum(before * after / (before + after)) AS weight,
    sum(before)::BIGINT AS before,
    sum(after)::BIGINT AS after
FROM strata
GROUP BY repo
ORDER BY repo
