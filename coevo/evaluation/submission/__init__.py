"""Submissions to a leaderboard: folders with metadata, answers to tasks and results.

FOLDER/submission.json    who submits and how, by `submission.schema.json`
FOLDER/predictions.jsonl  or predictions.parquet, or a folder predictions/ of TASK_ID.patch
FOLDER/logs/TASK_ID…      what the agent did for each of these tasks: a file, or a folder of files
FOLDER/results/           the --out of `coevo evaluate SNAPSHOT FOLDER --out FOLDER/results`
"""
