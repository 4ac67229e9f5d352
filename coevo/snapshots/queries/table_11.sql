-- Table 11 of TestEvo-Bench: the classes of test-update identification under both labellings.
-- One row for a walk, labelling and class. Reads `methods`; a task is what one label makes of one test file in one pair.
-- Which methods count and why is said in identification.sql, of which this is the short form.

WITH labelled AS (
    SELECT
        walk::VARCHAR AS walk,
        repo,
        (pair_id, test_file, label::VARCHAR) AS task,
        CASE WHEN change = 'changed' THEN 'positive' ELSE 'negative' END AS static,
        CASE WHEN label = 'update' THEN 'positive' ELSE 'negative' END AS dynamic
    FROM methods
    WHERE
        duplicate_of IS NULL
        AND old_is_ancestor IS NOT false
        AND label IN ('update', 'extension', 'refinement', 'fixture_refinement', 'unaffected')
        AND (label <> 'update' OR track IS NOT NULL)
        AND t_old_c_old = 'pass'
        AND t_new_c_new = 'pass'
        AND len(dependencies) > 0
),
both_ways AS (
    SELECT 'static' AS labelling, static AS class, walk, repo, task FROM labelled
    UNION ALL
    SELECT 'dynamic', dynamic, walk, repo, task FROM labelled
)
SELECT
    walk,
    labelling,
    class,
    count(DISTINCT repo) AS repositories,
    count(DISTINCT task) AS tasks,
    count(*) AS methods
FROM both_ways
GROUP BY walk, labelling, class
ORDER BY walk, labelling DESC, class DESC
