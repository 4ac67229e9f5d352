"""The files of the agent's image: a base by language, the start state, and what runs its tests.

The text of a snapshot is in no line of a Dockerfile: the commands of a task are files, and its
start state is an archive. The base is an image of a public registry; `--build-arg BASE=…` names
another one.
"""

from __future__ import annotations

import re
import shlex
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.pair_rows import Environment

WORK_FOLDER = '/app'
"""The folder of the start state in the agent's container."""

_VERSION = re.compile(r'\d+(\.\d+)*', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageImage:
    """The recipe of a language's image.

    base      the image, with a blank for the version
    parts     how many numbers of the runtime's version the base is named by
    packages  a command that installs what the base lacks
    offline   settings that keep the tools from asking for what they have
    is_warm   whether the verifier's image can bring libraries when it is built, so that it needs no
              network later; Go runs in a sandbox alone, and a build may make none
    """

    base: str
    parts: int
    packages: str
    offline: Mapping[str, str]
    is_warm: bool = True


_GIT = 'apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*'

IMAGES: Mapping[str, LanguageImage] = {
    'go': LanguageImage(
        base='golang:{}',
        parts=3,
        packages=_GIT,
        offline={'GOFLAGS': '-mod=mod', 'GOPROXY': 'off', 'GOTOOLCHAIN': 'local'},
        is_warm=False,
    ),
    'java': LanguageImage(
        base='maven:3-eclipse-temurin-{}', parts=1, packages=_GIT, offline={'MAVEN_ARGS': '-o'}
    ),
    'python': LanguageImage(
        base='python:{}',
        parts=2,
        packages=f'{_GIT} && pip install --no-cache-dir uv',
        offline={'UV_OFFLINE': '1'},
    ),
}
"""The images by language, as the column `language` names it."""

# What runs has no meaning but to bring libraries here, and the start of an update does not compile.
_DOCKERFILE = """\
ARG BASE={base}
FROM ${{BASE}}
RUN {packages}
COPY start.tar commit.sh compile.sh test.sh /start/
RUN mkdir -p {folder} && tar -xf /start/start.tar -C {folder} --no-same-owner && sh /start/commit.sh
WORKDIR {folder}
# They bring the libraries here. Their status does not count: the start of an update does not compile.
RUN sh /start/compile.sh; sh /start/test.sh; rm -rf /start
ENV {offline}
"""

_COMMIT = """\
set -e
cd {folder}
git init --quiet --initial-branch=main
git add --all --force
export GIT_AUTHOR_DATE={date} GIT_COMMITTER_DATE={date}
git -c user.name=coevo -c user.email=coevo@localhost commit --quiet --allow-empty --message start
"""


def choose_base_image(language: str, environment: Environment) -> str | None:
    """Return the base image of a task; None if none is known for its language or version."""
    image = IMAGES.get(language)
    version = _VERSION.match(environment.runtime)
    if image is None or version is None:
        return None
    return image.base.format('.'.join(version[0].split('.')[: image.parts]))


def make_image_files(
    language: str, base: str, environment: Environment, date: str
) -> dict[str, str]:
    """Return the texts in `environment/` besides the archive, by file name.

    date  when the start state is committed, for Git
    """
    image = IMAGES[language]
    offline = ' '.join(f'{name}={shlex.quote(value)}' for name, value in image.offline.items())
    return {
        'Dockerfile': _DOCKERFILE.format(
            base=base, packages=image.packages, folder=WORK_FOLDER, offline=offline
        ),
        'commit.sh': _COMMIT.format(folder=WORK_FOLDER, date=shlex.quote(date)),
        'compile.sh': f'{environment.compile_command}\n',
        'test.sh': f'{environment.test_command}\n',
    }


def write_start_archive(
    repository: Repository, commit: str, scratch: Path, archive: Path, seconds: int
) -> None:
    """Write the files of a commit as a tar archive; equal files give equal bytes.

    scratch  a folder that does not exist yet, in which the files are checked out
    seconds  the time that all files have
    """
    repository.materialise(commit, scratch)

    def clear_host_facts(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        """Return an entry without what this machine knows of the file."""
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = 'root'
        entry.mtime = seconds
        return entry

    with tarfile.open(archive, 'w', format=tarfile.GNU_FORMAT, errors='surrogateescape') as tar:
        for path in sorted(scratch.rglob('*')):
            name = path.relative_to(scratch).as_posix()
            tar.add(path, arcname=name, recursive=False, filter=clear_host_facts)
