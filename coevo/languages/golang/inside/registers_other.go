//go:build !amd64

package main

import (
	"encoding/binary"
	"errors"
)

const canObserve = false

var endian = binary.LittleEndian

var breakpoint = []byte{0}

// registers has nothing: the registers of other processors are not known, so tests are not observed there.
type registers struct{}

var errUnknown = errors.New("registers of this processor are not known")

func registersOf(int) (*registers, error) { return nil, errUnknown }
func (at *registers) write(int) error     { return errUnknown }
func (at *registers) trapped() uint64     { return 0 }
func (at *registers) goTo(uint64)         {}
func (at *registers) first() uint64       { return 0 }
func (at *registers) stack() uint64       { return 0 }
func (at *registers) goroutine() uint64   { return 0 }
func (at *registers) isTrue() bool        { return false }
