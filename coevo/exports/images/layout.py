"""An OCI image layout: blobs by their digests, and an index of images.

    oci-layout, index.json  see https://github.com/opencontainers/image-spec
    blobs/sha256/DIGEST     layers, which images share, and the JSON that describes images
    environments.jsonl      a line for each image (`ImageRow`)

Nothing in it depends on the machine or the time, so the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from coevo.exports.images.layers import Entries, write_layer
from coevo.model.errors import Fatal
from coevo.storage.durable import UNFINISHED, name_file_in_errors

LAYER = 'application/vnd.oci.image.layer.v1.tar'
CONFIG = 'application/vnd.oci.image.config.v1+json'
MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
INDEX = 'application/vnd.oci.image.index.v1+json'
_NAME = 'org.opencontainers.image.ref.name'

CREATED = '2000-01-01T00:00:00Z'

# As Go's GOARCH calls them.
_MACHINES = {'x86_64': 'amd64', 'aarch64': 'arm64'}
# https://github.com/opencontainers/distribution-spec, with the host before it.
_IMAGE_NAME = re.compile(r'[a-z0-9]+([.:_/-]+[a-z0-9]+)*', re.ASCII)
_TAG = re.compile(r'\w[\w.-]{0,127}', re.ASCII)
_DIGEST = re.compile(r'sha256:[0-9a-f]{64}', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """A reference to a blob.

    digest  `sha256:…`
    size    in bytes
    """

    media_type: str
    digest: str
    size: int

    def to_json(self) -> dict[str, Any]:
        """Return the descriptor as manifests and indexes have it."""
        return {'mediaType': self.media_type, 'digest': self.digest, 'size': self.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of an image.

    what     its name in the image's history, such as `environment`
    diff_id  the digest of its archive before compression
    """

    what: str
    blob: Descriptor
    diff_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """The settings with which an image is run: variables, folder, and labels."""

    variables: Mapping[str, str]
    folder: str = '/'
    labels: Mapping[str, str] = field(default_factory=dict)


def find_architecture() -> str:
    """Return the architecture of this machine as images call it."""
    return _MACHINES.get(platform.machine(), platform.machine())


def locate_blob(layout: Path, digest: str) -> Path:
    """Return the path of a blob. Raises Fatal for what is not a digest."""
    if not _DIGEST.fullmatch(digest):
        raise Fatal(f'{layout} names a blob {digest[:80]!r}; build the images again')
    return layout / 'blobs/sha256' / digest.partition(':')[2]  # own name: a digest


def encode_as_json(value: object) -> bytes:
    """Return a value as JSON, always in the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(',', ':')).encode()


class LayoutWriter:
    """Writes a layout into an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._images: dict[str, Descriptor] = {}
        (folder / 'blobs/sha256').mkdir(parents=True)

    def add_blob(self, media_type: str, write: Callable[[IO[bytes]], None]) -> Descriptor:
        """Write a blob, unless the layout has one of its content, and return what refers to it."""
        temporary = self.folder / f'blobs/{UNFINISHED}{secrets.token_hex(6)}'
        with name_file_in_errors(self.folder), temporary.open('wb') as file:
            hashed = _HashedFile(file)
            write(hashed)  # type: ignore[arg-type]
            file.flush()
            size = os.fstat(file.fileno()).st_size
        digest = f'sha256:{hashed.digest.hexdigest()}'
        temporary.replace(locate_blob(self.folder, digest))
        return Descriptor(media_type=media_type, digest=digest, size=size)

    def add_layer(self, what: str, entries: Entries) -> Layer:
        """Write a layer of these entries."""
        blob = self.add_blob(LAYER, lambda stream: write_layer(entries, stream))
        return Layer(what=what, blob=blob, diff_id=blob.digest)

    def add_image(
        self, name: str, layers: Sequence[Layer], settings: ImageSettings, architecture: str
    ) -> Descriptor:
        """Write the configuration and the manifest of an image; return what refers to the latter.

        name  with its tag: `coevo-task:TAG`
        """
        config = {
            'architecture': architecture,
            'os': 'linux',
            'created': CREATED,
            'config': {
                'Cmd': ['/bin/sh'],
                'Env': [f'{key}={value}' for key, value in sorted(settings.variables.items())],
                'Labels': dict(settings.labels),
                'WorkingDir': settings.folder,
            },
            'rootfs': {'type': 'layers', 'diff_ids': [layer.diff_id for layer in layers]},
            'history': [
                {'created': CREATED, 'created_by': f'coevo: {layer.what}'} for layer in layers
            ],
        }
        described = self._add_json(CONFIG, config)
        manifest = {
            'schemaVersion': 2,
            'mediaType': MANIFEST,
            'config': described.to_json(),
            'layers': [layer.blob.to_json() for layer in layers],
        }
        self._images[name] = self._add_json(MANIFEST, manifest)
        return self._images[name]

    def write_index(self) -> None:
        """Write the index of the images."""
        for name, content in make_index_files(self._images).items():
            (self.folder / name).write_bytes(content)  # own name: of the layout

    def _add_json(self, media_type: str, value: object) -> Descriptor:
        return self.add_blob(media_type, lambda stream: _write_all(stream, encode_as_json(value)))


