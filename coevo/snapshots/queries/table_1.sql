-- Table 1 of TestEvo-Bench: what the tasks of each track hold. One row for a walk and track;
-- `parents` is the walk that most people want. Reads `tasks` and `methods`.
--
--   pairs                  from which the tasks are: those of one pair are no independent evidence
--   tests_per_task         target test methods
--   code_per_task          changed production methods that they depend on
--   test_tokens_per_task   of the targets' new sources, with the old ones for all tracks but generation
--   code_tokens_per_task   of the lines that `source_patch` adds or removes; the paper counts whole
--                          methods, of which the data holds declarations
-- Tokens are counted of tasks whose texts are here; null where those of all are withheld.
-- Tokens are those of NLTK's WordPunctTokenizer: runs of letters, digits and underscores, and runs of
-- what is neither that nor white space. A model's own tokenizer counts more: o200k_base 1.36 times as
-- many over 573 test methods of eight repositories.
-- Whole files of a change (`maintenance`) are the same changes once more, and left out.
-- The paper's times are left out: of runs, the data holds outcomes, and what a pair cost in all.

WITH targets AS (SELECT task_id, walk, unnest(method_ids) AS method_id FROM tasks),
test_tokens AS (
    SELECT
        targets.task_id,
        sum(
            len(regexp_extract_all(coalesce(old_source, ''), '[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+'))
            + len(regexp_extract_all(coalesce(new_source, ''), '[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+'))
        ) AS tokens
    FROM targets JOIN methods USING (method_id, walk)
    GROUP BY targets.task_id
),
changed_lines AS (
    SELECT task_id, unnest(string_split(source_patch, chr(10))) AS line FROM tasks
),
code_tokens AS (
    SELECT
        task_id,
        sum(len(regexp_extract_all(line[2:], '[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+'))) AS tokens
    FROM changed_lines
    WHERE line[1] IN ('+', '-') AND line[1:4] NOT IN ('+++ ', '--- ')
    GROUP BY task_id
)
SELECT
    walk::VARCHAR AS walk,
    track::VARCHAR AS track,
    count(*) AS tasks,
    count(DISTINCT pair_id) AS pairs,
    round(avg(len(test_methods)), 2) AS tests_per_task,
    round(avg(len([one FOR one IN dependencies IF one.name LIKE '%)'])), 2) AS code_per_task,
    round(avg(coalesce(test_tokens.tokens, 0)) FILTER (source_patch IS NOT NULL), 0)::BIGINT AS test_tokens_per_task,
    round(avg(coalesce(code_tokens.tokens, 0)) FILTER (source_patch IS NOT NULL), 0)::BIGINT AS code_tokens_per_task
FROM tasks
LEFT JOIN test_tokens USING (task_id)
LEFT JOIN code_tokens USING (task_id)
WHERE walk = 'single_revision' OR len(method_ids) > 0
GROUP BY walk, track
ORDER BY walk, track
