"""What the builder loads before it has read a project: Maven and the compiler, as an archive.

Half of what the first build of a JVM costs is the reading of these classes. They are listed by a
builder that is shown a project of ours, without a plugin, and reaches no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coevo.languages.java.building import settings
from coevo.languages.java.places import BUILD_TREE
from coevo.languages.java.places import HEAD
from coevo.languages.java.places import WORKSPACE
from coevo.languages.java.processes.archives import LIMITS
from coevo.languages.java.processes.archives import LIST
from coevo.languages.java.processes.archives import LISTING
from coevo.languages.java.processes.archives import Rehearsal
from coevo.languages.java.processes.archives import dumping
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.languages.java.tools.wire import encode
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Mount

_FOLDER = 'rehearsal'
_FILES = {
    'pom.xml': """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>coevo</groupId><artifactId>rehearsal</artifactId><version>1</version>
  <packaging>pom</packaging>
</project>
""",
    'src/Till.java': 'class Till { int sum(int a, int b) { return a + b; } }\n',
}


def rehearsal(
    toolchain: Toolchain, mounts: Sequence[Mount], root: Path, list_file: Path
) -> Rehearsal:
    """How the builder's archive is made; writes the project below `root`, the workspace."""
    for name, text in _FILES.items():
        file = root / _FOLDER / name  # own name: a file of coevo's own
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    job = Job(
        argv=('/bin/sh', '-c', LIST, 'sh', *settings.builder_command(toolchain, LISTING)),
        mounts=tuple(mounts),
        limits=LIMITS,
        environment={'JAVA_HOME': str(toolchain.java_home)},
    )
    listed = f'{WORKSPACE}/{list_file.relative_to(root)}'
    return Rehearsal(
        request=_requests(),
        listing=job,
        dumping=dumping(job, toolchain.java, listed, settings.builder_places(toolchain)),
    )


def _requests() -> bytes:
    place = f'{WORKSPACE}/{_FOLDER}'
    build = ['build', f'source={place}', f'work={BUILD_TREE}']
    alone = [f'settings={WORKSPACE}/{settings.SETTINGS}', f'head={HEAD}', 'offline=true']
    return encode([*build, *alone]) + encode(['compile', f'root={place}/src'])