def make_index_files(images: Mapping[str, Descriptor]) -> dict[str, bytes]:
    """Return the files, by name, by which readers recognise a layout and find its images."""
    manifests = [
        {**descriptor.to_json(), 'annotations': {_NAME: name}}
        for name, descriptor in sorted(images.items())
    ]
    index = {'schemaVersion': 2, 'mediaType': INDEX, 'manifests': manifests}
    return {
        'index.json': encode_as_json(index),
        'oci-layout': encode_as_json({'imageLayoutVersion': '1.0.0'}),
    }


def load_image_descriptors(layout: Path) -> dict[str, Descriptor]:
    """Return what refers to the manifest of each image of a layout, by name and tag.

    Raises: Fatal if the folder is none that `coevo images build` wrote.
    """
    try:
        manifests = json.loads((layout / 'index.json').read_bytes())['manifests']
        return {entry['annotations'][_NAME]: _parse_descriptor(entry) for entry in manifests}
    except (OSError, ValueError, KeyError, TypeError):
        raise Fatal(f'{layout} has no images; write some with `coevo images build`') from None


def list_image_names_by_task(layout: Path, place: str | None = None) -> dict[str, str]:
    """Return the names of the images of a layout, by the id of their task.

    place  the name under which they were pushed to a registry; None for their own

    Raises: Fatal for a name that no registry takes.
    """
    names = {}
    for name in load_image_descriptors(layout):
        own, _, task_id = name.rpartition(':')
        names[task_id] = f'{parse_image_name(place or own)}:{parse_image_tag(task_id)}'
    return names


def parse_image_name(text: str) -> str:
    """Return the name of an image. Raises Fatal for what no registry takes."""
    if not _IMAGE_NAME.fullmatch(text):
        raise Fatal(
            f'{text!r} is no name of an image; use small letters, digits, and - or / between'
        )
    return text


def parse_image_tag(text: str) -> str:
    """Return the tag of an image. Raises Fatal for what no registry takes."""
    if not _TAG.fullmatch(text):
        raise Fatal(f'{text[:80]!r} is no tag of an image; get the snapshot again')
    return text


def load_manifest(layout: Path, image: Descriptor) -> dict[str, Any]:
    """Return the manifest of an image. Raises Fatal if it is missing or damaged."""
    try:
        content = locate_blob(layout, image.digest).read_bytes()
    except FileNotFoundError:
        content = b''
    if f'sha256:{hashlib.sha256(content).hexdigest()}' != image.digest:
        raise Fatal(f'{layout} is damaged: it lacks {image.digest}; build the images again')
    manifest: dict[str, Any] = json.loads(content)
    return manifest


def _parse_descriptor(entry: Mapping[str, Any]) -> Descriptor:
    return Descriptor(media_type=entry['mediaType'], digest=entry['digest'], size=entry['size'])


def _write_all(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)


class _HashedFile:
    """A file that hashes what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes and hash them."""
        self.digest.update(data)
        return self._file.write(data)
