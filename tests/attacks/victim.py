"""What a host has that no sandbox may reach: servers, files, a process, a secret."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

SECRET = f'secret-{uuid.uuid4().hex}'


@dataclass(frozen=True, slots=True)
class Victim:
    """`names`: where it is, as environment variables of an attack.

    process  sleeps; it must survive
    inputs   a folder that is mounted at /in, read-only
    """

    names: Mapping[str, str]
    process: subprocess.Popen[bytes]
    inputs: Path


def victim_in(folder: Path, stack: ExitStack) -> Victim:
    (folder / 'secret').write_text(SECRET)
    inputs = folder / 'inputs'
    (inputs / 'inner').mkdir(parents=True)
    inputs.chmod(0o777)
    for name in ('file', 'inner/file'):
        (inputs / name).write_text('as it was')
        (inputs / name).chmod(0o666)
    process = subprocess.Popen(['sleep', '1000'])
    stack.callback(process.wait)
    stack.callback(process.kill)
    abstract = f'coevo-{uuid.uuid4().hex}'
    names = {
        'SECRET': SECRET,
        'SECRET_FILE': str(folder / 'secret'),
        'VICTIM': str(process.pid),
        'PORT': _serve(stack, socket.AF_INET, ('127.0.0.1', 0)),
        'PORT6': _serve(stack, socket.AF_INET6, ('::1', 0)),
        'ADDRESS': (address := _address()),
        'OWN_PORT': _serve(stack, socket.AF_INET, (address, 0)),
        'ABSTRACT': abstract,
        'SOCKET': str(folder / 'socket'),
    }
    _serve(stack, socket.AF_UNIX, f'\0{abstract}')
    _serve(stack, socket.AF_UNIX, str(folder / 'socket'))
    (folder / 'socket').chmod(0o666)
    return Victim(names, process, inputs)


def _address() -> str:
    """Of this machine in a network, as far as it has one; no packet is sent to find it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(('198.51.100.1', 9))
        return str(probe.getsockname()[0])
    return '127.0.0.1'


def _serve(stack: ExitStack, family: int, address: object) -> str:
    """A server that says hello; its port if it has one."""
    server = stack.enter_context(socket.socket(family))
    server.bind(address)  # type: ignore[arg-type]
    server.listen()

    def greet() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                with client:
                    client.sendall(b'hello\n')

    threading.Thread(target=greet, daemon=True).start()
    place = server.getsockname()
    return str(place[1]) if isinstance(place, tuple) else ''
