"""The parent of a zygote (`zygote.py`): it does for many runs what the controller does for one.

Its standard input is first a line of JSON: the command of the zygote, the folder of libraries and
the first options of pytest. Then comes a line for each run: nonce, key, mark, request, CPU seconds,
the folder and, if the tree changes, the length of its archive, which follows the line, the lines
of sh that lay it out, and the paths of its stand-ins. Each run is one process that the zygote
forks, in a tree as it was laid out, with empty folders beside it. If a run leaves anything that a
later one could see, the tree and the folders are made anew, or the session ends, and the sandbox
with it. The events under the nonce of a run end with `over`: whether another run may follow, and
the key, which the test process does not know. The run's standard error is enclosed by two marks.
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
COARSE_CLOCK = 5  # clock_gettime(2), CLOCK_REALTIME_COARSE: the clock of file dates
CLOCK_ROUNDING = 1e3  # in ns, of a float in seconds; 3.6 has no clock_gettime_ns
LEAVING_SECONDS = 0.5
_TABLES = ('net/udp', 'net/udp6', 'net/raw', 'net/unix', 'net/packet')
# The number of sockets, and of TCP sockets, including those that only wait for their port to be
# free. To list them in net/tcp takes 5 ms, since the kernel scans a table of the whole machine.
_COUNTED = {'sockets:': ('used',), 'TCP:': ('inuse', 'tw'), 'TCP6:': ('inuse',)}
_MODULES = ('.py', '.pyc', '.so')
_QUEUES = ('sysvipc/msg', 'sysvipc/sem', 'sysvipc/shm')


def main() -> None:
    """Serve the runs on standard input until one leaves traces that cannot be removed."""
    controller.forbid_dumping()
    os.set_inheritable(controller.CHANNEL, False)
    head = json.loads(sys.stdin.buffer.readline())
    ground = WorkingFolders()
    zygote = Zygote(head['command'], [head['packages'], *head['options']])
    surroundings = SystemState()
    for line in iter(sys.stdin.buffer.readline, b''):
        order = json.loads(line.decode())
        if order['archive'] is not None:
            archive = sys.stdin.buffer.read(order['archive'])
            ground.lay_out(archive, order['layout'], order['stand_ins'])
        nonce = order['nonce'].encode() + b'\t'
        controller.write_to_channel(nonce + b'{"e": "started"}')
        refusal = zygote.explain_refusal(order['roots'])
        if refusal is None:
            run_in_forked_process(zygote, order, nonce, ground)
        else:
            refused = {'e': 'refused', 'key': order['key'], 'why': refusal}
            controller.write_to_channel(nonce + json.dumps(refused).encode())
        again = zygote.lives and surroundings.are_as_before() and ground.restore()
        event = {'e': 'over', 'key': order['key'], 'again': again}
        controller.write_to_channel(nonce + json.dumps(event).encode())
        if not again:
            break
    zygote.wait_for_end()


def run_in_forked_process(
    zygote: 'Zygote', order: dict, nonce: bytes, ground: 'WorkingFolders'
) -> None:
    """Have the zygote fork a test process for one order; relay its events and its exit status.

    Marks on standard error enclose what the process writes there.

    ground  has the tree in which it runs
    """
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
    controller.write_status(nonce, status, ground.stand_ins.are_unread())
    write_mark(order['mark'])


def write_mark(text: str) -> None:
    """Write a mark on a line of its own to standard error."""
    data = ('\n%s\n' % text).encode()
    while data:
        data = data[os.write(2, data) :]


class Zygote:
    """The zygote process, as seen from its parent.

    lives  False once it was found to have ended
    """

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
        """Return why no process can be forked for a tree; None if one can.

        `zygote` means that the zygote has ended or cannot be forked, `tree` that a module of the
        tree has the name of a library that is already imported.

        roots  the folders of the tree on `sys.path`
        """
        if not self.lives or not self.head['ready']:
            return 'zygote'
        there = {_get_import_name(entry) for root in roots for entry in os.scandir(root)}
        return 'tree' if there.intersection(self.head['tops']) else None

    def fork(self, pipe: int, order: dict) -> 'ForkedProcess':
        """Send an order and the descriptor of a pipe to the zygote, and return the forked process.

        If the zygote has ended, that process counts as ended with status 1.
        """
        data = json.dumps(order).encode() + b'\n'
        try:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('i', pipe))
            sent = self.talk.sendmsg([data], [rights])
            self.talk.sendall(data[sent:])
        except OSError:
            self.lives = False
        return ForkedProcess(self, self.receive(None))

    def wait_for_end(self) -> None:
        """Disconnect, and wait a moment for the zygote to end.

        The resources that it used are then accounted for.
        """
        self.talk.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LEAVING_SECONDS)

    def receive(self, seconds: 'float | None') -> object:
        """Return the next message of the zygote; None if it has ended.

        seconds  how long to wait; None for no limit

        Raises:
            TimeoutError: none came in time
        """
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
    """Return the name under which a file or folder on `sys.path` is imported.

    '' for a file that is no module, such as `pytest.ini`.
    """
    if entry.is_dir():
        return entry.name
    return entry.name.partition('.')[0] if entry.name.endswith(_MODULES) else ''


class ForkedProcess:
    """A child of the zygote, with `poll` and `wait` as `subprocess.Popen` has them.

    If the zygote cannot tell how it ended, its exit status is 1.
    """

    def __init__(self, zygote: Zygote, pid: object) -> None:
        self.zygote, self.pid = zygote, pid
        self.status = None if isinstance(pid, int) else 1

    def poll(self) -> 'int | None':
        """Return the exit status; None if it is still running."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, seconds: 'float | None' = None) -> int:
        """Wait for the end and return the exit status. Raises subprocess.TimeoutExpired."""
        if self.status is None:
            try:
                reply = self.zygote.receive(seconds)
            except TimeoutError:
                raise subprocess.TimeoutExpired('', seconds or 0) from None
            self.status = reply if isinstance(reply, int) else 1
        return self.status


