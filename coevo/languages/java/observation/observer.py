"""Observe from outside the JVM whether test methods are entered and how they are left.

Breakpoints are set at a method's first instruction and at its returns, so everything else runs at
full speed. While the method runs, its thread also stops at exceptions; an exception that is not
caught below the method is the one that left it. Lines of other classes can be watched too, each
until it is reached. Every event is checked against the stopped thread's stack, with replies that
only the JVM's own debugger agent can give.
"""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.languages.java.observation.jdwp import (
    CodeLocation,
    JdwpClient,
    JdwpConnectionClosed,
    JdwpError,
    JdwpEvent,
    JdwpEventKind,
    JdwpMethod,
)

_NO_CODE = 0x400 | 0x100 | 0x1000 | 0x40  # abstract, native, synthetic, bridge
_WITHOUT_LINES = 0x400 | 0x100  # synthetic methods are kept: lambdas have lines
_NOT_PREPARED = 22
_NATIVE = (1 << 64) - 1  # index of native frames; events report 0 instead
# Stops are slow: after this many exceptions inside one invocation, the thread no longer stops at
# exceptions.
_EXCEPTIONS = 2000

_WORKER = ('coevo.worker.Run', 'execute', ())


_Place = tuple[int, int, int]  # type, method, index of byte code


@dataclass(frozen=True, slots=True)
class WatchedMethod:
    """A target's method: binary class names, name, and erased simple parameter types."""

    classes: tuple[str, ...]
    method: str
    parameters: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Invocation:
    """One invocation of a watched method.

    thrown  the class of the exception that left it and its superclasses; empty if none did
    left    whether it was left, by a return or by an exception
    """

    thrown: tuple[str, ...] = ()
    left: bool = False


@dataclass(frozen=True, slots=True)
class _OpenInvocation:
    invocation: Invocation
    depth: int


@dataclass(slots=True)
class Observation:
    """The observations so far; `invocations` has one list for each target, in order.

    ended    number of runs that the worker was seen to end
    reached  watched lines that were executed, by their top-level type
    trouble  the reason why the JVM could not be observed; None if it could
    """

    invocations: list[list[Invocation]]
    ended: int = 0
    reached: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    trouble: str | None = None


@dataclass(slots=True)
class _ThreadState:
    open: list[_OpenInvocation] = field(default_factory=list)
    request: int | None = None
    exceptions: int = 0


