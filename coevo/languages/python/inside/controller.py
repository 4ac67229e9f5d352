"""The parent of a test process: it alone has the channel and its nonce, and runs no project code.

Its standard input is one line of JSON: nonce, command, request, the paths of stand-ins and, if the
request is to be observed, a key, the number of targets, and the watched files with the number of
lines of each. The test process has a pipe and a secret of its own. Lines that it writes under the
secret are repeated on the channel under the nonce. The counts of its observer (`observer.c`) are
read after it has ended and are sent with the key, which the test process does not know. No other
process in the sandbox can inspect this one, since it cannot be dumped (prctl(2), PR_SET_DUMPABLE).
"""

import ctypes
import json
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

CHANNEL = 3
LINE_BYTES = 1 << 20
LAST_WORDS_SECONDS = 10.0
_PR_SET_DUMPABLE = 4


def main() -> None:
    """Run one test process and report its events, its observer's counts and its exit status."""
    forbid_dumping()
    order = json.loads(sys.stdin.buffer.readline())
    nonce = order['nonce'].encode()
    os.set_inheritable(CHANNEL, False)
    write_to_channel(nonce + b'\t{"e": "started"}')
    page = ObserverPage(order['observed']) if order['observed'] else None
    stand_ins = StandIns(order['stand_ins'])
    reading, writing = os.pipe()
    secret = os.urandom(16).hex()
    if page is not None:
        order['request']['observed'] = page.make_request()
    process = subprocess.Popen(
        [*order['command'], str(writing)],
        stdin=subprocess.PIPE,
        pass_fds=[writing, *([page.descriptor] if page is not None else ())],
        start_new_session=True,
    )
    os.close(writing)
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps([secret, order['request']]).encode() + b'\n')
        process.stdin.close()
    except BrokenPipeError:
        pass
    relay_events(process, reading, secret.encode() + b'\t', nonce + b'\t')
    status = wait_for_end(process)
    if page is not None:
        write_to_channel(nonce + b'\t' + json.dumps(page.load_counts()).encode())
    write_status(nonce + b'\t', status, stand_ins.are_unread())


def write_status(nonce: bytes, status: int, unread: bool) -> None:
    """Report the exit status of a test process, and whether all stand-ins were left unread."""
    event = {'e': 'status', 'status': 'exit:%d' % status, 'unread': unread}
    write_to_channel(nonce + json.dumps(event).encode())


class StandIns:
    """Files in place of those that the clone lacks, which no test may read.

    The time of their last reading is set to the epoch, so that the next reading changes it.
    """

    def __init__(self, paths: list) -> None:
        self.paths = paths
        for path in paths:
            self.set_unread(path)
            with open(path, 'rb') as file:
                file.read(1)
        # Where the kernel does not note a reading, none can be excluded.
        self.watched = not any(map(self.is_unread, paths))
        for path in paths:
            self.set_unread(path)

    def are_unread(self) -> bool:
        """Return whether none was read, replaced or removed since this object was made."""
        try:
            return self.watched and all(map(self.is_unread, self.paths))
        except OSError:
            return False

    @staticmethod
    def set_unread(path: str) -> None:
        """Set the time of a file's last reading to the epoch."""
        os.utime(path, ns=(0, os.stat(path).st_mtime_ns))

    @staticmethod
    def is_unread(path: str) -> bool:
        """Return whether the time of a file's last reading is the epoch."""
        return os.stat(path).st_atime_ns == 0


def forbid_dumping() -> None:
    """Make this process undumpable, so that no other process can read its memory."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


class ObserverPage:
    """The counters that the observer in the test process writes, laid out as in `observer.c`.

    They are in memory that both processes share through an unlinked file.
    """

    HEAD, EACH = 2, 3

    def __init__(self, order: dict) -> None:
        self.key, self.targets = order['key'], order['targets']
        self.files, words = [], self.HEAD + self.EACH * self.targets
        for path, lines in order['lines']:
            self.files.append([path, words, lines])
            words += lines // 32 + 1
        self.words, self.bytes = words, -(-words * 4 // mmap.PAGESIZE) * mmap.PAGESIZE
        self.file = tempfile.TemporaryFile()
        self.file.truncate(self.bytes)
        self.memory = mmap.mmap(self.file.fileno(), self.bytes)
        self.descriptor = self.file.fileno()

    def make_request(self) -> dict:
        """Return where the observer finds its counters, for the request of the test process."""
        return {'descriptor': self.descriptor, 'bytes': self.bytes, 'files': self.files}

    def load_counts(self) -> dict:
        """Return the event `seen`: the counters, and the executed lines of each watched file."""
        words = struct.unpack_from('%dI' % self.words, self.memory)
        counts = words[self.HEAD : self.HEAD + self.EACH * self.targets]
        return {
            'e': 'seen',
            'key': self.key,
            'ready': words[0] == 1,
            'reached_for': words[1],
            'counts': [counts[at : at + self.EACH] for at in range(0, len(counts), self.EACH)],
            'lines': {
                path: [n for n in range(lines) if words[first + n // 32] >> n % 32 & 1]
                for path, first, lines in self.files
            },
        }


def relay_events(process: subprocess.Popen, reading: int, secret: bytes, nonce: bytes) -> None:
    """Copy the events of a test process to the channel, until it closes its pipe or has ended.

    Lines without its secret, and too long ones, are dropped. After the event "bye" at most
    LAST_WORDS_SECONDS are left.

    reading  the descriptor of its pipe
    secret   the beginning of its lines, which `nonce` replaces
    """
    rest, ended = b'', 0.0
    while True:
        ready = select.select([reading], [], [], 0.1)[0]
        if ready:
            block = os.read(reading, 1 << 16)
            if not block:
                return
            *lines, rest = (rest + block).split(b'\n')
            rest = rest if len(rest) <= LINE_BYTES else b''
            for line in lines:
                if line.startswith(secret) and len(line) <= LINE_BYTES:
                    line = line[len(secret) :]
                    if line == b'"bye"':
                        ended = ended or time.monotonic()
                    else:
                        write_to_channel(nonce + line)
        elif process.poll() is not None:
            return
        if ended and time.monotonic() - ended > LAST_WORDS_SECONDS:
            return


def wait_for_end(process: subprocess.Popen) -> int:
    """Return the exit status of a process; kill it after LAST_WORDS_SECONDS and return 0."""
    try:
        return process.wait(LAST_WORDS_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 0


def write_to_channel(line: bytes) -> None:
    """Write a line to the channel in full."""
    data = line + b'\n'
    while data:
        data = data[os.write(CHANNEL, data) :]


if __name__ == '__main__':
    main()
