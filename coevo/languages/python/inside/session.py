"""The process above a zygote (`zygote.py`): as the controller is above a test process, for one run after
the other.

Its standard input has a line of JSON, the command of the zygote, the folder of libraries and the first options
of pytest, then one for each run: nonce, key, mark, request, CPU seconds, the folder, and, where the tree is another one, the length of its
archive, which follows the line, and the lines of sh that lay it out. Each run is one process that the
zygote forks, in a tree that is as it was laid out, with empty folders beside it. Where a run leaves anything
that a next one could see, the tree and the folders are made anew, or the session ends, and the sandbox
with it. What is said under a run's nonce ends with `over`, whether there may be a next run, and its key, which
the test process does not know; what it writes to standard error stands between two marks.
"""

import contextlib
import importlib
import json
import os
import select
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
controller = importlib.import_module('controller')

WORK, TEMPORARY, SHARED = '/w', '/tmp', '/dev/shm'
HOME = '/tmp/home'
COARSE_CLOCK = 5  # clock_gettime(2), CLOCK_REALTIME_COARSE: the one that dates of files are of
CLOCK_ROUNDING = 1e3  # ns, of seconds as a float; 3.6 has them in no other way
LEAVING_SECONDS = 0.5
_TABLES = ('net/udp', 'net/udp6', 'net/raw', 'net/unix', 'net/packet')
# How many sockets there are, and how many of TCP, with those that only wait for their port to be free. To list
# them, in net/tcp, the kernel looks through a table of the whole machine: 5 ms.
_COUNTED = {'sockets:': ('used',), 'TCP:': ('inuse', 'tw'), 'TCP6:': ('inuse',)}
_MODULES = ('.py', '.pyc', '.so')
_QUEUES = ('sysvipc/msg', 'sysvipc/sem', 'sysvipc/shm')


def main() -> None:
    controller.forbid_dumping()
    os.set_inheritable(controller.CHANNEL, False)
    head = json.loads(sys.stdin.buffer.readline())
    ground = WorkingFolders()
    zygote = Zygote(head['command'], [head['packages'], *head['options']])
    surroundings = SystemState()
    for line in iter(sys.stdin.buffer.readline, b''):
        order = json.loads(line.decode())
        if order['archive'] is not None:
            ground.lay_out(sys.stdin.buffer.read(order['archive']), order['layout'])
        nonce = order['nonce'].encode() + b'\t'
        controller.write_to_channel(nonce + b'{"e": "started"}')
        refusal = zygote.explain_refusal(order['roots'])
        if refusal is None:
            run_order(zygote, order, nonce)
        else:
            refused = {'e': 'refused', 'key': order['key'], 'why': refusal}
            controller.write_to_channel(nonce + json.dumps(refused).encode())
        again = zygote.lives and surroundings.are_as_before() and ground.restore()
        event = {'e': 'over', 'key': order['key'], 'again': again}
        controller.write_to_channel(nonce + json.dumps(event).encode())
        if not again:
            break
    zygote.wait_for_end()


def run_order(zygote: 'Zygote', order: dict, nonce: bytes) -> None:
    write_mark(order['mark'])
    reading, writing = os.pipe()
    secret = os.urandom(16).hex()
    line = json.dumps([secret, order['request']])
    child = zygote.fork(
        writing, {'input': line, 'folder': order['folder'], 'cpu_seconds': order['cpu_seconds']}
    )
    os.close(writing)
    controller.relay_events(child, reading, secret.encode() + b'\t', nonce)
    os.close(reading)
    status = controller.wait_for_end(child)
    controller.write_to_channel(
        nonce + json.dumps({'e': 'status', 'status': 'exit:%d' % status}).encode()
    )
    write_mark(order['mark'])


def write_mark(text: str) -> None:
    data = ('\n%s\n' % text).encode()
    while data:
        data = data[os.write(2, data) :]


class Zygote:
    """lives  false once it was found to have ended"""

    def __init__(self, command: list, words: list) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno()), *words],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.talk, self.rest, self.lives = ours, b'', True
        head = self.receive(None)
        self.head: dict = head if isinstance(head, dict) else {'ready': False, 'tops': []}

    def explain_refusal(self, roots: list) -> 'str | None':
        """Why no process can be forked for a tree: it would hide what is imported already."""
        if not self.lives or not self.head['ready']:
            return 'zygote'
        there = {_get_import_name(entry) for root in roots for entry in os.scandir(root)}
        return 'tree' if there.intersection(self.head['tops']) else None

    def fork(self, pipe: int, order: dict) -> 'ForkedProcess':
        data = json.dumps(order).encode() + b'\n'
        try:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('i', pipe))
            sent = self.talk.sendmsg([data], [rights])
            self.talk.sendall(data[sent:])
        except OSError:
            self.lives = False
        return ForkedProcess(self, self.receive(None))

    def wait_for_end(self) -> None:
        """Wait for it, so that what it has used is counted."""
        self.talk.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LEAVING_SECONDS)

    def receive(self, seconds: 'float | None') -> object:
        """The next thing that it says; TimeoutError if it is not said in time, None at its end."""
        while b'\n' not in self.rest:
            if not select.select([self.talk], [], [], seconds)[0]:
                raise TimeoutError
            try:
                block = self.talk.recv(1 << 16)
            except OSError:
                block = b''
            if not block:
                self.lives = False
                return None
            self.rest += block
        line, _, self.rest = self.rest.partition(b'\n')
        return json.loads(line)


