-- Figures of k attempts at a task, for k = 1, 2, …; all other figures are of first attempts.
-- Reads `methods` and `suite_rows`; report.py fills `pass_at`.
--
-- An attempt solves a task if every target, or every test of its suite, succeeds. For independent attempts (`once`)
-- `solved` is over random draws of k attempts. Everything else is over the first k.

CREATE TABLE attempt_protocol AS
SELECT arg_min(protocol, (part, task_id, attempt)) FILTER (attempt > 1) AS protocol, max(attempt) AS most
FROM (
    SELECT 0 AS part, task_id, attempt, protocol FROM methods
    UNION ALL
    SELECT 1, task_id, attempt, protocol FROM suite_rows
);

-- Attempts in the order of their tasks, for each track and family with a task that was attempted more than once;
-- `solved` is null if coevo itself was in trouble.
CREATE TABLE tries AS
SELECT *, row_number() OVER (PARTITION BY place, task_id ORDER BY attempt) AS number
FROM (
    SELECT
        '0 ' || track AS place,
        track AS part,
        task_id,
        attempt,
        min(repo) AS repo,
        CASE
            WHEN bool_or(outcome NOT IN ('success', 'infra')) THEN false
            WHEN NOT bool_or(outcome = 'infra') THEN true
        END AS solved,
        bool_and(detail IS NOT DISTINCT FROM 'no_prediction') AS missing,
    FROM methods
    GROUP BY track, task_id, attempt
    UNION ALL BY NAME
    SELECT
        '1 ' || family AS place,
        family AS part,
        task_id,
        attempt,
        repo,
        CASE WHEN outcome <> 'infra' THEN solved END AS solved,
        detail IS NOT DISTINCT FROM 'no_prediction' AS missing,
        passing,
        reach,
        gold_adequacy.tests = 0 AS has_no_gold,
        CASE
            WHEN has_no_gold THEN arg_min(adequacy, attempt) OVER (PARTITION BY task_id)
            ELSE gold_adequacy
        END AS full_adequacy
    FROM suite_rows
)
QUALIFY max(attempt) OVER (PARTITION BY place) > 1;

CREATE TABLE attempted_tasks AS
SELECT
    place,
    part,
    task_id,
    first(repo ORDER BY number) AS repo,
    bool_and(missing) AS unanswered,
    count(solved) AS judged,
    count(*) FILTER (solved) AS solving,
    solving = count(*) AS always_solved
FROM tries
GROUP BY place, part, task_id;

-- The share of draws of k of `judged` attempts in which at least one solves the task, if `solving` of them solve it.
CREATE TABLE pass_at (judged BIGINT, solving BIGINT, k BIGINT, share DOUBLE);

-- The counts over the first k attempts at each task.
CREATE TABLE first_tries AS
SELECT
    place,
    task_id,
    k,
    count(solved) AS judged_first,
    count(*) FILTER (solved) AS solving_first,
    count(*) AS tried,
    coalesce(min(number) FILTER (solved), tried) AS standing
FROM tries, attempt_protocol, range(1, most + 1) AS numbers (k)
WHERE number <= k
GROUP BY place, task_id, k;

-- Shares of the focus of a suite. For `feedback`, those of the attempt that counts after k attempts: the first that
-- solves the task, or else the last. For `diversify`, those of the first k together. Null if the share of an attempt
-- that counts is unknown. They are shares of what gold was measured on or, without gold, of what an attempt was.
CREATE TABLE usefulness AS
SELECT
    place,
    task_id,
    k,
    measure,
    coalesce(len(list_distinct(flatten(list(reached) FILTER (passing > 0)))), 0)
        / first(whole ORDER BY number) FILTER (whole > 0) AS quotient,
    CASE
        WHEN bool_or(solved IS NULL OR passing > 0 AND reached IS NULL) THEN NULL
        WHEN bool_and(has_no_gold AND passing = 0) THEN 0
        WHEN quotient > 1 THEN 1
        ELSE quotient
    END AS share
FROM (
    SELECT
        *,
        CASE measure WHEN 'lines' THEN reach.lines WHEN 'branches' THEN reach.branches ELSE reach.killed END AS reached,
        CASE measure
            WHEN 'lines' THEN full_adequacy.lines
            WHEN 'branches' THEN full_adequacy.branches
            ELSE full_adequacy.mutants
        END AS whole
    FROM first_tries
    JOIN tries USING (place, task_id),
        attempt_protocol,
        (VALUES ('lines'), ('branches'), ('mutation')) AS measures (measure)
    WHERE CASE protocol WHEN 'diversify' THEN number <= k WHEN 'feedback' THEN number = standing ELSE false END
)
GROUP BY place, task_id, k, measure;

-- -- figures --------------------------------------------------------------------------------------

CREATE VIEW attempt_scores AS
SELECT
    place,
    task_id,
    k,
    'solved' AS figure,
    CASE
        WHEN unanswered THEN 0
        WHEN protocol = 'once' THEN pass_at.share
        WHEN solving_first > 0 THEN 1
        WHEN judged_first = tried THEN 0
    END AS score
FROM first_tries
JOIN attempted_tasks USING (place, task_id)
LEFT JOIN pass_at USING (judged, solving, k), attempt_protocol
UNION ALL
SELECT place, task_id, k, 'correct', solving_first / nullif(judged_first, 0)
FROM first_tries, attempt_protocol
WHERE protocol <> 'feedback'
UNION ALL
SELECT place, task_id, k, measure, share FROM usefulness
UNION ALL
SELECT place, task_id, k, 'mutation_correct', share
FROM usefulness
JOIN attempted_tasks USING (place, task_id)
WHERE measure = 'mutation' AND always_solved;

CREATE VIEW samples_of_attempts AS
SELECT ['attempts', place, 'at', printf('%09d', k), figure] AS path, repo, [score] AS sample
FROM attempt_scores
JOIN attempted_tasks USING (place, task_id)
WHERE score IS NOT NULL;

CREATE VIEW counts_of_attempts AS
SELECT ['attempts', place, 'at', printf('%09d', k), 'k'] AS path, k AS number FROM first_tries GROUP BY place, k
UNION ALL
SELECT ['attempts', place, 'at', printf('%09d', k), 'unknown'], count(*) - count(score)
FROM attempt_scores
WHERE figure = 'solved'
GROUP BY place, k
UNION ALL
SELECT ['attempts', place, 'tasks'], count(*) FROM attempted_tasks GROUP BY place
UNION ALL
SELECT DISTINCT ['attempts', place, 'attempts'], most FROM attempted_tasks, attempt_protocol;

CREATE VIEW words_of_attempts AS
SELECT DISTINCT ['attempts', place, 'of'] AS path, part AS word FROM attempted_tasks
UNION ALL
SELECT DISTINCT ['attempts', place, 'protocol'], protocol FROM attempted_tasks, attempt_protocol;
