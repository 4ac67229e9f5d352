-- Success before a moment less success after it, among tasks that are alike: of one repository and family,
-- with a gold patch of like size. A row for each repository that has tasks on both sides in one such stratum.
-- `attempted` has a row for each task: task_id, repo, family, changed_lines, date, success (0 to 1).
-- Each stratum weighs as its difference is precise, b * a / (b + a); sum(points) / sum(weight) is the estimate.
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
