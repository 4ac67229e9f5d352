"""A test that does not pass is not told to pass, whatever it does to the JVM that says so."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from coevo.languages.base import Verdict
from coevo.records import Outcome
from coevo.sandbox import Sandbox
from tests.attacks.arena import TEST_CLASSES
from tests.attacks.arena import Project
from tests.attacks.arena import project
from tests.attacks.arena import target
from tests.attacks.arena import verdicts
from tests.attacks.conftest import open_folder
from tests.attacks.forgeries import FORGERIES
from tests.attacks.forgeries import HONEST
from tests.attacks.forgeries import JUNIT5
from tests.attacks.forgeries import Forgery

pytestmark = pytest.mark.jvm

OPEN = [one for one in FORGERIES if one.stopped is None]
STOPPED = [one for one in FORGERIES if one.stopped is not None]


def named(forgeries: list[Forgery]) -> list[object]:
    return [pytest.param(one, id=one.name) for one in forgeries]


@pytest.fixture(scope='session')
def projects() -> Iterator[dict[str, Project]]:
    """Compiled once for both back ends."""
    with ExitStack() as stack:
        folder = open_folder(stack)
        yield {one.name: compiled(folder / one.name, one) for one in (*FORGERIES, *HONEST)}


def compiled(folder: Path, forgery: Forgery) -> Project:
    folder.mkdir()
    found = project(folder, forgery.sources, forgery.resources)
    agent = 'Manifest-Version: 1.0\nPremain-Class: p.Agent\nMain-Class: p.Agent\n'
    agent += 'Launcher-Agent-Class: p.Agent\nAgent-Class: p.Agent\n'
    with zipfile.ZipFile(found.tree / 'agent.jar', 'w') as jar:
        jar.writestr('META-INF/MANIFEST.MF', agent)
        for file in sorted((found.tree / TEST_CLASSES / 'p').glob('*.class')):
            jar.write(file, f'p/{file.name}')
    shutil.rmtree(folder / 'sources')
    return found


def told(sandbox: Sandbox, found: Project, forgery: Forgery) -> Verdict | None:
    parameters = ('TestInfo',) if forgery.template == JUNIT5 else ()
    wanted = target(forgery.class_name, parameters=parameters)
    (verdict,) = verdicts(sandbox, found, [wanted], forgery.surefire)
    return verdict


@pytest.mark.parametrize('forgery', named(STOPPED))
def test_nothing_is_told_to_pass_that_does_not(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.MISSING), verdict


@pytest.mark.parametrize('forgery', named([*HONEST]))
def test_what_passes_is_told_so(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict


@pytest.mark.parametrize('forgery', named(OPEN))
def test_what_only_an_observer_can_tell(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    """Known and open for mined code; if one is stopped one day, the documents are to say so."""
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict
