"""A test that does not pass is not told to pass, whatever it does to the JVM that says so."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.languages.java.processes import launch
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from tests.attacks.arena import TEST_CLASSES, Project, compiled, target, verdicts
from tests.attacks.forgeries import FORGERIES, HONEST, JUNIT5, OPTIONS, Forgery
from tests.coevo.languages.java.jvm import write
from tests.folders import made_once, open_folder

pytestmark = pytest.mark.jvm

OPEN = [one for one in FORGERIES if one.stopped is None]
STOPPED = [one for one in FORGERIES if one.stopped is not None]


def named(forgeries: list[Forgery]) -> list[object]:
    return [pytest.param(one, id=one.name) for one in forgeries]


@pytest.fixture(scope='session')
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Project]]:
    """One for each forgery, compiled once for all modules and workers that ask."""
    compiled_once = made_once(tmp_path_factory, 'forgeries', compile_forgeries)
    with open_folder() as folder:
        root = Path(shutil.copytree(compiled_once, folder / 'projects'))
        yield {one.name: find_project(root, one) for one in (*FORGERIES, *HONEST)}


def compile_forgeries(root: Path) -> None:
    """Compile at once what can stand together, and then what shadows a class."""
    everybody = [*FORGERIES, *HONEST]
    common = {name: text for one in everybody for name, text in one.sources.items()}
    tree = compiled(root / 'common', common)
    write(tree, {'agent.jar': agent(tree / TEST_CLASSES / 'p')})
    for forgery in everybody:
        if forgery.shadows:
            compiled(root / forgery.name, forgery.shadows, tree)
        if forgery.resources:
            write(root / forgery.name / 'resources' / TEST_CLASSES, forgery.resources)


def find_project(root: Path, forgery: Forgery) -> Project:
    own = [root / forgery.name / name for name in ('tree', 'resources')]
    return Project(
        root=root, layers=(root / 'common/tree', *(layer for layer in own if layer.exists()))
    )


def agent(classes: Path) -> bytes:
    manifest = 'Manifest-Version: 1.0\nCan-Retransform-Classes: true\n' + ''.join(
        f'{name}: p.Agent\n'
        for name in ('Premain-Class', 'Agent-Class', 'Launcher-Agent-Class', 'Main-Class')
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w') as jar:
        jar.writestr('META-INF/MANIFEST.MF', manifest)
        for name in ('Agent', 'Agent$1', 'Forge'):
            jar.write(classes / f'{name}.class', f'p/{name}.class')
    return file.getvalue()


def told(sandbox: Sandbox, found: Project, forgery: Forgery) -> Verdict | None:
    parameters = ('TestInfo',) if forgery.template == JUNIT5 else ()
    wanted = target(forgery.class_name, parameters=parameters)
    (verdict,) = verdicts(sandbox, found, [wanted], forgery.surefire)
    return verdict


@pytest.mark.sampled(3)
@pytest.mark.parametrize('forgery', named(STOPPED))
def test_stopped_forgery_is_not_reported_as_pass(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.MISSING), verdict


@pytest.mark.parametrize('forgery', named([*HONEST]))
def test_honest_test_is_reported_as_pass(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict


@pytest.mark.sampled(1)  # `test_observer` sees each of them pass
@pytest.mark.parametrize('forgery', named(OPEN))
def test_forgery_that_needs_an_observer_is_reported_as_pass_without_one(
    sandbox: Sandbox, projects: dict[str, Project], forgery: Forgery
) -> None:
    """Known and open for mined code; if one is stopped one day, the documents are to say so."""
    verdict = told(sandbox, projects[forgery.name], forgery)
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict


NEED_FILTER = [one for one in STOPPED if one.stopped == OPTIONS]
FILTERED = 'agent_in_environment'


@pytest.mark.parametrize(
    'forgery',
    [
        # the one of these that `make test` tries with the filter
        pytest.param(one, id=one.name, marks=() if one.name == FILTERED else pytest.mark.slow)
        for one in NEED_FILTER
    ],
)
def test_forgery_by_jvm_options_passes_if_options_are_not_filtered(
    projects: dict[str, Project], forgery: Forgery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the tests above would prove nothing."""
    monkeypatch.setattr(launch, 'select_usable_options', str.split)
    monkeypatch.setattr(launch, 'limit_variables_to_usable_options', dict)
    opened = open_sandbox('bubblewrap')
    verdict = told(opened, projects[forgery.name], forgery)
    opened.close()
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict
