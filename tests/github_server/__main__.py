"""The server as a process of its own; it prints its address and runs until it is told to end."""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path

from tests.github_server.live import live
from tests.github_server.server import serving


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m tests.github_server')
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--repositories', type=Path, metavar='DIR', help='OWNER/NAME.git each')
    parser.add_argument('--state', type=Path, metavar='FILE', help='what GitHub says of them')
    arguments = parser.parse_args()
    if arguments.repositories is None and arguments.state is None:
        parser.error('give --repositories, --state or both')
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    with serving(live(arguments.repositories, arguments.state), arguments.port) as server:
        print(server.api, flush=True)
        end.wait()


main()
