"""Adapter for mini-SWE-agent, which runs as a command.

The prompt is the user's message, unchanged. The system message tells the model what the agent
requires: that every answer calls a tool, and how to end.
"""

from __future__ import annotations

from coevo.agents.adapters import base

COMMAND = f"""\
{base.BASE}
cat >/tmp/mini.yaml <<'END'
agent:
  system_template: |
    You are a helpful assistant that can interact with a computer. Every answer of yours calls the
    tool bash at least once. When you are done, call it with exactly
    `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`.
  instance_template: '{{{{task}}}}'
  step_limit: 0
  cost_limit: 0
  mode: yolo
environment:
  timeout: 600
model:
  observation_template: |
    <returncode>{{{{output.returncode}}}}</returncode>
    <output>
    {{% if output.output | length < 10000 -%}}
    {{{{ output.output }}}}
    {{%- else -%}}
    {{{{ output.output[:5000] }}}}
    ({{{{ output.output | length - 10000 }}}} characters are left out)
    {{{{ output.output[-5000:] }}}}
    {{%- endif %}}
    </output>
END
prompt=$(cat; echo .)
exec /agent/bin/python -m minisweagent.run.mini --yolo --exit-immediately \\
    --output /tmp/mini.traj.json --model "$COEVO_MODEL" --task "${{prompt%.}}" \\
    --config /tmp/mini.yaml --config model.model_kwargs.api_base="$base"
"""
APIS = base.APIS
ENVIRONMENT = {
    **base.ENVIRONMENT,
    'MSWEA_CONFIGURED': '1',
    'MSWEA_COST_TRACKING': 'ignore_errors',
}
INSTALL_INSTRUCTIONS = '/usr/bin/python3 -m venv DIR && DIR/bin/pip install mini-swe-agent mcp'
BUNDLED_FILE = None
RUNS_COMMANDS = True
GENERATES_IN: tuple[str, ...] = ()
