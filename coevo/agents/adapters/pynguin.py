"""Adapter for Pynguin, which generates tests for Python by search, without a model.

See https://pynguin.readthedocs.io. It writes new tests alone: for tasks of the track generation,
and for whole test files.
"""

from __future__ import annotations

from pathlib import Path

from coevo.agents import pynguin_driver
from coevo.agents.run import DRIVER

BUNDLED_FILE = Path(pynguin_driver.__file__)
COMMAND = f'exec python3 -B {DRIVER}/{BUNDLED_FILE.name}'
APIS = ()
ENVIRONMENT: dict[str, str] = {}
INSTALL_INSTRUCTIONS = (
    'for each version of Python that tasks use, such as 3.12: '
    'python3.12 -m pip install --target DIR/3.12 pynguin'
)
RUNS_COMMANDS = True
GENERATES_IN = ('python',)
