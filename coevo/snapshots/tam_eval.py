"""The view `tam_eval`: the tasks of the family `file` that TAM-Eval's rules about a pool leave.

Mining asks what one file shows (`coevo.model.profiles.FileRules` has the paper's numbers), discovery
what one repository does. The rest of the paper's section III compares files: the limits of pairs of a
repository, the percentile of sizes, one task for each pair. The pool is what the other conditions of
a query leave, so these rules are asked when a snapshot is read.

Where the paper draws at random, the order of hashes decides here. `docs/internals/suites.md` has the
deviations.
"""

from __future__ import annotations

from coevo.model.families import Family, StartBuilder

LICENCES = ('MIT', 'Apache-2.0')
"""Stage 1: "permissive licenses (MIT, Apache-2.0)"."""
LEAST_PAIRS = 5
"""Stage 2: repositories with "at least five focal-test file pairs"."""
PERCENTILE = 0.99
"""Stage 3: pairs are left out whose focal or test file exceeds "the 99th percentile"."""
MOST_PAIRS = 10
"""Stage 3: "up to 10 focal-test file pairs per repository"."""

_LICENCES = ', '.join(f"'{name}'" for name in LICENCES)

# Lines of a test file are those that the patch of its task without a start file adds. Where texts
# are withheld they are unknown, and no test file is too long.
TAM_EVAL = f"""
WITH candidates AS (
    SELECT
        *,
        focus[1].file AS focal_file,
        focus[1].end_line AS focal_lines,
        CASE
            WHEN start_builder = '{StartBuilder.ABSENT}'
            THEN len(string_split(test_patch, chr(10) || '+')) - 2
        END AS test_lines
    FROM tasks
    WHERE family = '{Family.FILE}'
        AND start_builder <> '{StartBuilder.OLDER}'
        AND license IN ({_LICENCES})
),
file_pairs AS (
    SELECT
        repo,
        language,
        test_file,
        focal_file,
        arg_max(new_rev, (coalesce(new_committer_date, TIMESTAMPTZ '1970-01-01'), new_rev)) AS new_rev,
        max(focal_lines) AS focal_lines,
        max(test_lines) AS test_lines,
        md5(repo || ' ' || test_file || ' ' || focal_file) AS lot
    FROM candidates
    GROUP BY repo, language, test_file, focal_file
),
in_repositories AS (
    FROM file_pairs QUALIFY count(*) OVER (PARTITION BY repo, language) >= {LEAST_PAIRS}
),
sized AS (
    FROM in_repositories
    QUALIFY focal_lines <= quantile_disc(focal_lines, {PERCENTILE}) OVER (PARTITION BY language)
        AND coalesce(
            test_lines <= quantile_disc(test_lines, {PERCENTILE}) OVER (PARTITION BY language), true
        )
),
drawn AS (
    FROM sized
    QUALIFY row_number() OVER (PARTITION BY repo, language ORDER BY lot) <= {MOST_PAIRS}
)
SELECT candidates.* EXCLUDE (focal_file, focal_lines, test_lines)
FROM candidates JOIN drawn USING (repo, language, test_file, focal_file, new_rev)
QUALIFY row_number() OVER (
    PARTITION BY repo, language, test_file, focal_file ORDER BY md5(task_id)
) = 1"""
"""One SELECT over the view `tasks`, with its columns."""
