"""The pipeline's verbs of the `coevo` command, each a module of `flows.verbs`."""

from __future__ import annotations

import argparse

from coevo.options.parser import Parser
from flows.verbs import crawl
from flows.verbs import mine
from flows.verbs import publish
from flows.verbs import release
from flows.verbs import reverify
from flows.verbs import site
from flows.verbs import validate


def add_verbs(verbs: argparse._SubParsersAction[Parser]) -> None:
    for verb in (mine, release, publish, crawl, validate, site, reverify):
        verb.add(verbs)
