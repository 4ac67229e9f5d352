"""The cells of a grid as plans of attempts, in the file's order; each has a folder of its own below --out."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.agents.attempts import AttemptPlan
from coevo.agents.estimate import CostEstimate, estimate_attempts
from coevo.agents.grid.grid import Grid, GridCell, load_grid
from coevo.agents.keeping import RunFolder
from coevo.agents.planning import load_requested_prices, make_plan, select_tasks
from coevo.agents.summary import describe_network
from coevo.evaluation.verbs import check_store
from coevo.model.errors import Fatal

# What the file says itself, by the names of options.
_SAID = ('agent', 'agent_model', 'api', 'endpoint', 'key_env', 'software', 'harness')
_AGENT = 'one-shot'


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRun:
    """A cell, and how its attempts are made."""

    cell: GridCell
    plan: AttemptPlan


def load_requested_grid(arguments: argparse.Namespace) -> Grid:
    """Fatal for a file, or options beside it, that do not go."""
    for name in _SAID:
        if getattr(arguments, name) is not None:
            raise Fatal(f'--grid says itself what is asked; leave out --{name.replace("_", "-")}')
    if arguments.protocol != 'once':
        raise Fatal('--grid goes with --protocol once alone')
    return load_grid(arguments.grid)


def plan_grid_runs(arguments: argparse.Namespace, grid: Grid) -> Sequence[GridRun]:
    """All of them, when it is certain that each can begin: Fatal before the first has."""
    endpoints = [cell.model.resolve_endpoint() for cell in grid.cells]
    first = grid.cells[0]
    base = make_plan(
        argparse.Namespace(
            **{
                **vars(arguments),
                **dict.fromkeys(('software', 'harness'), None),
                'agent': _AGENT,
                'agent_model': first.model.name_at_endpoint,
                'api': first.model.api,
                'endpoint': endpoints[0].url,
                'key_env': first.model.key_variable,
            }
        )
    )
    runs = []
    for cell, endpoint in zip(grid.cells, endpoints, strict=True):
        environment = {
            **base.settings.environment,
            'COEVO_API': cell.model.api,
            'COEVO_MODEL': cell.model.name_at_endpoint,
            'COEVO_MESSAGES': 'whole',
            'COEVO_SETTINGS': json.dumps(_collect_settings(cell), sort_keys=True),
        }
        settings = replace(base.settings, endpoint=endpoint, environment=environment)
        own = {
            'model': cell.model.name_at_endpoint,
            'harness': f'{_AGENT}/{cell.prompt}',
            'network': describe_network(settings),
            'settings': _collect_settings(cell),
            'template_sha256': _hash_prompt(cell),
        }
        runs.append(
            GridRun(
                cell=cell,
                plan=replace(
                    base,
                    out=arguments.out / cell.name,
                    settings=settings,
                    harness=f'{_AGENT}/{cell.prompt}',
                    model=cell.model.name_at_endpoint,
                    template=cell.template,
                    run_inputs={**base.run_inputs, **own},
                ),
            )
        )
    for run in runs:
        with RunFolder(run.plan.out).lock_folder(run.plan.run_inputs):
            pass  # it is ours, or new
    return runs


def estimate_grid(arguments: argparse.Namespace, grid: Grid) -> Sequence[tuple[str, CostEstimate]]:
    """What each cell would cost, by its name; needs no key."""
    tasks, prices = select_tasks(arguments), load_requested_prices(arguments)
    return [
        (
            cell.name,
            estimate_attempts(
                tasks,
                attempts=arguments.attempts,
                model=cell.model.name_at_endpoint,
                store=check_store(arguments.store),
                prices=prices,
                template=cell.template,
            ),
        )
        for cell in grid.cells
    ]


def _collect_settings(cell: GridCell) -> Mapping[str, float]:
    settings = {'temperature': cell.model.temperature, 'max_tokens': cell.model.max_tokens}
    return {name: value for name, value in settings.items() if value is not None}


def _hash_prompt(cell: GridCell) -> str:
    """SHA-256 of a prompt with the texts of its own."""
    messages = [dataclasses.asdict(message) for message in cell.template.messages]
    named = cell.template.variables
    texts = {name: text for name, text in cell.template.texts.items() if name in named}
    return hashlib.sha256(json.dumps([messages, texts], sort_keys=True).encode()).hexdigest()
