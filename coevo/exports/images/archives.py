"""Images in archives, as `docker save`, `podman save` and `coevo images export` write them.

Nothing of an archive becomes a path: its members are read by name, and blobs are written under
their own digests.
"""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from coevo.exports.images.layers import LayerEntry, write_layer
from coevo.exports.images.layout import (
    LAYER,
    Descriptor,
    ImageSettings,
    Layer,
    LayoutWriter,
    encode_as_json,
    load_manifest,
    locate_blob,
    make_index_files,
)
from coevo.model.errors import Fatal

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
