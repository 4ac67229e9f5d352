"""Run hostile test classes as a mined project's would be run: same command, same mounts."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.building.report import JavaModule, SurefireSettings
from coevo.languages.java.places import TOOLS, WORKSPACE
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.packed_trees import pack_tree
from coevo.languages.java.processes.plan import JUnitClassPath, LaunchPlan
from coevo.languages.java.processes.runner import RunTarget, run_targets
from coevo.languages.java.tools.toolchain import prepare_toolchain
from coevo.languages.verdicts import Verdict
from coevo.sandboxes.sandbox import Mount, Sandbox
from tests.coevo.languages.java.jvm import JUPITER, PLATFORM, REST, VINTAGE, javac, libraries, write

TEST_CLASSES = 'target/test-classes'
_LIBRARIES = (*VINTAGE, *JUPITER, *PLATFORM, *REST)

MODULE = JavaModule(
    path='.',
    index=0,
    failure=None,
    classes='target/classes',
    test_classes=TEST_CLASSES,
    test_source_roots=('src/test/java',),
    test_folders=('src/test',),
    class_path=(),
    compiler={},
    surefire=SurefireSettings(),
    overrides=(),
    tests_compiled=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A compiled project: its tree as it lies in the workspace, layer over layer."""

    root: Path
    layers: tuple[Path, ...]

    def plan(self, targets: Sequence[RunTarget], surefire: SurefireSettings) -> LaunchPlan:
        library = self.launcher.locate_tool_library
        return LaunchPlan(
            module=dataclasses.replace(MODULE, surefire=surefire),
            layers=self.layers,
            tree=pack_tree(self.root / 'trees', self.layers, ()),
            junit=JUnitClassPath(first=(), last=tuple(map(library, _LIBRARIES))),
            override=None,
            targets=tuple(targets),
        )

    @property
    def launcher(self) -> Launcher:
        tools = prepare_toolchain()
        mounts = (
            Mount(source=self.root, target=WORKSPACE),
            Mount(source=tools.tools, target=f'{TOOLS}/programs'),
            Mount(source=tools.libraries, target=f'{TOOLS}/libraries'),
        )
        return Launcher(toolchain=tools, workspace=self.root, mounts=mounts)


def compiled(folder: Path, sources: Mapping[str, str], *against: Path) -> Path:
    """A tree of test classes, from sources by class name, `p.XTest`."""
    files = {f'{name.replace(".", "/")}.java': text for name, text in sources.items()}
    write(folder / 'sources', {name: textwrap.dedent(text) for name, text in files.items()})
    tree = folder / 'tree'
    path = (
        *libraries(prepare_toolchain(), *_LIBRARIES),
        *(other / TEST_CLASSES for other in against),
    )
    javac(folder / 'sources', tree / TEST_CLASSES, path)
    return tree


def verdicts(
    sandbox: Sandbox,
    found: Project,
    targets: Sequence[RunTarget],
    surefire: SurefireSettings | None = None,
) -> list[Verdict | None]:
    plan = found.launcher.arrange_class_path(found.plan(targets, surefire or SurefireSettings()))
    return list(run_targets(sandbox, found.launcher.make_job(plan), targets).verdicts)


def target(
    name: str, method: str = 'test', *, parameters: tuple[str, ...] = (), seconds: float = 20
) -> RunTarget:
    return RunTarget(classes=(name,), method=method, parameters=parameters, cpu_limit=seconds)
