"""Adapter for Randoop, which generates tests for Java by random calls, without a model.

See https://randoop.github.io/randoop. It writes new tests alone: for tasks of the track generation,
and for whole test files.
"""

from __future__ import annotations

from pathlib import Path

from coevo.agents import randoop_driver
from coevo.agents.run import DRIVER

BUNDLED_FILE = Path(randoop_driver.__file__)
COMMAND = f'exec /usr/bin/python3 -I -B {DRIVER}/{BUNDLED_FILE.name}'
APIS = ()
ENVIRONMENT: dict[str, str] = {}
INSTALL_INSTRUCTIONS = 'download the file randoop-all-VERSION.jar of a release of Randoop into DIR'
RUNS_COMMANDS = True
GENERATES_IN = ('java',)