class Observer:
    """Follows one JVM to its end and stores in `seen` what it saw; for use by one thread."""

    def __init__(
        self, targets: Sequence[WatchedMethod], lines: Mapping[str, Collection[int]] | None = None
    ) -> None:
        """Create an observer.

        `lines` are the source lines to watch, by the binary name of their top-level type.
        """
        self._targets = targets
        self._wanted_lines = lines or {}
        self._lines: dict[_Place, tuple[str, int]] = {}
        self._lined: set[int] = set()
        self._threads: dict[int, _ThreadState] = defaultdict(_ThreadState)
        self._entries: dict[tuple[int, int], tuple[int, ...]] = {}
        self._exits: set[_Place] = set()
        self._worker: set[tuple[int, int]] = set()
        self._asked: set[str] = set()
        self.seen = Observation([[] for _ in targets])

    def observe_until_jvm_ends(self, connection: socket.socket) -> None:
        """Handle events until the JVM ends; a failure to observe is stored in `seen.trouble`."""
        try:
            debugger = JdwpClient(connection)
            self._debugger = debugger
            for group in debugger.receive_events():
                for event in group:
                    self._handle_event(event)
                if all(event.kind != JdwpEventKind.VM_DEATH for event in group):
                    starts = any(event.kind == JdwpEventKind.VM_START for event in group)
                    debugger.resume_thread(0 if starts else group[0].thread)
        except (JdwpConnectionClosed, ConnectionError):
            return  # the JVM ended normally: what was not seen by now did not happen
        except JdwpError as error:
            self.seen.trouble = str(error)

    def _handle_event(self, event: JdwpEvent) -> None:
        match event.kind:
            case JdwpEventKind.VM_START:
                for name in (_WORKER[0], *(c for t in self._targets for c in t.classes)):
                    self._request_load_stop_once(name)
                for name in self._wanted_lines:
                    self._debugger.stop_on_class_load(name)
                    self._debugger.stop_on_class_load(f'{name}$*')
            case JdwpEventKind.CLASS_PREPARE:
                self._set_breakpoints_in_class(event.type)
            case JdwpEventKind.BREAKPOINT if event.location is not None:
                self._handle_breakpoint(event.thread, event.location)
            case JdwpEventKind.EXCEPTION:
                self._handle_exception(event)

    def _request_load_stop_once(self, name: str) -> None:
        if name not in self._asked:
            self._asked.add(name)
            self._debugger.stop_on_class_load(name)

    # -- breakpoints
    # ---------------------------------------------------------------------------------

    def _set_breakpoints_in_class(self, type_: int) -> None:
        name = self._debugger.fetch_class_name(type_)
        self._watch_lines(type_, name)
        if name not in self._asked:
            return  # loaded only because its lines are watched
        if name == _WORKER[0]:
            for method in self._debugger.list_methods(type_):
                if method.name == _WORKER[1] and method.signature == '()V':
                    self._worker.add((type_, method.id))
                    self._stop_at_returns(type_, method)
            return
        for owner in self._iterate_type_hierarchy(type_):
            for method in self._list_methods_if_prepared(owner):
                wanted = self._find_target_indexes(method)
                if wanted and (owner, method.id) not in self._entries:
                    self._entries[owner, method.id] = wanted
                    self._debugger.stop_at_location(CodeLocation(1, owner, method.id, 0))
                    self._stop_at_returns(owner, method)

    def _stop_at_returns(self, type_: int, method: JdwpMethod) -> None:
        for index in find_return_indexes(self._debugger.fetch_byte_code(type_, method.id)):
            if index:
                self._exits.add((type_, method.id, index))
                self._debugger.stop_at_location(CodeLocation(1, type_, method.id, index))

    def _watch_lines(self, type_: int, name: str) -> None:
        """Ask the JVM to stop once at each place of a class where a watched line begins.

        Does nothing if the class is not in a watched top-level type or was prepared before.
        """
        top = next(
            (
                candidate
                for candidate in self._wanted_lines
                if f'{name}$'.startswith(f'{candidate}$')
            ),
            None,
        )
        if top is None or type_ in self._lined:
            return
        self._lined.add(type_)
        wanted = self._wanted_lines[top]
        for method in self._debugger.list_methods(type_):
            if method.modifiers & _WITHOUT_LINES:
                continue
            for index, line in self._debugger.list_line_starts(type_, method.id):
                if line in wanted and (type_, method.id, index) not in self._lines:
                    self._lines[type_, method.id, index] = top, line
                    self._debugger.stop_at_location(
                        CodeLocation(1, type_, method.id, index), once=True
                    )

    def _find_target_indexes(self, method: JdwpMethod) -> tuple[int, ...]:
        if method.modifiers & _NO_CODE:
            return ()
        types = parse_parameter_descriptors(method.signature)
        return tuple(
            index
            for index, target in enumerate(self._targets)
            if target.method == method.name and len(target.parameters) == len(types)
        )

    def _list_methods_if_prepared(self, type_: int) -> list[JdwpMethod]:
        try:
            return self._debugger.list_methods(type_)
        except JdwpError as error:
            if error.code != _NOT_PREPARED:
                raise
            self._request_load_stop_once(self._debugger.fetch_class_name(type_))
            return []

    def _iterate_type_hierarchy(self, type_: int) -> Iterator[int]:
        """Yield a class, its superclasses, and the interfaces of all of them."""
        todo, seen = [type_], set()
        while todo:
            at = todo.pop()
            if not at or at in seen:
                continue
            seen.add(at)
            yield at
            todo += self._debugger.list_interfaces(at)
            try:
                todo.append(self._debugger.find_superclass(at))
            except JdwpError as error:  # interfaces have no superclass
                if not error.code:
                    raise

    # -- events
    # --------------------------------------------------------------------------------------

    def _handle_breakpoint(self, thread: int, location: CodeLocation) -> None:
        frames = self._fetch_and_check_stack(thread, location)
        key = (location.type, location.method)
        position = (*key, location.index)
        if position in self._lines:
            top, line = self._lines[position]
            self.seen.reached[top].add(line)
        if key in self._worker:
            self.seen.ended += 1
            return
        state, depth = self._threads[thread], len(frames)
        inside = bool(state.open) and state.open[-1].depth == depth
        if location.index == 0 and key in self._entries:
            if not inside:  # otherwise a loop jumped back to the first instruction
                self._record_method_entry(thread, depth, self._entries[key])
            if self._returns_at_once(location):
                self._record_method_exit(thread, depth)
        elif position in self._exits:
            self._record_method_exit(thread, depth)

    def _returns_at_once(self, location: CodeLocation) -> bool:
        code = self._debugger.fetch_byte_code(location.type, location.method)
        return next(find_return_indexes(code[:1]), None) == 0

    def _record_method_entry(self, thread: int, depth: int, places: Sequence[int]) -> None:
        invocation = Invocation()
        for target_index in places:
            self.seen.invocations[target_index].append(invocation)
        state = self._threads[thread]
        state.open.append(_OpenInvocation(invocation, depth))
        if state.request is None:
            state.request, state.exceptions = self._debugger.stop_on_exceptions(thread), 0

    def _record_method_exit(self, thread: int, depth: int, thrown: tuple[str, ...] = ()) -> None:
        state = self._threads[thread]
        while state.open and state.open[-1].depth >= depth:
            open_invocation = state.open.pop()
            if open_invocation.depth == depth or thrown:
                open_invocation.invocation.left, open_invocation.invocation.thrown = True, thrown
        if not state.open:
            self._cancel_exception_stops(state)

    def _cancel_exception_stops(self, state: _ThreadState) -> None:
        if state.request is not None:
            self._debugger.cancel_exception_request(state.request)
            state.request = None

    def _handle_exception(self, event: JdwpEvent) -> None:
        state = self._threads[event.thread]
        state.exceptions += 1
        if state.exceptions > _EXCEPTIONS:
            self._cancel_exception_stops(state)
            return
        frames = self._fetch_and_check_stack(event.thread, event.location)
        caught_at = len(frames) - self._count_unwound_frames(frames, event.catch)
        left = [
            open_invocation for open_invocation in state.open if open_invocation.depth > caught_at
        ]
        if left:
            thrown = tuple(
                self._list_class_and_superclass_names(self._debugger.find_class_of(event.exception))
            )
            self._record_method_exit(event.thread, left[0].depth, thrown)

    def _fetch_and_check_stack(
        self, thread: int, location: CodeLocation | None
    ) -> list[CodeLocation]:
        """Return a thread's frames, innermost first.

        Raises: JdwpError if the innermost frame is not at the event's location, if the event names
        none, or if the thread has no frame.
        """
        frames = self._debugger.list_frames(thread)
        for top in frames[:1]:
            known = replace(top, index=0) if top.index == _NATIVE else top
            if location is not None and replace(location, tag=top.tag) == known:
                return frames
        raise JdwpError('an event tells what its thread does not do')

    @staticmethod
    def _count_unwound_frames(frames: Sequence[CodeLocation], catch: CodeLocation | None) -> int:
        """Return the number of frames that an exception unwinds; all if it is not caught."""
        if catch is None or not catch.type:
            return len(frames)
        for index, frame in enumerate(frames):
            if (frame.type, frame.method) == (catch.type, catch.method):
                return index
        return len(frames)

    def _list_class_and_superclass_names(self, type_: int) -> Iterator[str]:
        while type_:
            yield self._debugger.fetch_class_name(type_)
            type_ = self._debugger.find_superclass(type_)


