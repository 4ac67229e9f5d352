"""Parsing Python source in several threads at once."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coevo.languages import module_code


def test_threads_that_parse_at_once_get_their_trees() -> None:
    source = Path(module_code.__file__).read_text()
    expected = ast.dump(ast.parse(source))
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(module_code.parse_python, [source] * 64))
    assert {ast.dump(tree) for tree in trees} == {expected}
