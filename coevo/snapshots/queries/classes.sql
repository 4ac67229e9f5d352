-- Table II of AgoneTest for the family `class`: what Classes2Test tells of its classes, a row for each characteristic of
-- a language. Reads `tasks`.
--
-- Lines are those of the class under test, from first to last; the range is that of the middle half. The framework is
-- read from the gold file, which the patch of a task has (`unknown` where texts are withheld), the runtime is that under
-- which its tests ran: the release of a JDK, the version of an interpreter or toolchain without its last part. Shares
-- are of the classes.

WITH classes AS (
    SELECT
        language,
        repo,
        list_sum([part.end_line - part.start_line + 1 FOR part IN focus]) AS lines,
        CASE
            WHEN texts_withheld OR test_patch IS NULL THEN 'unknown'
            WHEN contains(test_patch, 'org.junit.jupiter') THEN 'JUnit 5'
            WHEN contains(test_patch, 'org.testng') THEN 'TestNG'
            WHEN contains(test_patch, 'org.junit.') THEN 'JUnit 4'
            WHEN regexp_matches(test_patch, '(from|import) unittest') THEN 'unittest'
            WHEN language = 'python' THEN 'pytest'
            WHEN language = 'go' THEN 'testing'
            ELSE 'other'
        END AS framework,
        CASE language
            WHEN 'java' THEN regexp_extract(environment.runtime, '^(1\.)?(\d+)', 2)
            ELSE regexp_extract(environment.runtime, '^\D*(\d+\.\d+)', 1)
        END AS runtime
    FROM tasks
    WHERE family = 'class'
),
shares AS (
    SELECT
        language,
        characteristic,
        value,
        count(*) AS number,
        round(100 * number / sum(number) OVER (PARTITION BY language, characteristic))::INTEGER AS percent
    FROM (
        SELECT language, 'test framework' AS characteristic, framework AS value FROM classes
        UNION ALL
        SELECT language, 'runtime', coalesce(nullif(runtime, ''), 'unknown') FROM classes
    )
    GROUP BY language, characteristic, value
)
SELECT language, characteristic, value
FROM (
    SELECT language, 1 AS place, 'test classes' AS characteristic, count(*)::VARCHAR AS value FROM classes GROUP BY language
    UNION ALL
    SELECT language, 2, 'repositories', count(DISTINCT repo)::VARCHAR FROM classes GROUP BY language
    UNION ALL
    SELECT
        language,
        3,
        'lines of a class',
        printf(
            '%.0f (middle half %d to %d)',
            avg(lines),
            quantile_disc(lines, 0.25)::BIGINT,
            quantile_disc(lines, 0.75)::BIGINT
        )
    FROM classes
    GROUP BY language
    UNION ALL
    SELECT
        language,
        CASE characteristic WHEN 'test framework' THEN 4 ELSE 5 END,
        characteristic,
        string_agg(value || ' (' || percent || ' %)', ', ' ORDER BY number DESC, value)
    FROM shares
    GROUP BY language, characteristic
)
ORDER BY language, place
