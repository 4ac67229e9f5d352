-- Compares two evaluations of the same tasks, method by method. Reads `scored` (methods.sql), where `evaluation` is
-- 0 or 1. A figure is over the methods that were judged, or measured, in both.

CREATE TABLE pairs AS
SELECT first.track, first.task_id, first, second, first.outcome <> 'infra' AND second.outcome <> 'infra' AS judged
FROM scored AS first
JOIN scored AS second USING (task_id, attempt, test_method, method_id)
WHERE first.evaluation = 0 AND second.evaluation = 1;

-- As in a report, strict success is a share of the methods of which it can be asked and is known (here on both sides),
-- the vacuous ones a share of all methods, in which unknown values count as 0. There is no figure if one side knows the
-- value for none of the methods to which it applies.
CREATE MACRO is_told(asked, value) AS
NOT bool_or(asked) OVER (PARTITION BY track) OR bool_or(asked AND value IS NOT NULL) OVER (PARTITION BY track);

CREATE MACRO has(side, wanted) AS (side.outcome = wanted)::DOUBLE;

CREATE TABLE pair_scores AS
SELECT
    track,
    task_id,
    first.repo AS first_repo,
    second.repo AS second_repo,
    row_number() OVER () AS pair,
    unnest([
        {'place': '01', 'first': has(first, 'success'), 'second': has(second, 'success')},
        {'place': '02', 'first': has(first, 'redundant'), 'second': has(second, 'redundant')},
        {'place': '03', 'first': has(first, 'exec_fail'), 'second': has(second, 'exec_fail')},
        {'place': '04', 'first': has(first, 'cmpl_fail'), 'second': has(second, 'cmpl_fail')},
        {'place': '05', 'first': has(first, 'hrns_fail'), 'second': has(second, 'hrns_fail')},
        {'place': '06', 'first': has(first, 'success'), 'second': has(second, 'success')},
        {
            'place': '08',
            'first': CASE WHEN strict_told AND first.strict_askable THEN first.success_strict::DOUBLE END,
            'second': CASE WHEN second.strict_askable THEN second.success_strict::DOUBLE END
        },
        {
            'place': '09',
            'first': CASE WHEN vacuous_told THEN coalesce(first.vacuous::DOUBLE, 0) END,
            'second': coalesce(second.vacuous::DOUBLE, 0)
        },
        {'place': '10', 'first': first.coverage_pred, 'second': second.coverage_pred},
        {'place': '11', 'first': first.mutation_pred, 'second': second.mutation_pred},
        {'place': '12', 'first': first.relative_kill, 'second': second.relative_kill},
        {'place': '13', 'first': has(first, 'weakened'), 'second': has(second, 'weakened')}
    ]) AS score
FROM (
    SELECT
        *,
        is_told(first.outcome = 'success' AND first.strict_askable, first.success_strict)
            AND is_told(second.outcome = 'success' AND second.strict_askable, second.success_strict) AS strict_told,
        is_told(first.passes, first.vacuous) AND is_told(second.passes, second.vacuous) AS vacuous_told
    FROM pairs
    WHERE judged
)
UNION ALL
SELECT
    track,
    task_id,
    first.repo,
    second.repo,
    0,
    {
        'place': '07',
        'first': (first.outcome_by_module = 'success')::DOUBLE,
        'second': (second.outcome_by_module = 'success')::DOUBLE
    }
FROM pairs
WHERE first.outcome_by_module <> 'infra' AND second.outcome_by_module <> 'infra';

CREATE TABLE compared AS
SELECT
    ['tracks', track, 'figures', score.place] AS path,
    min(first_repo) AS first_repo,
    min(second_repo) AS second_repo,
    list(score.first) AS first,
    list(score.second) AS second
FROM pair_scores
WHERE score.first IS NOT NULL AND score.second IS NOT NULL AND (score.place <> '02' OR track IN ('generation', 'extension'))
    AND (score.place <> '13' OR track = 'extension')
-- Figure 06 is a mean over methods, all others are means over tasks.
GROUP BY track, task_id, score.place, CASE WHEN score.place = '06' THEN pair END;

CREATE VIEW samples_of_comparison AS
SELECT path || ['first'] AS path, first_repo AS repo, first AS sample FROM compared
UNION ALL
SELECT path || ['second'], second_repo, second FROM compared
UNION ALL
SELECT path || ['difference', 'first'], first_repo, first FROM compared
UNION ALL
SELECT path || ['difference', 'second'], second_repo, second FROM compared;

CREATE VIEW counts_of_comparison AS
SELECT ['tracks', track, 'tasks'] AS path, count(DISTINCT task_id) FILTER (judged) AS number FROM pairs GROUP BY track
UNION ALL
SELECT ['tracks', track, 'methods'], count(*) FILTER (judged) FROM pairs GROUP BY track
UNION ALL
SELECT ['tracks', track, 'left_out'], count(*) FILTER (NOT judged) FROM pairs GROUP BY track;

CREATE VIEW words_of_comparison AS
SELECT DISTINCT ['tracks', track, 'track'] AS path, track AS word FROM pairs
UNION ALL
SELECT DISTINCT ['tracks', track, 'figures', place, 'name'], name
FROM pairs,
    (
        VALUES
            ('01', 'Success%'),
            ('02', 'Redundant%'),
            ('03', 'ExecFail%'),
            ('04', 'CmplFail%'),
            ('05', 'HrnsFail%'),
            ('06', 'Success% of methods'),
            ('07', 'Success% by module'),
            ('08', 'SuccessStrict%'),
            ('09', 'Vacuous%'),
            ('10', 'CovOnPass'),
            ('11', 'MutOnPass'),
            ('12', 'RelativeKill'),
            ('13', 'Weakened%')
    ) AS figures (place, name)
WHERE
    (name <> 'Redundant%' OR track IN ('generation', 'extension'))
    AND (name <> 'Weakened%' OR track = 'extension');
