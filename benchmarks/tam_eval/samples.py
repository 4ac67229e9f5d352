"""Samples as TAM-Eval publishes them: one file of TOML each, below `tameval/benchmark` of its repository."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coevo.git.repository import Repository

FOLDER = 'tameval/benchmark'


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A test file, the file of the code that it is about, and what it covers of that.

    name             of its own file, without suffix
    language         as in the `language` columns
    start            the text of the test file at the start
    start_coverage, coverage  whole percents, None where unknown; the latter is that of the project's own file
    start_percent, percent    the same as they are published
    covered, missed  lines of the start, from 1
    """

    name: str
    repo: str
    rev: str
    language: str
    scenario: str
    test_file: str
    focal_file: str
    start: bytes
    start_coverage: int | None
    coverage: int | None
    start_percent: float | None
    percent: float | None
    covered: frozenset[int]
    missed: frozenset[int]


def samples(data: Repository, rev: str = 'HEAD', version: str = 'v2') -> Iterator[Sample]:
    """All that are published in a version, by name; ValueError where one is of another format."""
    folder = f'{FOLDER}/{version}/'
    tree = data.tree(data.get_commit(rev).rev)
    for path in sorted(tree):
        if path.startswith(folder) and path.endswith('.toml'):
            name = path.removeprefix(folder).removesuffix('.toml')
            yield sample(name, data.blob(tree[path].oid))


def sample(name: str, text: bytes) -> Sample:
    """One of them; ValueError where it is of another format."""
    try:
        return _sample(name, tomllib.loads(text.decode()))
    except KeyError as error:
        raise ValueError(f'{name} has no {error}') from error


def _sample(name: str, raw: dict[str, Any]) -> Sample:
    files, numbers = raw['input_info'], raw['coverage']
    return Sample(
        name=name,
        repo=raw['repo_info']['repository'],
        rev=raw['repo_info']['sha'],
        language=raw['lang_info']['lang'].lower(),
        scenario=raw['meta']['scenario'],
        test_file=files['test_file_path'],
        focal_file=files['focal_file_path'],
        start=files['test_file_content'].encode(),
        start_coverage=_percent(numbers['coverage']),
        coverage=_percent(numbers['original_coverage']),
        start_percent=_known(numbers['coverage']),
        percent=_known(numbers['original_coverage']),
        covered=_from_one(numbers['covered_lines']),
        missed=_from_one(numbers['missed_lines']),
    )


def _percent(value: float) -> int | None:
    return None if math.isnan(value) else round(value)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _from_one(lines: list[int]) -> frozenset[int]:
    """They are published from 0."""
    return frozenset(line + 1 for line in lines)
