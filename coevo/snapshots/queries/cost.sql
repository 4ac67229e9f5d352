-- What a task took to make, in CPU seconds, by language. One row for a language, and one for all.
-- Reads `timings`, `pairs`, `methods` and `tasks`. Commits that gave no task are in it, too.
--
--   labelling         all that mining runs, up to the labels and tracks
--   measuring         mutants, undone changes and the coverage of gold
--   seconds_per_task  of labelling, for each task of co-evolution
--   seconds_measured  of measuring, for each of these tasks that is measured
-- Steps whose seconds other steps have, too (`diff`, `tests`), are left out.

WITH steps AS (
    SELECT
        pairs.language::VARCHAR AS language,
        timings.cpu_seconds AS seconds,
        timings.step IN ('measure', 'measured_build', 'measured_trace', 'mutants', 'reversals') AS measures
    FROM timings JOIN pairs USING (pair_id, walk)
    WHERE timings.step NOT IN ('diff', 'tests')
),
took AS (
    SELECT
        coalesce(language, 'all') AS language,
        coalesce(sum(seconds) FILTER (NOT measures), 0) AS labelling,
        coalesce(sum(seconds) FILTER (measures), 0) AS measuring
    FROM steps
    GROUP BY ROLLUP (language)
),
coevolution AS (
    SELECT tasks.task_id, tasks.language::VARCHAR AS language, bool_or(coalesce(methods.measured, false)) AS measured
    FROM tasks JOIN methods USING (task_id, walk)
    WHERE coalesce(tasks.family::VARCHAR, 'coevolution') = 'coevolution'
    GROUP BY ALL
),
counted AS (
    SELECT
        coalesce(language, 'all') AS language,
        count(*) AS tasks,
        count(*) FILTER (measured) AS measured
    FROM coevolution
    GROUP BY ROLLUP (language)
)
SELECT
    language,
    tasks,
    round(labelling)::BIGINT AS labelling,
    round(labelling / tasks, 1) AS seconds_per_task,
    measured,
    round(measuring)::BIGINT AS measuring,
    round(measuring / nullif(measured, 0), 1) AS seconds_measured
FROM took JOIN counted USING (language)
ORDER BY language = 'all', language
