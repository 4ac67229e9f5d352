-- Table 5 of TestEvo-Bench: the repositories that contribute at least one task. One row for a walk
-- and metric. Reads `tasks` and `repositories`. Means are over repositories. Whole files of a change
-- (`maintenance`) are left out.
--
--   commits        pairs with at least one task
--   test_methods   targets of a task, the mean over a repository's tasks
--   Source files   of the language at the head of the walk, and their lines as they stand

WITH of_repository AS (
    SELECT
        walk::VARCHAR AS walk,
        repo,
        count(DISTINCT pair_id) AS commits,
        count(*) AS tasks,
        avg(len(test_methods)) AS test_methods,
        any_value(source_files) AS source_files,
        any_value(source_lines) AS source_lines
    FROM tasks LEFT JOIN repositories USING (repo, language, walk)
    WHERE walk = 'single_revision' OR len(method_ids) > 0
    GROUP BY walk, repo
),
summed AS (
    SELECT
        walk,
        count(*)::DOUBLE AS repositories,
        avg(source_files) AS mean_files,
        avg(source_lines) AS mean_lines,
        avg(commits) AS mean_commits,
        avg(tasks) AS mean_tasks,
        avg(test_methods) AS mean_test_methods
    FROM of_repository
    GROUP BY walk
)
SELECT walk, metric, value FROM (
    SELECT walk, 1 AS place, 'repositories' AS metric, repositories AS value FROM summed
    UNION ALL SELECT walk, 2, 'source files (mean)', round(mean_files, 0) FROM summed
    UNION ALL SELECT walk, 3, 'source lines (mean)', round(mean_lines, 0) FROM summed
    UNION ALL SELECT walk, 4, 'commits (mean)', round(mean_commits, 2) FROM summed
    UNION ALL SELECT walk, 5, 'tasks (mean)', round(mean_tasks, 2) FROM summed
    UNION ALL SELECT walk, 6, 'test methods of a task (mean)', round(mean_test_methods, 2) FROM summed
)
ORDER BY walk, place
