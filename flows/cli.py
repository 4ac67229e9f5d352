"""The pipeline's verbs of the `coevo` command, each a module of `flows.verbs`."""

from __future__ import annotations

import argparse

from coevo.options.parser import Parser
from flows.verbs import crawl
from flows.verbs import forecast
from flows.verbs import mine
from flows.verbs import publish
from flows.verbs import release
from flows.verbs import reverify
from flows.verbs import site
from flows.verbs import status
from flows.verbs import validate
from flows.verbs import withdraw


def add_verbs(verbs: argparse._SubParsersAction[Parser]) -> None:
    for verb in (
        mine,
        release,
        publish,
        crawl,
        validate,
        site,
        reverify,
        withdraw,
        status,
        forecast,
    ):
        verb.add(verbs)
