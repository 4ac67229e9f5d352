"""A static site over snapshots: the page, and the files of each month that it reads.

OUT/index.html, main.js, main.css   the page
OUT/licences.txt                    of what is bundled in it
OUT/site.json                       which months there are, and what their files are called
OUT/MONTH/data/TABLE/…              Parquet, byte by byte that of the snapshot
OUT/MONTH/statistics.json           the answers to `coevo/snapshots/queries/`
OUT/MONTH/reports.json              the report.json of each evaluation against it
OUT/MONTH/scores.parquet            a row for each test method of these evaluations
"""
