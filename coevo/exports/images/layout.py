"""An OCI image layout: layers with equal bytes for equal files, blobs by their digests, an index of
images.

    oci-layout, index.json  see https://github.com/opencontainers/image-spec
    blobs/sha256/DIGEST     layers, which images share, and the JSON that describes images
    environments.jsonl      a line for each image (`ImageRow`)

Nothing in it depends on the machine or the time, so the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import secrets
import stat
import struct
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from coevo.model.errors import Fatal
from coevo.storage.durable import UNFINISHED, name_file_in_errors

# Layers of images as tar archives, where equal files give equal bytes.

# Byte code names the time of its source, so this is also the time of all packages that coevo
# installs for Python.
SECONDS = 946684800
"""The time of all files of an image, in seconds since 1970."""

_BYTE_CODE = '.pyc'
_BYTE_CODE_HEAD = struct.Struct('<4xII')


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEntry:
    """An entry of a layer; a folder if it has no source, content or target.

    source   a file of this machine
    content  the bytes of a file
    target   where a symbolic link leads
    mode     of a file or folder
    """

    source: Path | None = None
    content: bytes | None = None
    target: str | None = None
    mode: int = 0o755


Entries = Mapping[str, LayerEntry]
"""The entries of a layer, by their paths in the image, without a slash at the start."""


def write_layer(entries: Entries, stream: IO[bytes]) -> None:
    """Write entries as a tar archive, with the folders above them."""
    with open_layer_for_writing(stream) as tar:
        for path in sorted({*entries, *_list_parents(entries)}, key=os.fsencode):
            _add_entry(tar, path, entries.get(path, LayerEntry()))


def open_layer_for_writing(stream: IO[bytes]) -> tarfile.TarFile:
    """Return an archive to write the entries of a layer to."""
    return tarfile.open(
        fileobj=stream,
        mode='w|',
        format=tarfile.GNU_FORMAT,
        encoding='utf-8',
        errors='surrogateescape',
    )


def _list_parents(entries: Iterable[str]) -> Iterator[str]:
    for path in entries:
        while '/' in path:
            path = path.rpartition('/')[0]
            yield path


def _add_entry(tar: tarfile.TarFile, path: str, entry: LayerEntry) -> None:
    member = tarfile.TarInfo(path)
    member.mtime = SECONDS
    member.mode = entry.mode
    if entry.target is not None:
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, entry.target, 0o777
        tar.addfile(member)
    elif entry.content is not None:
        member.size = len(entry.content)
        tar.addfile(member, io.BytesIO(entry.content))
    elif entry.source is not None:
        with entry.source.open('rb') as file:
            member.size = os.fstat(file.fileno()).st_size
            tar.addfile(member, file)
    else:
        member.type = tarfile.DIRTYPE
        tar.addfile(member)


def list_folder(
    folder: Path, place: str, *, follows: bool = False
) -> Iterator[tuple[str, LayerEntry]]:
    """Yield the entries of a folder of this machine, by their paths in an image.

    Byte code is left out if it was made from a source of another time than that of the image. Files
    that are no regular files, folders or links are left out, too.

    place    the path of the folder in the image, without a slash at the start
    follows  whether what links lead to beyond the folder is put into their places, so that the
             image has it. Only for folders that no untrusted code wrote
    """
    root = folder.resolve()
    yield place, LayerEntry()
    yield from _list_below(root, place, root if follows else None)


def _list_below(folder: Path, place: str, root: Path | None) -> Iterator[tuple[str, LayerEntry]]:
    for child in sorted(folder.iterdir()):
        path = f'{place}/{child.name}'
        if child.is_symlink() and not _leads_out(child, root):
            yield path, LayerEntry(target=os.fspath(child.readlink()))
        elif child.is_dir():
            yield path, LayerEntry()
            yield from _list_below(child, path, root)
        elif child.is_file() and not is_stale_byte_code(child):
            yield path, LayerEntry(source=child, mode=normalise_mode(child.stat().st_mode))


def _leads_out(link: Path, root: Path | None) -> bool:
    """Return whether a link leads to something outside of the folder `root`; no if that is None."""
    return root is not None and link.exists() and not link.resolve().is_relative_to(root)


def normalise_mode(mode: int) -> int:
    """Return the mode of a file without what depends on a machine's umask."""
    return 0o755 if mode & stat.S_IXUSR else 0o644


def is_stale_byte_code(path: Path) -> bool:
    """Return whether a file is byte code that names another time of its source than the image's."""
    if not path.name.endswith(_BYTE_CODE):
        return False
    with path.open('rb') as file:
        head = file.read(_BYTE_CODE_HEAD.size)
    if len(head) < _BYTE_CODE_HEAD.size:
        return True
    flags, seconds = _BYTE_CODE_HEAD.unpack(head)
    return not flags and seconds != SECONDS


# An OCI image layout: blobs by their digests, and an index of images.

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
