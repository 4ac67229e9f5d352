"""Images as root file systems: the smallest base that runs `sh`, and commands run in an image."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

PROGRAMS = ('sh', 'grep', 'cat', 'touch')


def write_tiny_base(path: Path, *, compressed: bool = False, damaged: bool = False) -> None:
    """Write an archive as `docker save` does, of an image with a few programs of this machine."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w', format=tarfile.GNU_FORMAT) as layer:
        for file in sorted({Path(f'/bin/{name}') for name in PROGRAMS} | find_libraries()):
            layer.addfile(*member(str(file).lstrip('/'), file.read_bytes(), 0o755))
        for name in ('proc', 'dev', 'tmp'):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            layer.addfile(folder)
    content = stream.getvalue()
    config = {
        'architecture': 'amd64',
        'os': 'linux',
        'config': {'Env': ['PATH=/usr/bin:/bin', 'BASE=tiny']},
        'rootfs': {
            'type': 'layers',
            'diff_ids': [f'sha256:{hashlib.sha256(content).hexdigest()}'],
        },
    }
    listed = [{'Config': 'config.json', 'Layers': ['1/layer.tar'], 'RepoTags': ['tiny:1']}]
    stored = content[:-1024] if damaged else content
    with tarfile.open(path, 'w') as archive:
        archive.addfile(*member('manifest.json', json.dumps(listed).encode()))
        archive.addfile(*member('config.json', json.dumps(config).encode()))
        archive.addfile(*member('1/layer.tar', gzip.compress(stored) if compressed else stored))


def find_libraries() -> set[Path]:
    found: set[Path] = set()
    for name in PROGRAMS:
        done = subprocess.run(['ldd', f'/bin/{name}'], capture_output=True, text=True, check=True)
        found |= {Path(path) for path in re.findall(r'(/\S+) \(0x', done.stdout)}
    return found


def member(name: str, content: bytes, mode: int = 0o644) -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    return info, io.BytesIO(content)


def load_rows(layout: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (layout / 'environments.jsonl').read_text().splitlines()]


def load_blob(layout: Path, digest: str) -> bytes:
    return (layout / 'blobs/sha256' / digest.removeprefix('sha256:')).read_bytes()


def load_config(layout: Path, row: dict[str, Any]) -> dict[str, Any]:
    manifest = json.loads(load_blob(layout, row['digest']))
    config: dict[str, Any] = json.loads(load_blob(layout, manifest['config']['digest']))
    return config


def unpack_image(layout: Path, row: dict[str, Any], root: Path) -> None:
    root.mkdir()
    for digest in (*row['base'], *row['environment'], row['revision'], row['start']):
        subprocess.run(['tar', '-x', '-C', root], input=load_blob(layout, digest), check=True)


def run_in_image(
    layout: Path, row: dict[str, Any], root: Path, command: str
) -> subprocess.CompletedProcess[str]:
    """Run a line of sh as a container of the image would, without a network."""
    settings = load_config(layout, row)['config']
    words = ['bwrap', '--bind', str(root), '/', '--proc', '/proc', '--dev', '/dev']
    words += ['--tmpfs', '/tmp', '--unshare-all', '--die-with-parent', '--clearenv']
    for text in settings['Env']:
        words += ['--setenv', *text.split('=', 1)]
    words += ['--chdir', settings['WorkingDir'], 'sh', '-c', command]
    return subprocess.run(words, capture_output=True, text=True, check=False)
