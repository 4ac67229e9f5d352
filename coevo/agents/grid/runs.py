"""The cells of a grid as plans of attempts, in the file's order; each has a folder of its own below --out."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.agents.attempts import AttemptPlan
from coevo.agents.estimate import Estimate
from coevo.agents.estimate import estimate
from coevo.agents.grid.grid import Grid
from coevo.agents.grid.grid import GridCell
from coevo.agents.grid.grid import read_grid
from coevo.agents.keeping import Keeping
from coevo.agents.planning import plan
from coevo.agents.planning import prices_of
from coevo.agents.planning import tasks_of
from coevo.agents.summary import network
from coevo.evaluation.verbs import existing_store
from coevo.model.errors import Fatal

# What the file says itself, by the names of options.
_SAID = ('agent', 'agent_model', 'api', 'endpoint', 'key_env', 'software', 'harness')
_AGENT = 'one-shot'


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRun:
    """A cell, and how its attempts are made."""

    cell: GridCell
    plan: AttemptPlan


def grid_of(arguments: argparse.Namespace) -> Grid:
    """Fatal for a file, or options beside it, that do not go."""
    for name in _SAID:
        if getattr(arguments, name) is not None:
            raise Fatal(f'--grid says itself what is asked; leave out --{name.replace("_", "-")}')
    if arguments.protocol != 'once':
        raise Fatal('--grid goes with --protocol once alone')
    return read_grid(arguments.grid)


def runs_of(arguments: argparse.Namespace, grid: Grid) -> Sequence[GridRun]:
    """All of them, when it is certain that each can begin: Fatal before the first has."""
    endpoints = [cell.model.endpoint() for cell in grid.cells]
    first = grid.cells[0]
    base = plan(
        argparse.Namespace(
            **{
                **vars(arguments),
                **dict.fromkeys(('software', 'harness'), None),
                'agent': _AGENT,
                'agent_model': first.model.called,
                'api': first.model.api,
                'endpoint': endpoints[0].url,
                'key_env': first.model.key_variable,
            }
        )
    )
    found = []
    for cell, endpoint in zip(grid.cells, endpoints, strict=True):
        environment = {
            **base.settings.environment,
            'COEVO_API': cell.model.api,
            'COEVO_MODEL': cell.model.called,
            'COEVO_MESSAGES': 'whole',
            'COEVO_SETTINGS': json.dumps(_settings(cell), sort_keys=True),
        }
        settings = replace(base.settings, endpoint=endpoint, environment=environment)
        own = {
            'model': cell.model.called,
            'harness': f'{_AGENT}/{cell.prompt}',
            'network': network(settings),
            'settings': _settings(cell),
            'template_sha256': _digest(cell),
        }
        found.append(
            GridRun(
                cell=cell,
                plan=replace(
                    base,
                    out=arguments.out / cell.name,
                    settings=settings,
                    harness=f'{_AGENT}/{cell.prompt}',
                    model=cell.model.called,
                    template=cell.template,
                    asked={**base.asked, **own},
                ),
            )
        )
    for run in found:
        with Keeping(run.plan.out).opened(run.plan.asked):
            pass  # it is ours, or new
    return found


def estimates_of(arguments: argparse.Namespace, grid: Grid) -> Sequence[tuple[str, Estimate]]:
    """What each cell would cost, by its name; needs no key."""
    tasks, prices = tasks_of(arguments), prices_of(arguments)
    return [
        (
            cell.name,
            estimate(
                tasks,
                attempts=arguments.attempts,
                model=cell.model.called,
                store=existing_store(arguments.store),
                prices=prices,
                template=cell.template,
            ),
        )
        for cell in grid.cells
    ]


def _settings(cell: GridCell) -> Mapping[str, float]:
    asked = {'temperature': cell.model.temperature, 'max_tokens': cell.model.max_tokens}
    return {name: value for name, value in asked.items() if value is not None}


def _digest(cell: GridCell) -> str:
    """SHA-256 of a prompt with the texts of its own."""
    messages = [dataclasses.asdict(one) for one in cell.template.messages]
    named = cell.template.variables
    texts = {name: text for name, text in cell.template.texts.items() if name in named}
    return hashlib.sha256(json.dumps([messages, texts], sort_keys=True).encode()).hexdigest()
