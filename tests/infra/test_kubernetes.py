"""The job of a work pool on Kubernetes, filled as Prefect fills it, against Kubernetes' own schema."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from kubernetes_validate import ValidationError
from prefect.utilities.templating import apply_values

TEMPLATE = Path(__file__).parents[2] / 'infra' / 'kubernetes-job.json'


def job(**values: Any) -> dict[str, Any]:
    """The manifest of a flow run; Prefect's worker makes lists of its environment and its command."""
    template = json.loads(TEMPLATE.read_text())
    variables = template['variables']['properties']
    defaults = {name: one['default'] for name, one in variables.items() if 'default' in one}
    given = {'name': 'run', 'command': 'prefect flow-run execute', 'env': {'PREFECT_API_URL': 'u'}}
    filled = apply_values(template['job_configuration'], {**defaults, **given, **values})
    assert isinstance(filled, dict)
    manifest: dict[str, Any] = filled['job_manifest']
    (container,) = manifest['spec']['template']['spec']['containers']
    container['env'] = [{'name': name, 'value': text} for name, text in container['env'].items()]
    container['args'] = shlex.split(container['args'])
    return manifest


def test_the_job_manifest_matches_the_kubernetes_schema() -> None:
    manifest = job()
    assert '{{' not in json.dumps(manifest)
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    (container,) = manifest['spec']['template']['spec']['containers']
    # The paper's limits (TestEvo-Bench, appendix A.2).
    assert container['resources']['requests']['cpu'] == 4
    assert container['resources']['limits']['memory'] == '15Gi'


def test_a_job_manifest_with_a_wrong_field_fails_the_schema() -> None:
    manifest = job()
    manifest['spec']['template']['spec']['containers'][0]['memory'] = '15Gi'
    with pytest.raises(ValidationError):
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
