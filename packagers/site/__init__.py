"""Make a static site over snapshots: the page, and the files of each month that it reads.

OUT/index.html, main.js, main.css   the page
OUT/licences.txt                    the licences of bundled libraries
OUT/site.json                       the months, and the names of their files
OUT/CITATION.cff, LICENSE           of coevo
OUT/MONTH/data/TABLE/…              Parquet files, the same bytes as in the snapshot; for an older schema
                                    the same rows under the present names
OUT/MONTH/README.md, …              the snapshot's card, manifest and Croissant
OUT/MONTH/statistics.json           the answers to `coevo/snapshots/queries/`
OUT/MONTH/reports.json              the report.json of each evaluation against it
OUT/MONTH/scores.parquet            a row for each test method of these evaluations
"""
