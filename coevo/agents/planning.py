"""Make the plan of a run from the options of `coevo run`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path
from typing import Literal

from coevo.agents.adapters import ADAPTERS
from coevo.agents.adapters.base import Adapter
from coevo.agents.attempts import AttemptPlan
from coevo.agents.costs import PriceTable, load_prices
from coevo.agents.endpoint import Endpoint, make_endpoint
from coevo.agents.estimate import CostEstimate, estimate_attempts
from coevo.agents.protocols import has_unified_prompt
from coevo.agents.run import DRIVER, SOFTWARE, AgentSettings, Caps
from coevo.agents.summary import describe_network
from coevo.agents.turns import AttemptSeries
from coevo.evaluation.assignments import list_wanted_ids, load_assignments
from coevo.evaluation.options import (
    EvaluationOptions,
    create_writable_folder,
    explain_left_out,
    verify_and_get_sha256,
)
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.predictions import MOST_ATTEMPTS
from coevo.evaluation.verbs import (
    check_positive,
    choose_gradable_ids,
    choose_task_ids,
    parse_task_ids,
)
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.task_rows import TaskRow
from coevo.options.parser import check_clones, parse_cutoff
from coevo.prompts import VERSION, compose_unified_prompt
from coevo.sandboxes.sandbox import Mount
from coevo.snapshots.cutoffs import Cutoff, choose_cutoff, find_model, read_models

GIB = 1 << 30
USUAL_API = 'openai'


def make_plan(arguments: argparse.Namespace) -> AttemptPlan:
    """Return the plan that the options ask for.

    The snapshot is verified, and the folder of the answers is created.
    Raises: Fatal if an option is not valid.
    """
    adapter = _find_adapter(arguments.agent)
    settings, series = _build_settings(arguments, adapter), _build_series(arguments)
    tasks = select_tasks(arguments)
    create_writable_folder(arguments.out, '--out')
    return AttemptPlan(
        tasks=tasks,
        out=arguments.out,
        settings=settings,
        harness=arguments.harness or _derive_harness(arguments.agent),
        model=arguments.model,
        clones=check_clones(arguments.clones),
        prices=load_requested_prices(arguments),
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
        kit=_has_kit(arguments, adapter),
        series=series,
        only_after=arguments.after,
        run_inputs=_collect_run_inputs(arguments, settings, adapter),
    )


def check_options_and_choose_endpoint(arguments: argparse.Namespace) -> Endpoint | None:
    """Check the options and return the endpoint that the agent reaches; None without network.

    Raises: Fatal, before anything is read or fetched, for options that are not valid.
    """
    _build_series(arguments)
    if arguments.max_cost is not None and load_requested_prices(arguments) is None:
        raise Fatal('a cost cap needs prices; name a table of prices with --prices FILE')
    load_requested_prices(arguments)
    check_clones(arguments.clones)
    return _build_settings(arguments, _find_adapter(arguments.agent)).endpoint


def estimate_cost(arguments: argparse.Namespace) -> CostEstimate:
    """Return the estimated cost of all attempts.

    Raises: Fatal unless the agent is one-shot; other agents decide themselves how many calls they
    make.
    """
    if not is_estimable(arguments.agent):
        raise Fatal(
            'only the cost of the agent one-shot can be estimated beforehand; leave out '
            '--estimate or --agent'
        )
    return estimate_attempts(
        select_tasks(arguments),
        attempts=arguments.attempts,
        model=arguments.model or '',
        clones=check_clones(arguments.clones),
        prices=load_requested_prices(arguments),
    )


def check_model(arguments: argparse.Namespace) -> None:
    """Raise Fatal if an agent lacks its model, or gets one although it asks none."""
    adapter = _find_adapter(arguments.agent)
    if adapter is None:
        return
    if adapter.APIS and arguments.model is None:
        raise Fatal(f'{arguments.agent} needs a model: --model NAME')
    if not adapter.APIS and (arguments.model or arguments.endpoint or arguments.api):
        raise Fatal(f'{arguments.agent} asks no model; leave out --model, --endpoint and --api')


def is_estimable(agent: str) -> bool:
    """Return whether an agent's cost can be estimated: only agents without tools make one call."""
    adapter = _find_adapter(agent)
    return adapter is not None and not adapter.RUNS_COMMANDS