def parse_parameter_descriptors(signature: str) -> list[str]:
    """Return the parameters of a method's descriptor, such as I, [J and Ljava/lang/String;."""
    types, at = [], 1
    while signature[at] != ')':
        start = at
        while signature[at] == '[':
            at += 1
        at = signature.index(';', at) + 1 if signature[at] == 'L' else at + 1
        types.append(signature[start:at])
    return types


def explain_unconfirmed_pass(
    invocations: Sequence[Invocation], expects: Sequence[str], *, ended: bool
) -> str | None:
    """Return why a pass that the worker reports is not credible; None if it is credible.

    The reasons are `not_entered`, `not_left`, `thrown` (an exception that was not expected left the
    method) and `not_ended`.

    expects  class names, simple or full, of throwables that the test expects to be left by
    ended    whether the worker was seen to end the run of the target
    """
    if not invocations:
        return 'not_entered'
    if not all(invocation.left for invocation in invocations):
        return 'not_left'
    thrown = [invocation.thrown for invocation in invocations if invocation.thrown]
    names = [{*types, *(name.rpartition('.')[2] for name in types)} for types in thrown]
    if not all(known & set(expects) for known in names):
        return 'thrown'
    return None if ended else 'not_ended'


# Find the returns in a method's byte code; instruction set of the JVM specification, chapter 6.

_RETURNS = range(0xAC, 0xB2)
_TABLE_SWITCH, _LOOKUP_SWITCH, _WIDE, _IINC = 0xAA, 0xAB, 0xC4, 0x84

# Length in bytes of an instruction with its operands, if it is not 1.
_LENGTHS = {
    **dict.fromkeys((0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC), 2),
    **dict.fromkeys((0x11, 0x13, 0x14, _IINC, *range(0x99, 0xA9), *range(0xB2, 0xB9)), 3),
    **dict.fromkeys((0xBB, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7), 3),
    0xC5: 4,
    **dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 5),
}


def find_return_indexes(code: bytes) -> Iterator[int]:
    """Yield the indexes of the return instructions."""
    at = 0
    while at < len(code):
        if code[at] in _RETURNS:
            yield at
        at += _measure_instruction(code, at)


def _measure_instruction(code: bytes, at: int) -> int:
    operation = code[at]
    if operation == _WIDE:
        return 6 if code[at + 1] == _IINC else 4
    if operation not in (_TABLE_SWITCH, _LOOKUP_SWITCH):
        return _LENGTHS.get(operation, 1)
    operands = at + 4 - at % 4

    def get_operand(place: int) -> int:
        """Return the 32-bit operand number `place` of a switch, counted from 0."""
        start = operands + 4 * place
        return int.from_bytes(code[start : start + 4], 'big', signed=True)

    words = (
        3 + get_operand(2) - get_operand(1) + 1
        if operation == _TABLE_SWITCH
        else 2 + 2 * get_operand(1)
    )
    return operands + 4 * words - at
