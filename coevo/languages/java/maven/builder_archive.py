"""A class archive of what the builder loads before it reads a project: Maven and the compiler.

Loading these classes is half of the cost of a JVM's first build. They are listed by a builder that
builds a small project of coevo's, without plugins and without network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coevo.languages.java.building import settings
from coevo.languages.java.places import BUILD_TREE, HEAD, WORKSPACE
from coevo.languages.java.processes.archives import (
    LIMITS,
    LIST,
    LISTING,
    ArchiveRehearsal,
    make_dump_job,
)
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.languages.java.tools.wire import encode_strings
from coevo.sandboxes.sandbox import Job, Mount

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


def prepare_archive_jobs(
    toolchain: Toolchain, mounts: Sequence[Mount], root: Path, list_file: Path
) -> ArchiveRehearsal:
    """Return the jobs that make the builder's class archive; write the project that they build.

    The project is written below `root`, the workspace. No process is started.
    """
    for name, text in _FILES.items():
        file = root / _FOLDER / name  # own name: a file of coevo's own
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    job = Job(
        argv=('/bin/sh', '-c', LIST, 'sh', *settings.make_builder_command(toolchain, LISTING)),
        mounts=tuple(mounts),
        limits=LIMITS,
        environment={'JAVA_HOME': str(toolchain.java_home)},
    )
    listed = f'{WORKSPACE}/{list_file.relative_to(root)}'
    return ArchiveRehearsal(
        request=_encode_requests(),
        listing=job,
        dumping=make_dump_job(
            job, toolchain.java, listed, settings.list_builder_class_path(toolchain)
        ),
    )


def _encode_requests() -> bytes:
    project_folder = f'{WORKSPACE}/{_FOLDER}'
    build = ['build', f'source={project_folder}', f'work={BUILD_TREE}']
    alone = [f'settings={WORKSPACE}/{settings.SETTINGS}', f'head={HEAD}', 'offline=true']
    return encode_strings([*build, *alone]) + encode_strings(
        ['compile', f'root={project_folder}/src']
    )
