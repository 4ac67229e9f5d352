-- Table I of TAM-Eval for all families: one row for a walk, family and language, and one for each family over all of its
-- languages (`language` is `all`). Reads `tasks`. Tasks that ask for no whole test file have counts alone.
--
--   focal_lines      lines of the code that the suite is about, from first to last, as the paper counts them
--   start_tests      tests of the file at the start, 0 where it is absent
--   start_coverage   of lines with code, at the start, 0 where the file is absent; the paper's Test-Cov
--   start_kill_rate  of mutants, over starts that have a file; the paper's Mut-Cov
--   gold_tests, gold_coverage, gold_kill_rate   the same of the gold suite
-- Each is a mean over the tasks where it is known. The paper's row of all languages counts unknown mutation scores and
-- absent files as 0, as its published data shows, its rows of one language leave them out; here both leave them out. Lines of test files are not in the data.

WITH suites AS (
    SELECT
        walk::VARCHAR AS walk,
        coalesce(family::VARCHAR, 'coevolution') AS family,
        language,
        repo,
        list_sum([part.end_line - part.start_line + 1 FOR part IN focus]) AS focal_lines,
        coalesce(start_builder = 'absent', false) AS absent,
        start_adequacy,
        gold_adequacy
    FROM tasks
),
sized AS (
    SELECT
        walk,
        family,
        language,
        repo,
        focal_lines,
        CASE WHEN absent THEN 0 ELSE start_adequacy.tests END AS start_tests,
        CASE WHEN absent THEN 0 ELSE start_adequacy.covered_lines / nullif(start_adequacy.lines, 0) END AS start_lines,
        start_adequacy.killed / nullif(start_adequacy.mutants, 0) AS start_kills,
        gold_adequacy.tests AS gold_tests,
        gold_adequacy.covered_lines / nullif(gold_adequacy.lines, 0) AS gold_lines,
        gold_adequacy.killed / nullif(gold_adequacy.mutants, 0) AS gold_kills
    FROM suites
)
SELECT
    walk,
    family,
    coalesce(language, 'all') AS language,
    count(*) AS tasks,
    count(DISTINCT repo) AS repositories,
    round(avg(focal_lines), 2) AS focal_lines,
    round(avg(start_tests), 2) AS start_tests,
    round(avg(start_lines), 4) AS start_coverage,
    round(avg(start_kills), 4) AS start_kill_rate,
    round(avg(gold_tests), 2) AS gold_tests,
    round(avg(gold_lines), 4) AS gold_coverage,
    round(avg(gold_kills), 4) AS gold_kill_rate
FROM sized
GROUP BY GROUPING SETS ((walk, family, sized.language), (walk, family))
ORDER BY walk, family, grouping(sized.language), sized.language
