"""Submissions to a leaderboard: a folder that says who, answers tasks, and can be judged again.

FOLDER/submission.json      who and how, by `submission.schema.json`
FOLDER/predictions.jsonl    or predictions.parquet, or a folder predictions/ of TASK_ID.patch
FOLDER/logs/TASK_ID…        what the agent did for each of these tasks: a file, or a folder of files
FOLDER/results/             the --out of `coevo evaluate SNAPSHOT FOLDER --out FOLDER/results`
"""
