package main

import (
	"encoding/binary"
	"syscall"
)

const canObserve = true

var endian = binary.LittleEndian

// breakpoint is int3.
var breakpoint = []byte{0xcc}

// registers are those of a thread that stands. Since Go 1.17 arguments and results are handed over in them.
type registers struct{ syscall.PtraceRegs }

func registersOf(thread int) (*registers, error) {
	var found registers
	return &found, syscall.PtraceGetRegs(thread, &found.PtraceRegs)
}

func (at *registers) write(thread int) error { return syscall.PtraceSetRegs(thread, &at.PtraceRegs) }

// trapped is where the breakpoint lies that was executed last.
func (at *registers) trapped() uint64 { return at.PC() - uint64(len(breakpoint)) }

func (at *registers) goTo(place uint64) { at.SetPC(place) }

// first is the first argument, at a function's first instruction.
func (at *registers) first() uint64 { return at.Rax }

// stack is where the place to return to lies, at a function's first instruction.
func (at *registers) stack() uint64 { return at.Rsp }

// isTrue is whether a function has returned true, where it has just returned.
func (at *registers) isTrue() bool { return at.Rax&0xff != 0 }
