package main

import (
	"encoding/binary"
	"syscall"
)

const canObserve = true

var endian = binary.LittleEndian

// breakpoint is the instruction int3.
var breakpoint = []byte{0xcc}

// registers are those of a stopped thread. Since Go 1.17, functions get arguments and return results in registers.
type registers struct{ syscall.PtraceRegs }

func registersOf(thread int) (*registers, error) {
	var found registers
	return &found, syscall.PtraceGetRegs(thread, &found.PtraceRegs)
}

func (at *registers) write(thread int) error { return syscall.PtraceSetRegs(thread, &at.PtraceRegs) }

// trapped returns the address of the breakpoint that was executed last.
func (at *registers) trapped() uint64 { return at.PC() - uint64(len(breakpoint)) }

func (at *registers) goTo(place uint64) { at.SetPC(place) }

// first returns the first argument of a function, if the thread is at the function's first instruction.
func (at *registers) first() uint64 { return at.Rax }

// stack returns the address at which the return address is stored, if the thread is at a function's first instruction.
func (at *registers) stack() uint64 { return at.Rsp }

// goroutine returns the address of the goroutine that runs, if the thread is at a function's first instruction.
func (at *registers) goroutine() uint64 { return at.R14 }

// isTrue returns whether a function returned true, if the thread has just returned from it.
func (at *registers) isTrue() bool { return at.Rax&0xff != 0 }
