"""Adapter for SWE-agent 1.1, which runs as a command and uses the sandbox as its environment.

The prompt is the user's message, unchanged, without SWE-agent's own frame. The system message tells
the model what the agent requires: its tools, and how to end.

SWE-agent keeps its state below /root, which no sandbox has, so a copy of it is changed to use
/tmp/root. The editor tool's install script is emptied: it installs packages for an option that is
not used here.
"""

from __future__ import annotations

from coevo.agents.adapters import base

COMMAND = f"""\
{base.BASE}
mkdir -p /tmp/root /tmp/swe/trajectories
: >/tmp/root/.bashrc
cp -r /agent/source/sweagent /agent/source/config /agent/source/tools /tmp/swe/
: >/tmp/swe/tools/edit_anthropic/install.sh
grep -rl /root /tmp/swe | xargs sed -i 's#/root#/tmp/root#g'
cat >/tmp/swe.yaml <<'END'
agent:
  templates:
    system_template: |-
      You are a helpful assistant that can interact with a computer. Every answer of yours calls one
      tool. When you are done, call the tool submit.
    instance_template: '{{{{problem_statement}}}}'
    next_step_template: '{{{{observation}}}}'
    next_step_no_output_template: 'Your command ran successfully and did not produce any output.'
  tools:
    bundles:
      - path: /tmp/swe/tools/registry
      - path: /tmp/swe/tools/edit_anthropic
      - path: /tmp/swe/tools/submit
    enable_bash_tool: true
    parse_function:
      type: function_calling
    execution_timeout: 600
  model:
    per_instance_cost_limit: 0
    total_cost_limit: 0
    per_instance_call_limit: 0
    completion_kwargs:
      drop_params: true
env:
  deployment:
    type: local
  repo:
    type: preexisting
    repo_name: w/project
END
export PATH="/agent/bin:$PATH" PYTHONPATH=/tmp/swe
exec python -m sweagent run --config /tmp/swe.yaml --output_dir /tmp/swe/out \\
    --agent.model.name "$COEVO_MODEL" --agent.model.api_base "$base" \\
    --agent.model.api_key none --problem_statement.type text_file \\
    --problem_statement.path "$COEVO_PROMPT" --problem_statement.id task
"""
APIS = base.APIS
ENVIRONMENT = base.ENVIRONMENT
INSTALL_INSTRUCTIONS = (
    '/usr/bin/python3 -m venv DIR, a checkout of its repository at v1.1.0 as DIR/source, and '
    'DIR/bin/pip install DIR/source mcp'
)
BUNDLED_FILE = None
RUNS_COMMANDS = True
GENERATES_IN: tuple[str, ...] = ()
