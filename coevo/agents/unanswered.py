"""Attempts that a model did not answer: trouble, a mistake of the command, or a task's own outcome."""

from __future__ import annotations

import re

from coevo.agents import one_shot
from coevo.agents.adapters.one_shot import COMMAND as ONE_SHOT
from coevo.agents.costs import Meter
from coevo.agents.records import Ending
from coevo.agents.run import AgentRun, AgentSettings
from coevo.model.errors import Fatal, Transient

_BY_ITSELF = (Ending.COMPLETED, Ending.FAILED)
# Exit statuses of a shell that cannot execute or find a program.
_NOT_STARTED = (126, 127)
# What a shell or an interpreter says, and nothing else, of a script that is not there.
_NO_SCRIPT = re.compile(r"[^\n]*(?:cannot|can't) open [^\n]*")


def is_prompt_refused(ran: AgentRun, meter: Meter, settings: AgentSettings) -> bool:
    """Return whether the endpoint refused the prompt of an attempt, which then is its outcome.

    Raises: Transient if the attempt has to be made again; Fatal if the agent cannot be started, or
    ends by itself before a model has answered.
    """
    if ran.cut_off:
        raise Transient(f'the endpoint ended the attempt ({ran.trouble[-1]})')
    if ran.ending not in _BY_ITSELF or _has_model_answered(ran, meter):
        return False
    if not ran.files and _could_not_start(ran):
        raise Fatal(
            f'the agent cannot be started: its command ended with status {ran.status} '
            f'({_find_last_line(ran)}); correct --agent or --software, then run the same command '
            'again'
        )
    if settings.endpoint is None:
        return False
    if ran.rejection is not None and ran.rejection.concerns_prompt:
        return True
    raise _make_no_answer_error(ran, is_one_shot=settings.command == ONE_SHOT)


def make_all_refused_error(reason: str) -> Fatal:
    """Return the error for a run of which the endpoint refused each question."""
    return Fatal(
        f'the endpoint refused each question ({reason}); correct --model, --endpoint or what the '
        'settings send along, or select other tasks, then run the same command again'
    )


def _could_not_start(ran: AgentRun) -> bool:
    is_script_lost = ran.status == 2 and _NO_SCRIPT.fullmatch(ran.output_tail.strip())
    return ran.status in _NOT_STARTED or bool(is_script_lost)


def _has_model_answered(ran: AgentRun, meter: Meter) -> bool:
    """Return whether a model answered.

    Some endpoints do not state their usage. A call to such an endpoint counts if the agent
    understood the answer.
    """
    understood = ran.status in (0, one_shot.NO_CODE_BLOCK, one_shot.NO_FITTING_PATCH)
    return bool(meter.rounds) or (meter.unmetered > 0 and understood)


def _make_no_answer_error(ran: AgentRun, *, is_one_shot: bool) -> Fatal:
    options = '--model or --endpoint' if is_one_shot else '--model, --endpoint or --agent'
    advice = f'correct {options}, then run the same command again'
    if ran.rejection is not None:
        return Fatal(f'the endpoint refused the question ({ran.rejection}); {advice}')
    last = _find_last_line(ran)
    if is_one_shot:
        return Fatal(f'no model answered: {last}; {advice}')
    return Fatal(
        f'the agent ended with status {ran.status} before a model answered ({last}); {advice}'
    )


def _find_last_line(ran: AgentRun) -> str:
    lines = [line for line in ran.output_tail.splitlines() if line.strip()]
    return lines[-1][:500] if lines else 'it printed nothing'
