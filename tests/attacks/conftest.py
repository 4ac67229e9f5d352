"""Both back ends, and a host with something to steal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from tests.attacks.victim import SECRET, Victim, victim_in
from tests.folders import open_folder

BACK_ENDS = ['bubblewrap', pytest.param('docker', marks=pytest.mark.docker)]


@pytest.fixture(scope='module', params=BACK_ENDS)
def back_end(request: pytest.FixtureRequest) -> str:
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    return str(request.param)


@pytest.fixture(scope='module')
def sandbox(back_end: str) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_SECRET', SECRET)
        opened = open_sandbox(back_end)
        yield opened
        opened.close()


@pytest.fixture(scope='session')
def victim() -> Iterator[Victim]:
    with ExitStack() as stack:
        yield victim_in(stack.enter_context(open_folder()), stack)