def _get_import_name(entry: 'os.DirEntry[str]') -> str:
    """The name under which a folder or file of a root can be imported; '' of what cannot be, as `pytest.ini`."""
    if entry.is_dir():
        return entry.name
    return entry.name.partition('.')[0] if entry.name.endswith(_MODULES) else ''


class ForkedProcess:
    """A process of a zygote's, asked as `subprocess.Popen` is; who cannot be told of has ended by 1."""

    def __init__(self, zygote: Zygote, pid: object) -> None:
        self.zygote, self.pid = zygote, pid
        self.status = None if isinstance(pid, int) else 1

    def poll(self) -> 'int | None':
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, seconds: 'float | None' = None) -> int:
        if self.status is None:
            try:
                reply = self.zygote.receive(seconds)
            except TimeoutError:
                raise subprocess.TimeoutExpired('', seconds or 0) from None
            self.status = reply if isinstance(reply, int) else 1
        return self.status


class SystemState:
    """What is in memory: processes, sockets, queues."""

    def __init__(self) -> None:
        self.before = self.capture()

    def capture(self) -> tuple:
        rows = (self.count_rows(name) for name in (*_TABLES, *_QUEUES))
        return (self.list_processes(), *rows, *self.count_sockets())

    def are_as_before(self) -> bool:
        """Some seconds are left to processes that are about to end."""
        end = time.monotonic() + LEAVING_SECONDS
        while self.capture() != self.before:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    @staticmethod
    def list_processes() -> frozenset:
        return frozenset(name for name in os.listdir('/proc') if name.isdigit())

    @staticmethod
    def count_sockets() -> 'list[str]':
        totals = []
        for name in ('sockstat', 'sockstat6'):
            with contextlib.suppress(OSError), open('/proc/net/' + name) as table:
                for head, *words in map(str.split, table):
                    counts = {words[at]: words[at + 1] for at in range(0, len(words) - 1, 2)}
                    totals += [counts[key] for key in _COUNTED.get(head, ()) if key in counts]
        return totals

    @staticmethod
    def count_rows(name: str) -> int:
        try:
            with open('/proc/' + name, 'rb') as table:
                return table.read().count(b'\n')
        except OSError:
            return 0


class WorkingFolders:
    """Files: the tree as it was laid out, and folders that are empty when a run begins."""

    def __init__(self) -> None:
        self.archive, self.script = b'', ''
        self.laid: 'dict | None' = None
        self.rights = [os.stat(folder).st_mode for folder in (WORK, TEMPORARY, SHARED, HOME)]

    def lay_out(self, archive: bytes, script: str) -> None:
        self.archive, self.script = archive, script
        self.lay_out_again()

    def lay_out_again(self) -> None:
        empty_folder(WORK)
        subprocess.run(['/bin/sh', '-c', self.script], input=self.archive, check=True, cwd='/')
        self.laid = capture_state(WORK)
        latest = max(entry[-1] for entry in self.laid.values())
        while time.clock_gettime(COARSE_CLOCK) * 1e9 <= latest + CLOCK_ROUNDING:
            time.sleep(0.001)  # what is changed later has another date

    def restore(self) -> bool:
        """Whether the next run finds what the first one found."""
        try:
            for folder in (HOME, TEMPORARY, SHARED):
                empty_folder(folder, HOME)
            if self.laid is not None and capture_state(WORK) != self.laid:
                self.lay_out_again()
            rights = [os.stat(folder).st_mode for folder in (WORK, TEMPORARY, SHARED, HOME)]
        except (OSError, RecursionError, subprocess.SubprocessError):
            return False
        return rights == self.rights


def empty_folder(place: str, but: str = '') -> None:
    for entry in list(os.scandir(place)):
        if entry.is_dir(follow_symlinks=False):
            if entry.path != but:
                shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def capture_state(place: str) -> dict:
    """Of all below a folder, by path, what changes with it; the last is when the kernel saw a change."""
    state_by_path, todo = {place: pick_stat_fields(os.stat(place))}, [place]
    while todo:
        for entry in os.scandir(todo.pop()):
            about = entry.stat(follow_symlinks=False)
            state_by_path[entry.path] = pick_stat_fields(about)
            if stat.S_ISDIR(about.st_mode):
                todo.append(entry.path)
    return state_by_path


def pick_stat_fields(about: os.stat_result) -> tuple:
    return about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


if __name__ == '__main__':
    main()
