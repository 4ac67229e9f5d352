"""A client of the JVM's debugger protocol (JDWP 1.8), limited to what an observer needs.

Numbers and layouts are those of the specification, "Java Debug Wire Protocol". Identifiers are read
and written as 8 bytes, the size that every HotSpot reports.
"""

from __future__ import annotations

import secrets
import socket
import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from coevo.model.errors import Transient

_HANDSHAKE = b'JDWP-Handshake'
_LARGEST = 1 << 24
_EVENTS = (64, 100)
_ABSENT_INFORMATION, _NATIVE_METHOD = 101, 511


class JdwpError(Transient):
    """An error of the connection to a JVM, or data that are not JDWP.

    `code` is the JVM's own error number if it refused a command; else 0.
    """

    def __init__(self, sentence: str, code: int = 0) -> None:
        super().__init__(sentence)
        self.code = code


class JdwpConnectionClosed(JdwpError):
    """The JVM closed the connection, as it does when it ends."""


class JdwpEventKind(IntEnum):
    """The kinds of events that the observer uses."""

    BREAKPOINT = 2
    EXCEPTION = 4
    CLASS_PREPARE = 8
    VM_START = 90
    VM_DEATH = 99


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """A position in a method, by the index of its byte code."""

    tag: int
    type: int
    method: int
    index: int

    @property
    def encoded(self) -> bytes:
        """The location as it is sent in a packet."""
        return struct.pack('>BQQQ', self.tag, self.type, self.method, self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class JdwpEvent:
    """An event of the JVM; fields that its kind does not have are 0 or None."""

    kind: int
    thread: int = 0
    location: CodeLocation | None = None
    type: int = 0
    exception: int = 0
    catch: CodeLocation | None = None


@dataclass(frozen=True, slots=True)
class JdwpMethod:
    """A method of a class as the JVM lists it."""

    id: int
    name: str
    signature: str
    modifiers: int


class JdwpPacketReader:
    """Reads the fields of a packet in order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take_bytes(self, size: int) -> bytes:
        """Return the next bytes; raises JdwpError if the packet is too short."""
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) != size:
            raise JdwpError('the JVM sent a packet that is too short')
        self._at += size
        return part

    def take_byte(self) -> int:
        """Return the next unsigned byte."""
        return self.take_bytes(1)[0]

    def take_integer(self) -> int:
        """Return the next 32-bit signed integer."""
        return int.from_bytes(self.take_bytes(4), 'big', signed=True)

    def take_identifier(self) -> int:
        """Return the next 64-bit identifier."""
        return int.from_bytes(self.take_bytes(8), 'big')

    def take_text(self) -> str:
        """Return the next string, whose length precedes it."""
        return self.take_bytes(self.take_integer()).decode(errors='replace')

    def take_location(self) -> CodeLocation:
        """Return the next location."""
        return CodeLocation(
            self.take_byte(), self.take_identifier(), self.take_identifier(), self.take_identifier()
        )


class JdwpClient:
    """A connection to a JVM's debugger agent, to stop threads and inspect them; for one thread.

    Types, methods, threads and objects are given by the JVM's numbers for them.
    """

    def __init__(self, connection: socket.socket) -> None:
        """Perform the handshake with a JVM that has connected.

        Raises: JdwpError if the other side does not speak JDWP or has identifiers of another size.
        """
        self._socket = connection
        self._waiting: deque[bytes] = deque()
        connection.sendall(_HANDSHAKE)
        if self._receive_exactly(len(_HANDSHAKE)) != _HANDSHAKE:
            raise JdwpError('what connected speaks no JDWP')
        sizes = self._send_command(1, 7)
        if any(sizes.take_integer() != 8 for _ in range(5)):
            raise JdwpError('the JVM has identifiers of an unknown size')

    def receive_events(self) -> Iterator[list[JdwpEvent]]:
        """Wait for events and yield them in groups; each group has suspended its thread.

        The caller has to resume the thread. Raises: JdwpConnectionClosed when the JVM ends.
        """
        while True:
            while not self._waiting:
                self._receive_reply_or_store_events()
            yield list(_parse_events(JdwpPacketReader(self._waiting.popleft())))

    # -- commands
    # ------------------------------------------------------------------------------------

    def resume_thread(self, thread: int) -> None:
        """Resume a thread; 0 resumes all."""
        if thread:
            self._send_command(11, 3, struct.pack('>Q', thread))
        else:
            self._send_command(1, 9)

    def stop_on_class_load(self, name: str) -> None:
        """Ask the JVM to stop each thread that loads a class with this binary name.

        The name may end in `*`, which matches all names with that beginning.
        """
        text = name.encode()
        self._request_events(JdwpEventKind.CLASS_PREPARE, struct.pack('>Bi', 5, len(text)) + text)

    def stop_at_location(self, location: CodeLocation, *, once: bool = False) -> None:
        """Ask the JVM to stop threads that reach a location; with `once`, only the first one."""
        # The count must come second, since it only counts events that passed the modifiers before
        # it.
        count = (struct.pack('>Bi', 1, 1),) if once else ()
        self._request_events(JdwpEventKind.BREAKPOINT, b'\7' + location.encoded, *count)

    def stop_on_exceptions(self, thread: int) -> int:
        """Ask the JVM to stop a thread at every exception, caught or not.

        Returns the number of the request for `cancel_exception_request`.
        """
        return self._request_events(
            JdwpEventKind.EXCEPTION, struct.pack('>BQBB', 8, 0, 1, 1), struct.pack('>BQ', 3, thread)
        )

    def cancel_exception_request(self, request: int) -> None:
        """Cancel a request of `stop_on_exceptions`."""
        self._send_command(15, 2, struct.pack('>Bi', JdwpEventKind.EXCEPTION, request))

    def list_frames(self, thread: int) -> list[CodeLocation]:
        """Return the stack of a stopped thread, innermost frame first."""
        reply = self._send_command(11, 6, struct.pack('>Qii', thread, 0, -1))
        locations = []
        for _ in range(reply.take_integer()):
            reply.take_identifier()
            locations.append(reply.take_location())
        return locations

    def list_methods(self, type_: int) -> list[JdwpMethod]:
        """Return the methods that a type declares."""
        reply = self._send_command(2, 5, struct.pack('>Q', type_))
        return [
            JdwpMethod(
                reply.take_identifier(), reply.take_text(), reply.take_text(), reply.take_integer()
            )
            for _ in range(reply.take_integer())
        ]

    def fetch_byte_code(self, type_: int, method: int) -> bytes:
        """Return the byte code of a method."""
        reply = self._send_command(6, 3, struct.pack('>QQ', type_, method))
        return reply.take_bytes(reply.take_integer())

    def list_line_starts(self, type_: int, method: int) -> list[tuple[int, int]]:
        """Return (index of byte code, line) for each place in a method where a line begins.

        Empty for a native method and for one that was compiled without line information.
        """
        try:
            reply = self._send_command(6, 1, struct.pack('>QQ', type_, method))
        except JdwpError as error:
            if error.code not in (_ABSENT_INFORMATION, _NATIVE_METHOD):
                raise
            return []
        reply.take_bytes(16)
        return [
            (reply.take_identifier(), reply.take_integer()) for _ in range(reply.take_integer())
        ]

    def fetch_class_name(self, type_: int) -> str:
        """Return the binary name of a class."""
        return (
            self._send_command(2, 1, struct.pack('>Q', type_)).take_text()[1:-1].replace('/', '.')
        )

    def find_superclass(self, type_: int) -> int:
        """Return the number of a class's superclass; 0 for Object."""
        return self._send_command(3, 1, struct.pack('>Q', type_)).take_identifier()

    def list_interfaces(self, type_: int) -> list[int]:
        """Return the numbers of the interfaces that a type names in its declaration."""
        reply = self._send_command(2, 10, struct.pack('>Q', type_))
        return [reply.take_identifier() for _ in range(reply.take_integer())]

    def find_class_of(self, instance: int) -> int:
        """Return the number of the class of an object."""
        reply = self._send_command(9, 1, struct.pack('>Q', instance))
        reply.take_byte()
        return reply.take_identifier()

    # -- packets ---------------------------------------------------------------------------------

    def _request_events(self, kind: JdwpEventKind, *modifiers: bytes) -> int:
        head = struct.pack('>BBi', kind, 1, len(modifiers))
        return self._send_command(15, 1, head + b''.join(modifiers)).take_integer()

    def _send_command(self, group: int, command: int, data: bytes = b'') -> JdwpPacketReader:
        """Send a command and return the reply; events that arrive before it are stored.

        The number of the command is random, so that no other process can forge the JVM's reply.
        Raises: JdwpError if the JVM refuses the command or answers another one.
        """
        number = secrets.randbits(31)
        self._socket.sendall(
            struct.pack('>iiBBB', 11 + len(data), number, 0, group, command) + data
        )
        while True:
            reply = self._receive_reply_or_store_events()
            if reply is not None:
                answered, code, body = reply
                if answered != number:
                    raise JdwpError('the JVM answered what was not asked')
                if code:
                    raise JdwpError(f'the JVM refused command {group}.{command}', code)
                return JdwpPacketReader(body)

    def _receive_reply_or_store_events(self) -> tuple[int, int, bytes] | None:
        """Return a reply's number, error and data; for events, store them and return None."""
        size, number, flags = struct.unpack('>iiB', self._receive_exactly(9))
        if not 11 <= size <= _LARGEST:
            raise JdwpError('the JVM sent a packet of an impossible size')
        rest = self._receive_exactly(size - 9)
        if flags & 0x80:
            return number, int.from_bytes(rest[:2], 'big'), rest[2:]
        if (rest[0], rest[1]) == _EVENTS:
            self._waiting.append(rest[2:])
        return None

    def _receive_exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise JdwpConnectionClosed('the JVM has gone')
            data += part
        return bytes(data)


def _parse_events(packet: JdwpPacketReader) -> Iterator[JdwpEvent]:
    packet.take_byte()
    for _ in range(packet.take_integer()):
        kind = packet.take_byte()
        packet.take_integer()
        yield _parse_event(kind, packet)
        if kind == JdwpEventKind.VM_DEATH:
            return


def _parse_event(kind: int, packet: JdwpPacketReader) -> JdwpEvent:
    if kind == JdwpEventKind.VM_DEATH:
        return JdwpEvent(kind=kind)
    thread = packet.take_identifier()
    if kind == JdwpEventKind.BREAKPOINT:
        return JdwpEvent(kind=kind, thread=thread, location=packet.take_location())
    if kind == JdwpEventKind.EXCEPTION:
        location = packet.take_location()
        packet.take_byte()
        instance = packet.take_identifier()
        catch = packet.take_location()
        return JdwpEvent(
            kind=kind, thread=thread, location=location, exception=instance, catch=catch
        )
    if kind == JdwpEventKind.CLASS_PREPARE:
        packet.take_byte()
        type_ = packet.take_identifier()
        packet.take_text()
        packet.take_integer()
        return JdwpEvent(kind=kind, thread=thread, type=type_)
    if kind == JdwpEventKind.VM_START:
        return JdwpEvent(kind=kind, thread=thread)
    raise JdwpError(f'the JVM sent an event of unknown kind {kind}')
