"""Adapter for Gemini CLI, which runs as a command without a terminal.

The prompt is the user's message, unchanged, after a part in which Gemini CLI lists the folder.
Tools that search the web are off; the relay would refuse those that run at the endpoint.
"""

from __future__ import annotations

import json

_SETTINGS = {
    'general': {'enableAutoUpdate': False},
    'privacy': {'usageStatisticsEnabled': False},
    'security': {'auth': {'selectedType': 'gemini-api-key'}},
    'tools': {'exclude': ['google_web_search', 'web_fetch']},
}

COMMAND = f"""\
mkdir -p ~/.gemini
echo '{json.dumps(_SETTINGS)}' >~/.gemini/settings.json
export GOOGLE_GEMINI_BASE_URL="$COEVO_ENDPOINT"
exec node /agent/node_modules/@google/gemini-cli/bundle/gemini.js --model "$COEVO_MODEL" \\
    --approval-mode yolo --skip-trust
"""
APIS = ('gemini',)
ENVIRONMENT = {'GEMINI_API_KEY': 'none'}
INSTALL_INSTRUCTIONS = 'npm install --prefix DIR @google/gemini-cli'
BUNDLED_FILE = None
RUNS_COMMANDS = True
GENERATES_IN: tuple[str, ...] = ()
