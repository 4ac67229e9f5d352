-- Success and coverage by how difficult the code of a task is. Reads `methods`, `suites` and `task_difficulties`: a row
-- for each task of the snapshot, with the `complexity` and the `lines` of its code, null where they are not known.
--
-- Of first attempts. What coevo itself could not grade (`infra`) counts nowhere. Bands of complexity have the width of
-- ULT's figure 1.

CREATE TABLE bands AS
FROM (VALUES
    ('complexity', 0, 10, '1 to 9'),
    ('complexity', 10, 20, '10 to 19'),
    ('complexity', 20, 30, '20 to 29'),
    ('complexity', 30, NULL, '30 and more'),
    ('lines', 0, 25, 'fewer than 25'),
    ('lines', 25, 50, '25 to 49'),
    ('lines', 50, 100, '50 to 99'),
    ('lines', 100, NULL, '100 and more')
) AS bands (measure, low, below, band);

-- A task of single tests counts by the share of its targets that succeed, as in the report's mean over tasks. Of a
-- suite that has no passing test, the coverage is 0; it is null where the gold suite has none to compare with (but for
-- tasks without gold), or where it was not measured.
CREATE TABLE attempted AS
SELECT
    track AS part,
    task_id,
    any_value(repo) AS repo,
    avg((outcome = 'success')::DOUBLE) AS success,
    NULL::DOUBLE AS line_coverage,
    NULL::DOUBLE AS branch_coverage
FROM methods
WHERE attempt = 1 AND outcome <> 'infra'
GROUP BY track, task_id
UNION ALL
SELECT
    family,
    task_id,
    repo,
    (outcome = 'success')::DOUBLE,
    CASE
        WHEN gold_adequacy.lines > 0 OR gold_adequacy.tests = 0
        THEN CASE WHEN passing > 0 THEN adequacy.covered_lines / adequacy.lines ELSE 0 END
    END,
    CASE
        WHEN gold_adequacy.branches > 0 OR gold_adequacy.tests = 0
        THEN CASE WHEN passing > 0 THEN adequacy.covered_branches / adequacy.branches ELSE 0 END
    END
FROM (SELECT *, len([test FOR test IN tests IF test.passes]) AS passing FROM suites)
WHERE attempt = 1 AND outcome <> 'infra';

CREATE TABLE difficult AS
SELECT attempted.*, measure, band
FROM (
    SELECT task_id, measure, CASE measure WHEN 'complexity' THEN complexity ELSE lines END AS figure
    FROM task_difficulties, (VALUES ('complexity'), ('lines')) AS measures (measure)
)
JOIN attempted USING (task_id)
JOIN bands USING (measure)
WHERE figure >= low AND (below IS NULL OR figure < below);

CREATE TABLE unknown_tasks AS
SELECT
    part,
    count(*) FILTER (complexity IS NULL) AS complexity,
    count(*) FILTER (lines IS NULL) AS lines
FROM attempted JOIN task_difficulties USING (task_id)
GROUP BY part;

CREATE VIEW samples_of_difficulty AS
SELECT ['parts', part, measure, band, 'success'] AS path, repo, [success] AS sample FROM difficult
UNION ALL
SELECT ['parts', part, measure, band, 'line_coverage'], repo, [line_coverage]
FROM difficult
WHERE line_coverage IS NOT NULL
UNION ALL
SELECT ['parts', part, measure, band, 'branch_coverage'], repo, [branch_coverage]
FROM difficult
WHERE branch_coverage IS NOT NULL;

CREATE VIEW counts_of_difficulty AS
SELECT ['parts', part, measure, band, 'tasks'] AS path, count(*) AS number FROM difficult GROUP BY ALL
UNION ALL
SELECT ['parts', part, 'complexity_unknown'], complexity FROM unknown_tasks
UNION ALL
SELECT ['parts', part, 'lines_unknown'], lines FROM unknown_tasks;

CREATE VIEW words_of_difficulty AS
SELECT DISTINCT ['parts', part, measure, band, 'band'] AS path, band AS word FROM difficult
UNION ALL
SELECT DISTINCT ['parts', part, 'part'], part FROM attempted;
