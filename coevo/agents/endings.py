"""How an attempt ended; the values stand in predictions as `exit_status`."""

from __future__ import annotations

from enum import StrEnum


class Ending(StrEnum):
    """Whatever it is, what the agent left until then is its answer, where there is any."""

    COMPLETED = 'completed'  # the agent's command ended with status 0
    FAILED = 'failed'  # it ended with another one
    TIME_CAP = 'time_cap'
    COST_CAP = 'cost_cap'
    MEMORY = 'memory'  # all its processes were killed, and its files with them
    LOST = 'lost'  # it ended the sandbox itself, so that nothing could be taken over
    TOO_LARGE = 'too_large'  # it wrote more into files of the project than a patch may have
