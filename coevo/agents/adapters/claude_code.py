"""Adapter for Claude Code, which runs as a command in print mode.

The prompt is the user's message, unchanged. Tools that search the web are off; the relay would
refuse those that run at the endpoint.
"""

from __future__ import annotations

COMMAND = """\
export ANTHROPIC_BASE_URL="$COEVO_ENDPOINT"
exec /agent/node_modules/@anthropic-ai/claude-code-linux-*/claude --print --output-format json \\
    --model "$COEVO_MODEL" --dangerously-skip-permissions --disallowedTools WebSearch WebFetch
"""
APIS = ('anthropic',)
ENVIRONMENT = {
    'ANTHROPIC_API_KEY': 'none',
    'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1',
    'DISABLE_AUTOUPDATER': '1',
}
INSTALL_INSTRUCTIONS = 'npm install --prefix DIR @anthropic-ai/claude-code'
BUNDLED_FILE = None
RUNS_COMMANDS = True
GENERATES_IN: tuple[str, ...] = ()