def load_requested_prices(arguments: argparse.Namespace) -> PriceTable | None:
    """Return the price table of --prices; None without that option."""
    return load_prices(arguments.prices) if arguments.prices else None


def build_evaluation_options(
    arguments: argparse.Namespace, predictions: Path | Literal['gold']
) -> EvaluationOptions:
    """Return the options by which the predictions of attempts are graded."""
    return EvaluationOptions(
        snapshot=arguments.snapshot,
        predictions=predictions,
        clones=check_clones(arguments.clones),
        tasks=choose_gradable_ids(arguments),
        cutoff=choose_run_cutoff(arguments),
        models=read_models(arguments.models) if arguments.models else (),
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
    )


def choose_run_cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Return the cutoff of a run: that of its options, else of its model.

    None if there is no limit.
    Raises: Fatal if no cutoff of the model is known, or if options contradict each other.
    """
    named = arguments.after is not None or arguments.unseen_by is not None
    if arguments.any_date:
        if named or arguments.margin_days:
            raise Fatal(
                '--any-date selects all tasks and contradicts a cutoff; leave out one of the two'
            )
        return Cutoff(before=arguments.before) if arguments.before else None
    if named or arguments.model is None or arguments.grid is not None:
        return parse_cutoff(arguments)  # a grid has several models, with a cutoff each
    added = read_models(arguments.models) if arguments.models else ()
    model = find_model(arguments.model, added)
    if model is None or model.cutoff is None:
        raise Fatal(
            f'no training cutoff of {arguments.model!r} is known, so coevo cannot tell which '
            'tasks are new to it; give --only-after DATE, or --any-date for all tasks'
        )
    return choose_cutoff(
        model=arguments.model,
        before=arguments.before,
        margin=arguments.margin_days,
        models=arguments.models,
    )


def select_task_ids(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the ids of the tasks that the options select, at most `--limit` of them.

    Tasks that ask for code are left out where an attempt builds on the test file of another one, or
    a prompt asks for one. Raises: Fatal if there is none.
    """
    with_code = _may_select_code_tasks(arguments)
    if arguments.family == Family.IMPLEMENT and not with_code:
        raise Fatal(
            'a task of the family implement is attempted once and with its own prompt; leave out '
            '--protocol, and the setting grid'
        )
    cutoff = choose_run_cutoff(arguments)
    task_ids = list_wanted_ids(
        arguments.snapshot,
        choose_task_ids(arguments),
        cutoff,
        family=Family(arguments.family) if arguments.family else None,
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
        with_code=with_code,
        new_tests_in=_list_generated_languages(arguments),
    )
    if not task_ids:
        limit = f' {cutoff}' if cutoff else ''
        raise Fatal(
            f'no task is left to attempt{limit}; select other tasks, or give an earlier '
            'cutoff with --only-after DATE'
        )
    return task_ids[: arguments.limit]


def _list_generated_languages(arguments: argparse.Namespace) -> tuple[str, ...]:
    adapter = _find_adapter(arguments.agent)
    return adapter.GENERATES_IN if adapter is not None else ()


def explain_named_tasks_left_out(
    arguments: argparse.Namespace, selected_ids: Sequence[str]
) -> tuple[str, ...]:
    """Return why tasks that --only-tasks names are not selected; () if it was not given."""
    named = parse_task_ids(arguments.tasks)
    if named is None:
        return ()
    return tuple(
        explain_left_out(
            arguments.snapshot,
            named,
            selected_ids,
            in_views=choose_task_ids(arguments) or (),
            cutoff=choose_run_cutoff(arguments),
            family=Family(arguments.family) if arguments.family else None,
            otherwise=_explain_otherwise_left_out(arguments),
        )
    )


def _explain_otherwise_left_out(arguments: argparse.Namespace) -> str:
    languages = _list_generated_languages(arguments)
    if languages:
        return f'not for {arguments.agent}, which writes new tests in {", ".join(languages)}'
    if arguments.limit:
        return f'beyond --limit {arguments.limit}'
    return 'not for this protocol, which asks for tests'


def _may_select_code_tasks(arguments: argparse.Namespace) -> bool:
    is_alone = arguments.relation is AttemptProtocol.ONCE
    return is_alone and not has_unified_prompt(arguments.protocol) and arguments.grid is None


