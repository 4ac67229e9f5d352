"""What an agent needs to compile and run tests without a network: JDK, Maven, JUnit, libraries."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.java.kits.kit_libraries import MIRROR, fetch_kit_libraries
from coevo.languages.java.kits.kit_tools import KIT, list_tool_mounts, make_tool_environment
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import Jdk, choose_jdk, find_alike_jdks, find_jdks
from coevo.languages.java.tools.libraries import fetch_libraries, load_pins
from coevo.languages.java.tools.toolchain import prepare_toolchain
from coevo.languages.kits import Kit
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount, Sandbox

_CONSOLE = Path(__file__).with_name('console.toml')
_REPOSITORY, _LIBRARIES = f'{KIT}/repository', f'{KIT}/libraries'
_SETTINGS = f'{KIT}/settings/settings.xml'
_HEAD = '/tmp/m2'

_OFFLINE = f"""\
<settings>
  <localRepository>{_HEAD}</localRepository>
  <offline>true</offline>
  <mirrors>{MIRROR.format(url='http://127.0.0.1/')}</mirrors>
</settings>
"""


class MavenKits:
    """Fulfils `coevo.languages.kits.Kits`."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        """`folder`: an empty one that the sandbox's user can enter."""
        self._sandbox, self._folder, self._say = sandbox, folder, say
        (folder / 'settings.xml').write_text(_OFFLINE)
        jdk = choose_jdk(find_jdks())
        self._console = fetch_libraries(_CONSOLE, jdk, say, "JUnit's console")

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        tools = prepare_toolchain(self._say, _find_jdk(task, self._say))
        libraries = fetch_kit_libraries(self._sandbox, task, place, tools, self._say)
        (console,) = (pin.file for pin in load_pins(_CONSOLE))
        return Kit(
            mounts=(
                *list_tool_mounts(tools),
                Mount(source=self._console, target=_LIBRARIES),
                Mount(source=libraries, target=_REPOSITORY),
                Mount(source=self._folder, target=f'{KIT}/settings'),
            ),
            environment={
                **make_tool_environment(tools),
                'JUNIT_CONSOLE_JAR': f'{_LIBRARIES}/{console}',
                'MAVEN_SETTINGS_PATH': _SETTINGS,
                'MAVEN_ARGS': f'--offline --settings {_SETTINGS} -Dmaven.repo.local={_HEAD}'
                f' -Dmaven.repo.local.tail={_REPOSITORY}',
            },
        )


def _find_jdk(task: TaskRow, say: Say) -> Jdk | None:
    """The JDK that the task was made with, or one of the same release, brought; else any."""
    if task.environment is None:
        return None
    JdkSupply(brings=True, say=say).can_provide(task.environment.runtime)
    return next(iter(find_alike_jdks(task.environment.runtime, find_jdks())), None)
