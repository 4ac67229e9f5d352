"""Hand images to a container engine of this machine over the Docker API: Docker, or Podman's socket.

Images are built without one. Whatever an engine refuses is one sentence.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coevo.exports.images.archives import write_archive
from coevo.exports.images.layout import Descriptor
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say
from coevo.storage.durable import name_file_in_errors

_USUAL = 'unix:///var/run/docker.sock'
_REMEDY = 'start Docker, or `podman system service`, and let DOCKER_HOST name its socket'
_SECONDS = 1800


@contextmanager
def open_engine() -> Iterator[Any]:
    """Provide a client of the engine that DOCKER_HOST names, else of the usual socket.

    Raises: Fatal if none answers, or if it refuses a request of the block.
    """
    try:
        import docker
        import docker.errors
    except ImportError as error:
        raise Fatal(f'{error}; install the Python package docker (pip install docker)') from error
    _check_socket(os.environ.get('DOCKER_HOST') or _USUAL)
    client = None
    try:
        client = docker.from_env(timeout=_SECONDS)
        yield client
    except (docker.errors.DockerException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of a file; those of the connection have no number
        message = ' '.join(str(error).split())[:400]
        if client is None:
            raise Fatal(f'no container engine answers ({message}); {_REMEDY}') from error
        raise Fatal(f'the container engine refuses ({message}); do what it asks for') from error
    finally:
        if client is not None:
            client.close()


def _check_socket(host: str) -> None:
    """Raise Fatal if a Unix socket cannot be used; the client would not close its own."""
    scheme, _, path = host.partition('://')
    if scheme != 'unix':
        return
    try:
        with socket.socket(socket.AF_UNIX) as attempt:
            attempt.connect(path)
    except PermissionError:
        raise Fatal(
            f'this user may not use the container engine at {path}; join its group (docker), or '
            'let DOCKER_HOST name the socket of a Podman of your own'
        ) from None
    except OSError as error:
        raise Fatal(
            f'no container engine answers at {path} ({error.strerror or error}); {_REMEDY}'
        ) from None


def load_images_into_engine(
    client: Any, layout: Path, images: Mapping[str, Descriptor], say: Say
) -> None:
    """Load images of a layout into an engine, under their names.

    All are sent as one archive, so that each layer is sent once.

    Raises: Fatal if the engine does not have an image afterwards.
    """
    with tempfile.NamedTemporaryFile(prefix='coevo-images-', suffix='.tar') as file:
        with name_file_in_errors(Path(file.name)):
            write_archive(layout, images, file)
            file.flush()
        file.seek(0)
        # Not `client.images.load`: it asks for the names that the engine prints, and Podman prints
        # those of several images as one.
        for line in client.api.load_image(file):
            if 'error' in line:
                raise Fatal(
                    f'the container engine refuses ({str(line["error"])[:400]}); do what it asks for'
                )
    for name in sorted(images):
        client.images.get(name)
        say(f'{name}: loaded')


def push_images(
    client: Any, images: Mapping[str, Descriptor], registry: str, say: Say
) -> Iterator[tuple[str, str]]:
    """Push loaded images to a registry; yield the name of each there, and the digest it has there.

    registry  with the name of the images: `registry.example/team/tasks`

    Raises: Transient if the registry refuses one.
    """
    for name in sorted(images):
        tag = name.rpartition(':')[2]
        client.images.get(name).tag(registry, tag)
        digest = ''
        for line in client.images.push(registry, tag=tag, stream=True, decode=True):
            if 'error' in line:
                raise Transient(f'{registry} does not take {tag}: {str(line["error"])[:300]}')
            digest = line.get('aux', {}).get('Digest', digest)
        say(f'{registry}:{tag}: pushed')
        yield f'{registry}:{tag}', digest


def save_image(name: str, archive: Path, say: Say) -> None:
    """Write an image as an archive; the engine pulls it if it lacks it.

    Raises: Fatal if there is no engine, or if it has no such image and cannot pull it.
    """
    with open_engine() as client:
        import docker.errors

        try:
            image = client.images.get(name)
        except docker.errors.ImageNotFound:
            say(f'pulling {name}')
            image = _pull_image(client, name)
        with name_file_in_errors(archive), archive.open('wb') as file:
            file.writelines(image.save())


def _pull_image(client: Any, name: str) -> Any:
    import docker.errors

    try:
        return client.images.pull(name)
    except docker.errors.APIError as error:
        message = ' '.join(str(error.explanation or error).split())[:300]
        raise Fatal(
            f'{name} cannot be pulled ({message}); name an image that the container engine has, or '
            'an archive of one'
        ) from None