def select_tasks(arguments: argparse.Namespace) -> Sequence[TaskRow]:
    """Return the tasks that the options select, in their order. Raises: Fatal if there is none."""
    task_ids = select_task_ids(arguments)
    task_assignments = load_assignments(arguments.snapshot, frozenset(task_ids))
    return _replace_prompts(
        arguments.protocol, [assignment.task for assignment in task_assignments]
    )


def _replace_prompts(protocol: str, tasks: Sequence[TaskRow]) -> Sequence[TaskRow]:
    """Return the tasks with the unified prompt if the protocol has one, otherwise unchanged.

    Raises: Fatal for a task that asks for single methods, which the unified prompt does not name.
    """
    if not has_unified_prompt(protocol):
        return tasks
    for task in tasks:
        if not task.focus:
            raise Fatal(
                f'the protocol {protocol} asks for whole test files, and task {task.task_id} asks '
                'for single methods; select other tasks with --only-family or --only-tasks'
            )
    return [replace(task, prompt=compose_unified_prompt(task)) for task in tasks]


def _build_series(arguments: argparse.Namespace) -> AttemptSeries:
    if arguments.attempts > MOST_ATTEMPTS:
        raise Fatal(f'--attempts must be {MOST_ATTEMPTS} or less, not {arguments.attempts}')
    if arguments.attempts == 1 and arguments.relation is not AttemptProtocol.ONCE:
        raise Fatal(
            f'the protocol {arguments.protocol} needs several attempts; give --attempts 2 or more'
        )
    return AttemptSeries(
        attempts=arguments.attempts,
        protocol=arguments.relation,
        snapshot=arguments.snapshot,
        seed=arguments.seed,
    )


def _find_adapter(agent: str) -> Adapter | None:
    return ADAPTERS.get(agent)


def _derive_harness(agent: str) -> str:
    return Path(agent.split()[0]).name if agent.split() else agent


def _build_settings(arguments: argparse.Namespace, adapter: Adapter | None) -> AgentSettings:
    check_positive(arguments.max_seconds, 'max_seconds')
    check_positive(arguments.max_cost, '--max-cost')
    environment = dict(adapter.ENVIRONMENT) if adapter else {}
    agent_endpoint = _choose_endpoint(arguments, adapter)
    if agent_endpoint is not None:
        environment['COEVO_API'] = agent_endpoint.api
    sampling = _collect_sampling(arguments, adapter)
    if sampling:
        environment['COEVO_SETTINGS'] = json.dumps(sampling, sort_keys=True)
    return AgentSettings(
        command=adapter.COMMAND if adapter else arguments.agent,
        caps=Caps(seconds=arguments.max_seconds, cost_usd=arguments.max_cost),
        endpoint=agent_endpoint,
        memory_bytes=arguments.memory_gib * GIB,
        mounts=tuple(_list_mounts(arguments, adapter)),
        environment={**environment, 'COEVO_MODEL': arguments.model or ''},
    )


def _collect_sampling(arguments: argparse.Namespace, adapter: Adapter | None) -> dict[str, float]:
    """Return `temperature` and `max_tokens` as far as they are given.

    Raises: Fatal if they are given for an agent that makes its calls itself.
    """
    given = {'temperature': arguments.temperature, 'max_tokens': arguments.max_tokens}
    sampling = {name: value for name, value in given.items() if value is not None}
    if sampling and (adapter is None or adapter.RUNS_COMMANDS):
        raise Fatal(
            f'{", ".join(sampling)} has no effect on {arguments.agent}, which makes its own calls; '
            'leave out the setting'
        )
    return sampling


def _choose_endpoint(arguments: argparse.Namespace, adapter: Adapter | None) -> Endpoint | None:
    api = arguments.api or (adapter.APIS[0] if adapter and adapter.APIS else None)
    if api is None and arguments.endpoint:
        api = USUAL_API
    if api is None:
        if arguments.key_env:
            raise Fatal(
                '--key-env has no effect without --api or --endpoint; give one, or leave it out'
            )
        return None
    if adapter is not None and api not in adapter.APIS:
        raise Fatal(
            f'{arguments.agent} speaks {", ".join(adapter.APIS)}; choose one of these with --api'
        )
    return make_endpoint(api, arguments.endpoint, arguments.key_env)


