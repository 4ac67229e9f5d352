"""The deployments of `prefect.yaml`, without a server."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ENTRYPOINTS = sorted(
    {
        deployment['entrypoint']
        for deployment in yaml.safe_load((ROOT / 'prefect.yaml').read_text())['deployments']
    }
)


@pytest.mark.parametrize('entrypoint', ENTRYPOINTS)
def test_every_deployment_names_a_flow_of_its_file(entrypoint: str) -> None:
    """A renamed flow makes `prefect deploy` fail, which only live tests would notice."""
    path, _, name = entrypoint.partition(':')
    functions = [
        node
        for node in ast.parse((ROOT / path).read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert len(functions) == 1
    assert any('flow' in ast.unparse(decorator) for decorator in functions[0].decorator_list)
