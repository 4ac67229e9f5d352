"""Whether a submitted file can be read by our own parser: no patch may stop an evaluation.

The parsers themselves count what they read, here and in the miner. What is long or nested
deeply is moreover tried by a process of its own first, within limits: a submission is hostile, and what
nobody thought of may take its time or our stack.
"""

from __future__ import annotations

import gc
import os
import re
import resource
import subprocess
import sys

from coevo.languages.table import detect_file_language, get_reading, get_surgery

# Less is read within seconds whatever it is, and never too deep.
PLAIN_BYTES, PLAIN_DEPTH = 1 << 16, 100

# The longest test files that were seen (250 kB) take one, 20,000 tests on a line each four to eight.
CPU_SECONDS = 60

_BRACKET = re.compile(rb'([({\[])|[)}\]]')


def is_readable(path: str, content: bytes, cpu_seconds: int = CPU_SECONDS) -> bool:
    if len(content) <= PLAIN_BYTES and _measure_depth(content) <= PLAIN_DEPTH:
        return not get_reading(detect_file_language(path)).parse(content).unreadable
    done = subprocess.run(
        [sys.executable, '-m', __name__, str(cpu_seconds), detect_file_language(path)],
        input=content,
        capture_output=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
    )
    return done.returncode == 0


def _measure_depth(content: bytes) -> int:
    """How many brackets are open at once; those in comments and strings count as well."""
    depth = most = 0
    for bracket in _BRACKET.finditer(content):
        depth = depth + 1 if bracket[1] else max(0, depth - 1)
        most = max(most, depth)
    return most


def _parse_stdin() -> None:
    seconds, language = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    content = sys.stdin.buffer.read()
    gc.disable()  # nothing of it is garbage before the end
    get_surgery(language).list_other_tests(content, [])
    if get_reading(language).parse(content).unreadable:
        raise SystemExit(1)


if __name__ == '__main__':
    _parse_stdin()
