package main

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"net/url"
	"path/filepath"
)

// image is the code in the file of a binary, with the addresses of its functions and lines.
type image struct {
	start  uint64
	text   []byte
	places map[string]uint64
	table  *gosym.Table
}

func readImage(path string) (*image, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, lines := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || lines == nil || file.Type != elf.ET_EXEC {
		return nil, errors.New("no program of Go at a fixed place")
	}
	code, err := text.Data()
	if err != nil {
		return nil, err
	}
	table, err := lines.Data()
	if err != nil {
		return nil, err
	}
	known, err := gosym.NewTable(nil, gosym.NewLineTable(table, text.Addr))
	if err != nil {
		return nil, err
	}
	made := &image{start: text.Addr, text: code, places: map[string]uint64{}, table: known}
	for _, one := range known.Funcs {
		// The linker escapes the dots in the last element of an import path.
		if name, err := url.PathUnescape(one.Name); err == nil {
			made.places[name] = one.Entry
		}
	}
	return made, nil
}

// functions returns the addresses of the functions with a name that a package, or its external tests, declare in files
// of this base name: none, one, or one of each.
func (made *image) functions(path, file, name string) []uint64 {
	var found []uint64
	for _, full := range []string{path + "." + name, path + "_test." + name} {
		place := made.places[full]
		if at, _, _ := made.table.PCToLine(place); place != 0 && filepath.Base(at) == file {
			found = append(found, place)
		}
	}
	return found
}

// lines calls `tell` with each address at which the code of a wanted line begins. Packages must be compiled without
// inlining, so that no line is part of a function of another file.
func (made *image) lines(wanted map[string]map[int]bool, tell func(file string, line int, place uint64)) {
	for _, function := range made.table.Funcs {
		file, _, _ := made.table.PCToLine(function.Entry)
		lines := wanted[file]
		if lines == nil {
			continue
		}
		before := 0
		for place := function.Entry; place < function.End; place++ {
			_, line, _ := made.table.PCToLine(place)
			if line != before && lines[line] {
				tell(file, line, place)
			}
			before = line
		}
	}
}

// code returns the bytes at an address that a breakpoint would replace.
func (made *image) code(place uint64) []byte {
	offset := place - made.start
	return made.text[offset : offset+uint64(len(breakpoint))]
}