class SystemState:
    """The state of the sandbox other than files that a run may leave: processes, sockets, queues.

    before  the state when this object was made
    """

    def __init__(self) -> None:
        self.before = self.capture()

    def capture(self) -> tuple:
        """Return the current state in comparable form."""
        rows = (self.count_rows(name) for name in (*_TABLES, *_QUEUES))
        return (self.list_processes(), *rows, *self.count_sockets())

    def are_as_before(self) -> bool:
        """Return whether the state is as at the start; wait up to LEAVING_SECONDS for that."""
        end = time.monotonic() + LEAVING_SECONDS
        while self.capture() != self.before:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    @staticmethod
    def list_processes() -> frozenset:
        """Return the ids of all processes."""
        return frozenset(name for name in os.listdir('/proc') if name.isdigit())

    @staticmethod
    def count_sockets() -> 'list[str]':
        """Return the numbers of sockets in use that /proc/net/sockstat has, as texts."""
        totals = []
        for name in ('sockstat', 'sockstat6'):
            with contextlib.suppress(OSError), open('/proc/net/' + name) as table:
                for head, *words in map(str.split, table):
                    counts = {words[at]: words[at + 1] for at in range(0, len(words) - 1, 2)}
                    totals += [counts[key] for key in _COUNTED.get(head, ()) if key in counts]
        return totals

    @staticmethod
    def count_rows(name: str) -> int:
        """Return the number of lines of a table in /proc; 0 if it cannot be read."""
        try:
            with open('/proc/' + name, 'rb') as table:
                return table.read().count(b'\n')
        except OSError:
            return 0


class WorkingFolders:
    """The folders that a run can write: the tree as laid out, and others that begin empty."""

    def __init__(self) -> None:
        self.archive, self.script = b'', ''
        self.stand_ins = controller.StandIns([])
        self.laid: 'dict | None' = None
        self.rights = [os.stat(folder).st_mode for folder in (WORK, TEMPORARY, SHARED, HOME)]

    def lay_out(self, archive: bytes, script: str, stand_ins: 'list[str]') -> None:
        """Replace the tree by that of an archive, which the lines of sh in `script` unpack.

        stand_ins  the paths of its stand-ins
        """
        self.archive, self.script = archive, script
        self.lay_out_again(stand_ins)

    def lay_out_again(self, stand_ins: 'list[str]') -> None:
        """Lay out the current tree again and record its state."""
        empty_folder(WORK)
        subprocess.run(['/bin/sh', '-c', self.script], input=self.archive, check=True, cwd='/')
        self.stand_ins = controller.StandIns(stand_ins)
        self.laid = capture_state(WORK)
        latest = max(entry[-1] for entry in self.laid.values())
        while time.clock_gettime(COARSE_CLOCK) * 1e9 <= latest + CLOCK_ROUNDING:
            time.sleep(0.001)  # later changes then have a later date

    def restore(self) -> bool:
        """Empty the folders, and lay the tree out again if it was changed.

        Return False if the state of the first run cannot be restored, also that of access rights.
        """
        try:
            for folder in (HOME, TEMPORARY, SHARED):
                empty_folder(folder, HOME)
            changed = self.laid is not None and capture_state(WORK) != self.laid
            if changed or not self.stand_ins.are_unread():
                self.lay_out_again(self.stand_ins.paths)
            rights = [os.stat(folder).st_mode for folder in (WORK, TEMPORARY, SHARED, HOME)]
        except (OSError, RecursionError, subprocess.SubprocessError):
            return False
        return rights == self.rights


def empty_folder(place: str, but: str = '') -> None:
    """Remove everything in a folder except the subfolder `but`."""
    for entry in list(os.scandir(place)):
        if entry.is_dir(follow_symlinks=False):
            if entry.path != but:
                shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def capture_state(place: str) -> dict:
    """Return, by path, fields of the status of a folder and all files below it, for comparison.

    They change with the file. The last field is the time of the last change that the kernel
    recorded.
    """
    state_by_path, todo = {place: pick_stat_fields(os.stat(place))}, [place]
    while todo:
        for entry in os.scandir(todo.pop()):
            about = entry.stat(follow_symlinks=False)
            state_by_path[entry.path] = pick_stat_fields(about)
            if stat.S_ISDIR(about.st_mode):
                todo.append(entry.path)
    return state_by_path


def pick_stat_fields(about: os.stat_result) -> tuple:
    """Return the fields of a status that are compared."""
    return about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


if __name__ == '__main__':
    main()