def _list_mounts(arguments: argparse.Namespace, adapter: Adapter | None) -> list[Mount]:
    bundled = adapter.BUNDLED_FILE if adapter is not None else None
    if adapter is not None and not adapter.RUNS_COMMANDS and bundled is not None:
        if arguments.software is not None:
            raise Fatal(f'{arguments.agent} comes with coevo; leave out --software')
        return [Mount(source=bundled, target=f'{SOFTWARE}/{bundled.name}')]
    if arguments.software is None:
        if adapter is not None:
            raise Fatal(
                f'{arguments.agent} needs the folder of its software; install it and give '
                f'--software DIR: {adapter.INSTALL_INSTRUCTIONS}'
            )
        script = _find_script_in_software_folder(arguments.agent)
        if script is not None:
            raise Fatal(f'{SOFTWARE}/{script} is nowhere; name its folder with --software DIR')
        return []
    if not arguments.software.is_dir():
        raise Fatal(
            f'{arguments.software} is not a folder; give --software the folder that has the agent'
        )
    script = None if adapter is not None else _find_script_in_software_folder(arguments.agent)
    # A link may lead to a place of the sandbox, where the folder is mounted.
    if script is not None and not os.path.lexists(arguments.software / script):
        raise Fatal(
            f'{arguments.software} has no {script}, which --agent is to run as {SOFTWARE}/{script}; '
            'correct --agent or --software'
        )
    mounts = [Mount(source=arguments.software.resolve(), target=SOFTWARE)]
    if bundled is not None:
        mounts.append(Mount(source=bundled, target=f'{DRIVER}/{bundled.name}'))
    return mounts


_INTERPRETER = re.compile(r'(?:.*/)?(?:sh|bash|dash|python[0-9.]*|node|perl|ruby)')


def _find_script_in_software_folder(command: str) -> str | None:
    """Return the path below the software's folder of what a shell command starts.

    None if that is something else, or cannot be told.
    """
    words = command.split()
    if words and _INTERPRETER.fullmatch(words[0]):
        words = list(dropwhile(lambda word: word.startswith('-'), words[1:]))
    match = re.fullmatch(rf'{SOFTWARE}/([\w./+-]+)', words[0]) if words else None
    return match[1] if match else None


def _collect_run_inputs(
    arguments: argparse.Namespace, settings: AgentSettings, adapter: Adapter | None
) -> dict[str, object]:
    """Return the inputs that affect answers; the choice of tasks and the number of jobs do not."""
    return {
        'snapshot_sha256': verify_and_get_sha256(arguments.snapshot),
        'prompt_version': VERSION,
        'agent': arguments.agent,
        'command': settings.command,
        'model': arguments.model,
        'harness': arguments.harness or _derive_harness(arguments.agent),
        'software': _get_software_hash_or_path(arguments, adapter),
        'network': describe_network(settings),
        'max_seconds': settings.caps.seconds,
        'max_cost_usd': settings.caps.cost_usd,
        'prices_sha256': _hash_file(arguments.prices) if arguments.prices else None,
        'memory_gib': arguments.memory_gib,
        'sandbox': arguments.sandbox,
        'kit': _has_kit(arguments, adapter),
        # Defaults are left out, since the folders of older versions do not have these entries.
        **({'protocol': arguments.protocol} if arguments.protocol != 'once' else {}),
        **({'seed': arguments.seed} if arguments.seed is not None else {}),
        **_collect_sampling(arguments, adapter),
        **(
            {'driver_sha256': _hash_file(adapter.BUNDLED_FILE)}
            if adapter and adapter.RUNS_COMMANDS and adapter.BUNDLED_FILE
            else {}
        ),
    }


def _has_kit(arguments: argparse.Namespace, adapter: Adapter | None) -> bool:
    return arguments.kit and (adapter is None or adapter.RUNS_COMMANDS)


def _get_software_hash_or_path(
    arguments: argparse.Namespace, adapter: Adapter | None
) -> str | None:
    if adapter is not None and adapter.BUNDLED_FILE is not None and not adapter.RUNS_COMMANDS:
        return _hash_file(adapter.BUNDLED_FILE)
    return str(arguments.software.resolve()) if arguments.software else None


def _hash_file(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
