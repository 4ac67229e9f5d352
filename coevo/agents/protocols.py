"""Protocols of `coevo run --protocol`: what an attempt knows of others, and how papers ask a model.

A plain protocol only says what an attempt knows of earlier ones. A published protocol also sets
what its paper (or the code published with it) sets: the number of attempts, the sampling of the
model, the prompt, the cost of an attempt. `docs/scoring.md` has the table, with the deviations.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.model.errors import Fatal

_ONE_SHOT = 'one-shot'


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedProtocol:
    """The settings of a paper's evaluation.

    relation    what an attempt knows of earlier ones
    attempts    the most attempts at each task
    sampling    `temperature` and `max_tokens` of a call; the endpoint's defaults apply to others
    max_cost    most US dollars of an attempt; None without a limit
    is_unified  whether every task gets the same prompt, which asks for a whole test file
    has_tools   whether the paper evaluates agents with tools; otherwise it asks the model itself
    """

    relation: AttemptProtocol
    attempts: int = 1
    sampling: Mapping[str, float] = field(default_factory=dict)
    max_cost: float | None = None
    is_unified: bool = False
    has_tools: bool = False


PUBLISHED: Mapping[str, PublishedProtocol] = {
    # TestEvo-Bench, 5.4: one attempt of an agent, with a budget of 3 US dollars a task.
    'testevo': PublishedProtocol(relation=AttemptProtocol.ONCE, max_cost=3.0, has_tools=True),
    # TAM-Eval, V: three attempts with feedback at temperature 0.25; the token limit is its code's.
    'tam-eval': PublishedProtocol(
        relation=AttemptProtocol.FEEDBACK,
        attempts=3,
        sampling={'temperature': 0.25, 'max_tokens': 7000},
        is_unified=True,
    ),
    # ULT, 4.3 and 5: five different tests of a function; the numbers are its code's.
    'ult': PublishedProtocol(
        relation=AttemptProtocol.DIVERSIFY,
        attempts=5,
        sampling={'temperature': 0, 'max_tokens': 1024},
    ),
    # MultiFileTest, 3.4 and 4.2: temperature 0; the second attempt is its self-fixing scenario.
    'multifile': PublishedProtocol(
        relation=AttemptProtocol.FEEDBACK, attempts=2, sampling={'temperature': 0}
    ),
    # AgoneTest, IV: one attempt at temperature 0.
    'agonetest': PublishedProtocol(relation=AttemptProtocol.ONCE, sampling={'temperature': 0}),
}
"""The published protocols by name."""

PROTOCOLS: tuple[str, ...] = (*map(str, AttemptProtocol), *PUBLISHED)
"""All words that `--protocol` takes."""


def apply_protocol(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the options with what the protocol sets: attempts, relation, sampling and cost.

    The attribute `relation` is added, an `AttemptProtocol`. Without `--attempts`, a plain protocol
    makes one attempt.

    Raises: Fatal if an option contradicts the protocol.
    """
    name = arguments.protocol
    known = PUBLISHED.get(name)
    if known is None:
        return argparse.Namespace(
            **{
                **vars(arguments),
                'attempts': 1 if arguments.attempts is None else arguments.attempts,
                'relation': AttemptProtocol(name),
            }
        )
    if not known.has_tools and arguments.agent not in (None, _ONE_SHOT):
        raise Fatal(f'the protocol {name} asks the model itself; leave out --agent or --protocol')
    if known.max_cost is not None and arguments.prices is None:
        raise Fatal(
            f'the protocol {name} limits an attempt to {known.max_cost:g} US dollars, which needs '
            'prices; name a table of prices with --prices FILE'
        )
    wanted = {
        'attempts': known.attempts,
        'max_cost': known.max_cost,
        'temperature': known.sampling.get('temperature'),
        'max_tokens': known.sampling.get('max_tokens'),
    }
    for option, value in wanted.items():
        given = getattr(arguments, option)
        if given is not None and given != value:
            raise Fatal(
                f'the protocol {name} {_describe_protocol_setting(option, value)}; leave out {option} = '
                f'{given}, or the protocol'
            )
    return argparse.Namespace(**{**vars(arguments), **wanted, 'relation': known.relation})


def has_unified_prompt(name: str) -> bool:
    """Return whether a protocol asks every task by the same prompt, for a whole test file."""
    return name in PUBLISHED and PUBLISHED[name].is_unified


def _describe_protocol_setting(option: str, value: float | None) -> str:
    return f'sets no {option}' if value is None else f'sets {option} to {value:g}'
