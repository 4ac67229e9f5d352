-- How many unchanged and context-changed tests of a pair were drawn to be run, and of how many: see `filters/sample.py`.
--
-- The draw is the last filter. So those that were drawn have a label, or left later; the others are `not_sampled`.
-- `weight` is how many tests each of the drawn ones stands for. Null where the data are too old to say what
-- became of a test that left without a label, and where the gate left unchanged tests undrawn of which it is not known
-- whether they use a changed declaration: `coevo mine --profile whole` looks at all of them.

SELECT
    walk, pair_id, change,
    count(*) FILTER (reason IS DISTINCT FROM 'not_sampled') AS drawn,
    count(*) AS population,
    CASE
        WHEN NOT bool_or(is_unknown) AND NOT (change = 'unchanged' AND coalesce(bool_or(is_gated), false))
        THEN population / drawn
    END AS weight
FROM (
    SELECT walk, pair_id, change, NULL AS reason, false AS is_unknown
    FROM $methods WHERE change IN ('unchanged', 'context_changed')
    UNION ALL
    SELECT walk, pair_id, coalesce(change, 'unchanged'), reason, change IS NULL AND reason <> 'not_sampled'
    FROM $drops
    WHERE reason = 'not_sampled'
        OR stage IN ('label', 'publish') AND coalesce(change IN ('unchanged', 'context_changed'), true)
)
LEFT JOIN (SELECT walk, pair_id, coalesce(tests_undrawn, 0) > 0 AS is_gated FROM $pairs) USING (walk, pair_id)
GROUP BY walk, pair_id, change
