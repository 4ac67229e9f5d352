-- The figures of a snapshot that card, page, command and README name. One row for a figure.
-- Reads `repositories`, `pairs`, `methods`, `tasks` and `standard_tasks`.
--
--   repositories             that were mined, whatever came of them; one that has several walks counts once
--   repositories_with_tasks  that have a task of co-evolution
--   labelled_methods         rows of `methods` with a label: a row may have one by module alone
--   tasks                    of all families: coevolution + maintenance + suites + implement
--   coevolution…             tasks that ask for single tests which a commit changed, by track
--   standard…                those of them in the view `standard_tasks`, by track
--   maintenance, suites      tasks that ask for a whole test file of a change, or of one revision
--   implement                tasks that ask for the code of a change

WITH counted AS (
    SELECT
        count(*) AS tasks,
        count(*) FILTER (family = 'coevolution') AS coevolution,
        count(*) FILTER (family = 'coevolution' AND track = 'generation') AS coevolution_generation,
        count(*) FILTER (family = 'coevolution' AND track = 'update') AS coevolution_update,
        count(*) FILTER (family = 'coevolution' AND track = 'extension') AS coevolution_extension,
        count(*) FILTER (family = 'coevolution' AND track = 'repair') AS coevolution_repair,
        count(*) FILTER (family = 'maintenance') AS maintenance,
        count(*) FILTER (family NOT IN ('coevolution', 'maintenance', 'implement')) AS suites,
        count(*) FILTER (family = 'implement') AS implement,
        count(DISTINCT repo) FILTER (family = 'coevolution') AS repositories_with_tasks
    FROM (SELECT repo, track::VARCHAR AS track, coalesce(family::VARCHAR, 'coevolution') AS family FROM tasks)
),
standard_counted AS (
    SELECT
        count(*) AS standard,
        count(*) FILTER (track = 'generation') AS standard_generation,
        count(*) FILTER (track = 'update') AS standard_update,
        count(*) FILTER (track = 'extension') AS standard_extension,
        count(*) FILTER (track = 'repair') AS standard_repair
    FROM standard_tasks
),
every AS (
    SELECT
        (SELECT count(DISTINCT repo) FROM repositories) AS repositories,
        repositories_with_tasks,
        (SELECT count(*) FROM pairs) AS pairs,
        (SELECT count(*) FROM methods) AS methods,
        (SELECT count(*) FROM methods WHERE label IS NOT NULL) AS labelled_methods,
        tasks, coevolution, coevolution_generation, coevolution_update, coevolution_extension, coevolution_repair,
        standard, standard_generation, standard_update, standard_extension, standard_repair,
        maintenance, suites, implement
    FROM counted, standard_counted
)
UNPIVOT every ON COLUMNS(*) INTO NAME figure VALUE value
