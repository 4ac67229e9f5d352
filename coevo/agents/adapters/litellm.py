"""Parts shared by agents that reach their model through LiteLLM.

$COEVO_MODEL begins with LiteLLM's name of the API: anthropic/…, gemini/… or openai/….
"""

from __future__ import annotations

# LiteLLM expects the API's version in the base address, except for Anthropic.
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
    'LITELLM_LOCAL_MODEL_COST_MAP': 'True',  # otherwise LiteLLM would try to download it
    'PYTHONDONTWRITEBYTECODE': '1',
}
