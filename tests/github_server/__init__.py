"""A GitHub for the tests: real HTTP on loopback, held against GitHub's own OpenAPI description.

    with serving(Server(world=World.of([...]))) as github:
        crawl(CrawlOptions(api=github.api, ...))

As a process of its own: `python -m tests.github_server --port 8000 --repositories DIR`.
"""

from __future__ import annotations

from tests.github_server.budgets import Budgets
from tests.github_server.faults import Fault
from tests.github_server.server import Server, serving
from tests.github_server.world import Hosted, World

__all__ = ['Budgets', 'Fault', 'Hosted', 'Server', 'World', 'serving']
