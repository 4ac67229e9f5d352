"""Images in archives, as `docker save` writes them, and their way into a container engine.

Nothing of an archive becomes a path: its members are read by name, and blobs are written under
their own digests.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from coevo.exports.images.layout import (
    LAYER,
    Descriptor,
    ImageSettings,
    Layer,
    LayerEntry,
    LayoutWriter,
    encode_as_json,
    load_manifest,
    locate_blob,
    make_index_files,
    write_layer,
)
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say
from coevo.storage.durable import name_file_in_errors

# Images in archives, as `docker save`, `podman save` and `coevo images export` write them.

_GZIP = b'\x1f\x8b'
_MOST_JSON_BYTES = 4 << 20
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseImage:
    """The base that images are built on."""

    layers: tuple[Layer, ...]
    settings: ImageSettings
    architecture: str


def copy_base(archive: Path, writer: LayoutWriter) -> BaseImage:
    """Copy the layers of the one image of an archive into a layout.

    Raises: Fatal for what is not an archive of one image.
    """
    try:
        with tarfile.open(archive) as tar:
            return _copy_image(tar, writer)
    except (tarfile.TarError, KeyError, ValueError, TypeError, IndexError, EOFError) as error:
        raise Fatal(
            f'{archive} is not an archive of an image ({str(error)[:200]}); write one with '
            '`docker save` or `podman save`'
        ) from None


def _copy_image(tar: tarfile.TarFile, writer: LayoutWriter) -> BaseImage:
    described = _load_json(tar, 'manifest.json')
    if len(described) != 1:
        raise ValueError(f'it has {len(described)} images')
    config = _load_json(tar, described[0]['Config'])
    if config['os'] != 'linux':
        raise ValueError('it is not an image of Linux')
    diff_ids = config['rootfs']['diff_ids']
    paths = described[0]['Layers']
    if len(diff_ids) != len(paths):
        raise ValueError('its layers are not those of its configuration')
    settings = config.get('config') or {}
    variables = dict(text.split('=', 1) for text in settings.get('Env') or ())
    return BaseImage(
        layers=tuple(
            _copy_layer(tar, path, diff_id, writer)
            for path, diff_id in zip(paths, diff_ids, strict=True)
        ),
        settings=ImageSettings(variables=variables),
        architecture=str(config['architecture']),
    )


def _copy_layer(tar: tarfile.TarFile, path: str, diff_id: str, writer: LayoutWriter) -> Layer:
    """Copy a layer without its compression. Raises ValueError if it is not that of its digest."""

    def write(stream: IO[bytes]) -> None:
        """Write the archive of the layer."""
        with _open_member(tar, path) as file:
            is_compressed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            if is_compressed:
                with gzip.open(file) as expanded:
                    shutil.copyfileobj(expanded, stream, _BLOCK)
            else:
                shutil.copyfileobj(file, stream, _BLOCK)

    blob = writer.add_blob(LAYER, write)
    if blob.digest != diff_id:
        raise ValueError(f'its layer {path[:80]} is damaged')
    return Layer(what='base', blob=blob, diff_id=diff_id)


def _load_json(tar: tarfile.TarFile, path: str) -> Any:
    with _open_member(tar, path) as file:
        content = file.read(_MOST_JSON_BYTES + 1)
    if len(content) > _MOST_JSON_BYTES:
        raise ValueError(f'its {path[:80]} is too large')
    return json.loads(content)


def _open_member(tar: tarfile.TarFile, path: str) -> IO[bytes]:
    file = tar.extractfile(path)  # a link leads to another member, as `docker save` writes them
    if file is None:
        raise ValueError(f'its {path[:80]} is no file')
    return file


# Archives of images in a layout.


def write_archive(layout: Path, images: Mapping[str, Descriptor], stream: IO[bytes]) -> None:
    """Write images as an archive that both OCI's readers and `docker load` read.

    images  what refers to their manifests, by name and tag
    """
    entries: dict[str, LayerEntry] = {}
    loaded = []
    for name, image in sorted(images.items()):
        manifest = load_manifest(layout, image)
        blobs = [manifest['config']['digest'], *(e['digest'] for e in manifest['layers'])]
        places = {digest: locate_blob(layout, digest) for digest in (image.digest, *blobs)}
        names = {digest: str(path.relative_to(layout)) for digest, path in places.items()}
        entries |= {names[d]: LayerEntry(source=p, mode=0o644) for d, p in places.items()}
        config, *layers = (names[digest] for digest in blobs)
        loaded.append({'Config': config, 'Layers': layers, 'RepoTags': [name]})
    texts = {'manifest.json': encode_as_json(loaded), **make_index_files(images)}
    entries |= {name: LayerEntry(content=text, mode=0o644) for name, text in texts.items()}
    write_layer(entries, stream)


# Hand images to a container engine of this machine over the Docker API: Docker, or Podman's socket.
#
# Images are built without one. Whatever an engine refuses is one sentence.

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
