-- Test-update identification: which tests does a change of the code make obsolete?
-- TestEvo-Bench, appendix C, after CEPROT. One row for every labelled method of the walk $walk.
--
-- Both labellings are of the same methods: those that a pair kept or changed, that pass at both ends,
-- and of which a dependency changed.
--   static   positive: the test changed together with a dependency; negative: it did not change
--   dynamic  positive: the old test is broken on the new code (a task of the track `update`);
--            negative: it is not, whether somebody edited the test (refinement), what it stands on
--            (fixture_refinement) or neither (unaffected)
-- A test of which only fixtures or helpers changed did not change itself: it is negative under both.
-- All else is `left_out`, by its label or by what it lacks.

SELECT
    method_id, repo, family, pair_id, language, old_rev, new_rev,
    module, test_file, test_class, test_method, parameters,
    change, label, old_source, new_source, focal_method, dependencies,
    contamination_date, contamination_basis, code_first_seen, task_id,
    left_out,
    CASE
        WHEN left_out IS NOT NULL THEN NULL
        WHEN change = 'changed' THEN 'positive'
        ELSE 'negative'
    END AS static,
    CASE
        WHEN left_out IS NOT NULL THEN NULL
        WHEN label = 'update' THEN 'positive'
        ELSE 'negative'
    END AS dynamic
FROM (
    SELECT
        methods.*,
        coalesce(family, repo) AS family,
        CASE
            WHEN duplicate_of IS NOT NULL THEN 'duplicate'
            -- Branches that interleave: between the ends nobody changed what differs.
            WHEN NOT old_is_ancestor THEN 'old_is_no_ancestor'
            WHEN label IS NULL THEN 'no_label'
            WHEN label NOT IN ('update', 'extension', 'refinement', 'fixture_refinement', 'unaffected')
                THEN label::VARCHAR
            -- Broken for another cause than the change of the code, or by a time-out alone.
            WHEN label = 'update' AND track IS NULL THEN 'update_without_track'
            WHEN t_old_c_old <> 'pass' OR t_new_c_new <> 'pass' THEN 'ends_do_not_pass'
            WHEN len(dependencies) = 0 THEN 'no_changed_dependency'
        END AS left_out
    FROM methods LEFT JOIN repositories USING (repo, language, walk)
    WHERE walk = $walk
)
ORDER BY method_id
