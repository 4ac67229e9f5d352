"""A client of the JVM's debugger protocol (JDWP 1.8), as far as an observer needs it.

Numbers and layouts are those of the specification, "Java Debug Wire Protocol"; identifiers are
read and written as the 8 bytes that every HotSpot says they have.
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
    """The connection ended, or what came is no JDWP; `code` is the JVM's own error number."""

    def __init__(self, sentence: str, code: int = 0) -> None:
        super().__init__(sentence)
        self.code = code


class Closed(JdwpError):
    """The JVM has gone, as in the end it does."""


class TypeKind(IntEnum):
    """Of events."""

    BREAKPOINT = 2
    EXCEPTION = 4
    CLASS_PREPARE = 8
    VM_START = 90
    VM_DEATH = 99


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """A place in a method, by the index of its byte code."""

    tag: int
    type: int
    method: int
    index: int

    @property
    def encoded(self) -> bytes:
        return struct.pack('>BQQQ', self.tag, self.type, self.method, self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class JdwpEvent:
    """What the JVM says; fields that a kind does not have are 0 or None."""

    kind: int
    thread: int = 0
    location: CodeLocation | None = None
    type: int = 0
    exception: int = 0
    catch: CodeLocation | None = None


@dataclass(frozen=True, slots=True)
class JdwpMethod:
    id: int
    name: str
    signature: str
    modifiers: int


class Reader:
    """The fields of a packet in order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) != size:
            raise JdwpError('the JVM sent a packet that is too short')
        self._at += size
        return part

    def byte(self) -> int:
        return self.take(1)[0]

    def integer(self) -> int:
        return int.from_bytes(self.take(4), 'big', signed=True)

    def identifier(self) -> int:
        return int.from_bytes(self.take(8), 'big')

    def text(self) -> str:
        return self.take(self.integer()).decode(errors='replace')

    def location(self) -> CodeLocation:
        return CodeLocation(self.byte(), self.identifier(), self.identifier(), self.identifier())


class Debugger:
    """One connection; for one thread."""

    def __init__(self, connection: socket.socket) -> None:
        """Shake hands with a JVM that has connected."""
        self._socket = connection
        self._waiting: deque[bytes] = deque()
        connection.sendall(_HANDSHAKE)
        if self._read(len(_HANDSHAKE)) != _HANDSHAKE:
            raise JdwpError('what connected speaks no JDWP')
        sizes = self._ask(1, 7)
        if any(sizes.integer() != 8 for _ in range(5)):
            raise JdwpError('the JVM has identifiers of an unknown size')

    def events(self) -> Iterator[list[JdwpEvent]]:
        """Groups of events, without end; each has suspended its thread."""
        while True:
            while not self._waiting:
                self._receive()
            yield list(_events(Reader(self._waiting.popleft())))

    # -- what is asked ---------------------------------------------------------------------------

    def resume(self, thread: int) -> None:
        """Let a thread go on; 0 means all."""
        if thread:
            self._ask(11, 3, struct.pack('>Q', thread))
        else:
            self._ask(1, 9)

    def on_prepare(self, name: str) -> None:
        """Stop whoever loads a class of this binary name, of which `*` may be the end."""
        text = name.encode()
        self._request(TypeKind.CLASS_PREPARE, struct.pack('>Bi', 5, len(text)) + text)

    def on_reaching(self, location: CodeLocation, *, once: bool = False) -> None:
        # In this order, since each modifier is asked only where those before it hold.
        count = (struct.pack('>Bi', 1, 1),) if once else ()
        self._request(TypeKind.BREAKPOINT, b'\7' + location.encoded, *count)

    def on_exceptions(self, thread: int) -> int:
        """Stop a thread at every exception, caught or not; what to give `forget`."""
        return self._request(
            TypeKind.EXCEPTION, struct.pack('>BQBB', 8, 0, 1, 1), struct.pack('>BQ', 3, thread)
        )

    def forget_exceptions(self, request: int) -> None:
        self._ask(15, 2, struct.pack('>Bi', TypeKind.EXCEPTION, request))

    def frames(self, thread: int) -> list[CodeLocation]:
        """A stopped thread's stack, innermost first."""
        reply = self._ask(11, 6, struct.pack('>Qii', thread, 0, -1))
        found = []
        for _ in range(reply.integer()):
            reply.identifier()
            found.append(reply.location())
        return found

    def methods(self, type_: int) -> list[JdwpMethod]:
        reply = self._ask(2, 5, struct.pack('>Q', type_))
        return [
            JdwpMethod(reply.identifier(), reply.text(), reply.text(), reply.integer())
            for _ in range(reply.integer())
        ]

    def byte_code(self, type_: int, method: int) -> bytes:
        reply = self._ask(6, 3, struct.pack('>QQ', type_, method))
        return reply.take(reply.integer())

    def lines(self, type_: int, method: int) -> list[tuple[int, int]]:
        """Indexes of byte code and the lines that begin there; none where the class has no such."""
        try:
            reply = self._ask(6, 1, struct.pack('>QQ', type_, method))
        except JdwpError as error:
            if error.code not in (_ABSENT_INFORMATION, _NATIVE_METHOD):
                raise
            return []
        reply.take(16)
        return [(reply.identifier(), reply.integer()) for _ in range(reply.integer())]

    def name(self, type_: int) -> str:
        """Binary name of a class."""
        return self._ask(2, 1, struct.pack('>Q', type_)).text()[1:-1].replace('/', '.')

    def superclass(self, type_: int) -> int:
        return self._ask(3, 1, struct.pack('>Q', type_)).identifier()

    def interfaces(self, type_: int) -> list[int]:
        reply = self._ask(2, 10, struct.pack('>Q', type_))
        return [reply.identifier() for _ in range(reply.integer())]

    def class_of(self, instance: int) -> int:
        reply = self._ask(9, 1, struct.pack('>Q', instance))
        reply.byte()
        return reply.identifier()

    # -- packets ---------------------------------------------------------------------------------

    def _request(self, kind: TypeKind, *modifiers: bytes) -> int:
        head = struct.pack('>BBi', kind, 1, len(modifiers))
        return self._ask(15, 1, head + b''.join(modifiers)).integer()

    def _ask(self, group: int, command: int, data: bytes = b'') -> Reader:
        """The reply; its number cannot be guessed, so that nobody else can write it for the JVM."""
        number = secrets.randbits(31)
        self._socket.sendall(
            struct.pack('>iiBBB', 11 + len(data), number, 0, group, command) + data
        )
        while True:
            reply = self._receive()
            if reply is not None:
                answered, code, body = reply
                if answered != number:
                    raise JdwpError('the JVM answered what was not asked')
                if code:
                    raise JdwpError(f'the JVM refused command {group}.{command}', code)
                return Reader(body)

    def _receive(self) -> tuple[int, int, bytes] | None:
        """A reply's number, error and data; None for events, which are kept."""
        size, number, flags = struct.unpack('>iiB', self._read(9))
        if not 11 <= size <= _LARGEST:
            raise JdwpError('the JVM sent a packet of an impossible size')
        rest = self._read(size - 9)
        if flags & 0x80:
            return number, int.from_bytes(rest[:2], 'big'), rest[2:]
        if (rest[0], rest[1]) == _EVENTS:
            self._waiting.append(rest[2:])
        return None

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise Closed('the JVM has gone')
            data += part
        return bytes(data)


def _events(packet: Reader) -> Iterator[JdwpEvent]:
    packet.byte()
    for _ in range(packet.integer()):
        kind = packet.byte()
        packet.integer()
        yield _event(kind, packet)
        if kind == TypeKind.VM_DEATH:
            return


def _event(kind: int, packet: Reader) -> JdwpEvent:
    if kind == TypeKind.VM_DEATH:
        return JdwpEvent(kind=kind)
    thread = packet.identifier()
    if kind == TypeKind.BREAKPOINT:
        return JdwpEvent(kind=kind, thread=thread, location=packet.location())
    if kind == TypeKind.EXCEPTION:
        location = packet.location()
        packet.byte()
        instance = packet.identifier()
        catch = packet.location()
        return JdwpEvent(
            kind=kind, thread=thread, location=location, exception=instance, catch=catch
        )
    if kind == TypeKind.CLASS_PREPARE:
        packet.byte()
        type_ = packet.identifier()
        packet.text()
        packet.integer()
        return JdwpEvent(kind=kind, thread=thread, type=type_)
    if kind == TypeKind.VM_START:
        return JdwpEvent(kind=kind, thread=thread)
    raise JdwpError(f'the JVM sent an event of unknown kind {kind}')
