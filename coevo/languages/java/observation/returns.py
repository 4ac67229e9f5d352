"""Where a method's byte code returns, after the instruction set of the JVM specification, ch. 6."""

from __future__ import annotations

from collections.abc import Iterator

_RETURNS = range(0xAC, 0xB2)
_TABLE_SWITCH, _LOOKUP_SWITCH, _WIDE, _IINC = 0xAA, 0xAB, 0xC4, 0x84

# Bytes of an instruction with its operands, where that is not 1.
_LENGTHS = {
    **dict.fromkeys((0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC), 2),
    **dict.fromkeys((0x11, 0x13, 0x14, _IINC, *range(0x99, 0xA9), *range(0xB2, 0xB9)), 3),
    **dict.fromkeys((0xBB, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7), 3),
    0xC5: 4,
    **dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 5),
}


def find_return_indexes(code: bytes) -> Iterator[int]:
    """Indexes of the return instructions."""
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
        start = operands + 4 * place
        return int.from_bytes(code[start : start + 4], 'big', signed=True)

    words = (
        3 + get_operand(2) - get_operand(1) + 1
        if operation == _TABLE_SWITCH
        else 2 + 2 * get_operand(1)
    )
    return operands + 4 * words - at
