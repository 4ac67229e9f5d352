-- Tasks by what kind of question they are. One row for a walk and family. Reads `tasks`.
--
--   tests_per_suite   of the gold suites; null for `coevolution`, which asks for single tests
--   share_lines, share_branches, share_methods   of the focus, that the gold suite covers
--   kill_rate         of the mutants that the gold suite was run with
-- Each is a mean over tasks that have it: a class without branches has no share of them.

SELECT
    walk::VARCHAR AS walk,
    coalesce(family::VARCHAR, 'coevolution') AS family,
    count(*) AS tasks,
    count(DISTINCT repo) AS repositories,
    round(avg(gold_adequacy.tests), 2) AS tests_per_suite,
    round(avg(gold_adequacy.covered_lines / nullif(gold_adequacy.lines, 0)), 4) AS share_lines,
    round(avg(gold_adequacy.covered_branches / nullif(gold_adequacy.branches, 0)), 4) AS share_branches,
    round(avg(gold_adequacy.covered_methods / nullif(gold_adequacy.methods, 0)), 4) AS share_methods,
    round(avg(gold_adequacy.killed / nullif(gold_adequacy.mutants, 0)), 4) AS kill_rate
FROM tasks
GROUP BY ALL
ORDER BY walk, family
