"""What agents that reach their model through LiteLLM have in common.

$COEVO_MODEL begins with the API, as LiteLLM has it: anthropic/…, gemini/… or openai/….
"""

from __future__ import annotations

# Each API has its calls elsewhere below its address.
BASE = """\
case "$COEVO_MODEL" in
    gemini/*) base="$COEVO_ENDPOINT/v1beta" ;;
    openai/*) base="$COEVO_ENDPOINT/v1" ;;
    *) base="$COEVO_ENDPOINT" ;;
esac
"""
APIS = ('anthropic', 'gemini', 'openai')
ENVIRONMENT = {
    'ANTHROPIC_API_KEY': 'none',
    'GEMINI_API_KEY': 'none',
    'OPENAI_API_KEY': 'none',
    'LITELLM_LOCAL_MODEL_COST_MAP': 'True',  # it would be fetched
    'PYTHONDONTWRITEBYTECODE': '1',
}
